package io.sessionkit.samples.kotlin

import io.sessionkit.TurnResult
import io.sessionkit.advisor.SessionAdvisor
import io.sessionkit.approval.ToolApproval
import io.sessionkit.conversation.Approvals
import io.sessionkit.conversation.Conversations
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.reactive.asFlow
import kotlinx.coroutines.withContext
import org.springframework.ai.chat.client.ChatClient
import org.springframework.core.PropagationContextElement
import org.springframework.stereotype.Service
import kotlin.jvm.optionals.getOrNull

/** Asks a model on sessions, from coroutines. */
@Service
class Answers(builder: ChatClient.Builder, tools: RefundTools, private val conversations: Conversations,
		private val approvals: Approvals) {

	private val chat: ChatClient = builder.defaultTools(tools).build()

	// tag::ask
	fun ask(thread: String, text: String): String? =
		chat.prompt().user(text).advisors(SessionAdvisor.session(thread)).call().content()
	// end::ask

	// tag::suspended
	suspend fun askSuspended(thread: String, text: String): String? =
		withContext(Dispatchers.IO + PropagationContextElement()) { ask(thread, text) }
	// end::suspended

	// tag::flow
	fun flow(thread: String, text: String): Flow<String> =
		chat.prompt().user(text).advisors(SessionAdvisor.session(thread)).stream().content().asFlow()
	// end::flow

	// tag::turn
	fun turn(thread: String, text: String): TurnResult? {
		val response = chat.prompt().user(text).advisors(SessionAdvisor.session(thread)).call().chatResponse()
		return SessionAdvisor.turn(response).getOrNull()
	}
	// end::turn

	// tag::approve
	fun approve(call: ToolApproval, thread: String): String? {
		approvals.approve(call, "eve")
		return chat.prompt().advisors(SessionAdvisor.session(thread)).call().content()
	}
	// end::approve

	/** Asks on the threads of a pool, without the user. */
	suspend fun askWithoutUser(thread: String, text: String): String? =
		withContext(Dispatchers.IO) { ask(thread, text) }

	// tag::settings
	fun shorten(thread: String) =
		conversations.get(thread).settings { it.trim { trim -> trim.maxTurns(20) } }
	// end::settings

}
