package io.sessionkit.samples.kotlin

import io.sessionkit.access.CallerRequiredException
import io.sessionkit.hook.HookResult
import io.sessionkit.hook.SessionHook
import io.sessionkit.hook.SessionRefusedException
import io.sessionkit.hook.SummaryContext
import io.sessionkit.TurnStatus
import io.sessionkit.conversation.Approvals
import io.sessionkit.conversation.Conversations
import io.sessionkit.SessionKey
import io.sessionkit.test.ScriptedChatModel
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall
import org.springframework.ai.chat.messages.Message
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.context.annotation.Bean
import org.springframework.core.PropagationContextElement
import org.springframework.security.authentication.TestingAuthenticationToken
import org.springframework.security.core.context.SecurityContextHolder
import java.util.UUID

/** The code of `docs/kotlin.md` does what the page says. */
@SpringBootTest(properties = ["sessionkit.store.type=memory"])
class AnswersTests @Autowired constructor(
	private val answers: Answers,
	private val approvals: Approvals,
	private val conversations: Conversations,
	private val model: ScriptedChatModel,
) {

	private val thread = UUID.randomUUID().toString()

	@SpringBootApplication
	class Application {

		@Bean
		fun model() = ScriptedChatModel()

	}

	@BeforeEach
	fun signIn() {
		SecurityContextHolder.getContext().authentication = TestingAuthenticationToken("ada", null, "ROLE_USER")
	}

	@AfterEach
	fun signOut() = SecurityContextHolder.clearContext()

	@Test
	fun sessionIsThatOfTheUser() {
		model.says("Hello Ada.")
		assertThat(answers.ask(thread, "I am Ada")).isEqualTo("Hello Ada.")
		assertThat(conversations.get(SessionKey.of("ada", thread)).messages()).hasSize(2)
	}

	@Test
	fun coroutineTakesTheUserAlong() {
		model.says("Hello.")
		assertThat(runBlocking { answers.askSuspended(thread, "Hi") }).isEqualTo("Hello.")
		assertThat(conversations.get(SessionKey.of("ada", thread)).messages()).hasSize(2)
	}

	@Test
	fun coroutineOnOtherThreadsWithoutTheUserReachesNothing() {
		assertThatExceptionOfType(CallerRequiredException::class.java)
			.isThrownBy { runBlocking { answers.askWithoutUser(thread, "Hi") } }
	}

	@Test
	fun streamIsAFlow() {
		model.says("Hello.")
		assertThat(runBlocking { answers.flow(thread, "Hi").toList() }.joinToString("")).isEqualTo("Hello.")
		assertThat(conversations.get(thread).messages()).hasSize(2)
	}

	@Test
	fun flowBelongsToTheUserWhoCollectsIt() {
		assertThatExceptionOfType(CallerRequiredException::class.java)
			.isThrownBy {
				runBlocking {
					val flow = answers.flow(thread, "Hi")
					withContext(Dispatchers.IO) { flow.toList() }
				}
			}
		model.says("Hello.")
		runBlocking {
			val flow = answers.flow(thread, "Hi")
			withContext(Dispatchers.IO + PropagationContextElement()) { flow.toList() }
		}
		assertThat(conversations.get(SessionKey.of("ada", thread)).messages()).hasSize(2)
	}

	@Test
	fun turnIsNullWhereThereIsNone() {
		model.says("Hello.")
		assertThat(answers.turn(thread, "Hi")?.turn()?.status()).isEqualTo(TurnStatus.COMPLETED)
	}

	@Test
	fun conditionSeesTheParametersOfAFunction() {
		model.calls(ToolCall("c1", "function", "refund", """{"order":"7","amount":20}""")).says("Done.")
		assertThat(answers.ask(thread, "Refund 20")).isEqualTo("Done.")
		model.calls(ToolCall("c2", "function", "refund", """{"order":"7","amount":200}"""))
		assertThat(answers.ask(thread, "Refund 200")).isNull()
		model.says("Paid back.")
		assertThat(answers.approve(approvals.pending(SessionKey.of(thread)).single(), thread)).isEqualTo("Paid back.")
	}

	@Test
	fun hookRefuses() {
		assertThatExceptionOfType(SessionRefusedException::class.java).isThrownBy { answers.ask(thread, "x".repeat(4001)) }
	}

	/** All its methods are defaults of a Java interface, which Kotlin does not delegate. */
	@Test
	fun hookThatIsDelegatedIsNotAsked() {
		val guard = object : SessionHook {

			override fun beforeSummary(context: SummaryContext, messages: List<Message>): HookResult<List<Message>> =
				HookResult.refuse("no")

		}
		val ofTitle = SummaryContext.of(SessionKey.of(thread), SummaryContext.Kind.TITLE)
		class Logged(hook: SessionHook) : SessionHook by hook
		assertThat(guard.beforeSummary(ofTitle, listOf())).isInstanceOf(HookResult.Refuse::class.java)
		assertThat(Logged(guard).beforeSummary(ofTitle, listOf())).isInstanceOf(HookResult.Keep::class.java)
	}

	@Test
	fun sessionHasSettings() {
		model.says("Hello.")
		answers.ask(thread, "Hi")
		answers.shorten(thread)
		assertThat(conversations.get(thread).settings().trim().maxTurns()).isEqualTo(20)
	}

}
