package io.sessionkit.autoconfigure.advisor;

import java.util.concurrent.TimeUnit;

import io.sessionkit.Summary;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;
import org.springframework.ai.tokenizer.TokenCountEstimator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class SummaryRuleTests {

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ScriptedChatModel small = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.type=memory");

	@Test
	void theModelThatIsNamedSummarizesWhenATriggerSaysSo() {
		this.small.says("what was said");
		this.runner.withBean("large", ChatModel.class, () -> this.model)
			.withBean("small", ChatModel.class, () -> this.small)
			.withPropertyValues("sessionkit.summarize.trigger-messages=4", "sessionkit.summarize.keep-turns=1",
					"sessionkit.summarize.model=small", "sessionkit.summarize.mode=before")
			.run((context) -> {
				talk(context.getBean(SessionAdvisor.class), 3);
				assertThat(this.model.lastRequestLines()).contains("assistant: what was said").hasSize(5);
			});
	}

	@Test
	void byDefaultASummaryIsMadeInTheBackground() {
		this.runner.withBean(ChatModel.class, () -> this.model)
			.withPropertyValues("sessionkit.summarize.trigger-tokens=1", "sessionkit.summarize.keep-turns=0")
			.run((context) -> {
				this.model.says("a1").says("a2").says("the summary");
				ChatClient chat = ChatClient.builder(this.model)
					.defaultAdvisors(context.getBean(SessionAdvisor.class))
					.build();
				chat.prompt().user("u1").advisors(SessionAdvisor.session("t1")).call().content();
				chat.prompt().user("u2").advisors(SessionAdvisor.session("t1")).call().content();
				Awaitility.await()
					.atMost(10, TimeUnit.SECONDS)
					.untilAsserted(() -> assertThat(context.getBean(Conversations.class).get("t1").summary())
						.map(Summary::text)
						.contains("the summary"));
			});
	}

	@Test
	void nothingIsSummarizedWithoutATrigger() {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withPropertyValues("sessionkit.summarize.keep-turns=3")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aTriggerOfTheApplicationIsEnough() {
		this.small.says("because I say so");
		this.runner.withBean(ChatModel.class, () -> this.small)
			.withBean(SummaryTrigger.class, () -> (session) -> true)
			.withPropertyValues("sessionkit.summarize.mode=before", "sessionkit.summarize.keep-turns=1")
			.run((context) -> {
				talk(context.getBean(SessionAdvisor.class), 3);
				assertThat(this.model.lastRequestLines()).contains("assistant: because I say so");
			});
	}

	@Test
	void withoutTheModelTheApplicationDoesNotStartAndSaysWhatToDo() {
		ApplicationContextRunner triggered = this.runner.withPropertyValues("sessionkit.summarize.trigger-tokens=8000");
		assertThat(failure(triggered)).contains("no ChatModel bean", "sessionkit.summarize.enabled");
		ApplicationContextRunner two = triggered.withBean("large", ChatModel.class, () -> this.model)
			.withBean("small", ChatModel.class, () -> this.small);
		assertThat(failure(two)).contains("more than one ChatModel bean", "sessionkit.summarize.model", "large, small");
		assertThat(failure(two.withPropertyValues("sessionkit.summarize.model=tiny"))).contains("'tiny'",
				"large, small");
		two.withPropertyValues("sessionkit.summarize.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
		two.withBean("main", ChatModel.class, () -> this.model, (definition) -> definition.setPrimary(true))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "sessionkit.trim.max-tokens, 0", "sessionkit.prune.keep-tool-results, -1",
			"sessionkit.summarize.trigger-tokens, 0", "sessionkit.summarize.trigger-messages, -5",
			"sessionkit.summarize.keep-turns, -1", "sessionkit.summarize.max-input-tokens, 0",
			"sessionkit.summarize.timeout, 0s", "sessionkit.summarize.backoff, -1s" })
	void aValueThatCannotWorkIsRefusedAtStart(String property, String value) {
		assertThat(failure(this.runner.withPropertyValues(property + "=" + value))).contains("'" + property + "'");
	}

	@Test
	void aPromptWithoutAPlaceForTheMessagesIsRefusedAtStart() {
		assertThat(failure(this.runner.withPropertyValues("sessionkit.summarize.prompt=sum it up")))
			.contains("sessionkit.summarize.prompt", "{conversation}")
			.doesNotContain("sum it up");
	}

	@Test
	void turnsThatWouldBeNeitherSentNorSummarizedAreRefusedAtStart() {
		assertThat(failure(this.runner.withBean(ChatModel.class, () -> this.model)
			.withPropertyValues("sessionkit.trim.max-turns=4", "sessionkit.summarize.keep-turns=6",
					"sessionkit.summarize.trigger-tokens=8000")))
			.contains("'sessionkit.trim.max-turns' is 4", "'sessionkit.summarize.keep-turns' to 3 or less", "9 turns",
					"'sessionkit.trim.max-turns' to 8 or more");
	}

	@Test
	void turnsThatWouldBeDeletedWithoutASummaryAreRefusedAtStart() {
		ApplicationContextRunner kept = this.runner.withBean(ChatModel.class, () -> this.model)
			.withPropertyValues("sessionkit.summarize.keep-turns=10", "sessionkit.retention.max-turns=5");
		assertThat(failure(kept.withPropertyValues("sessionkit.summarize.trigger-tokens=8000"))).contains(
				"'sessionkit.retention.max-turns' is 5", "'sessionkit.summarize.keep-turns' to 4 or less",
				"'sessionkit.retention.max-turns' to 14 or more");
		kept.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "0, 0", "1, 1", "2, 2", "4, 3", "6, 4", "40, 27" })
	void asManyTurnsStayAsALimitOfTurnsHasRoomFor(int maxTurns, int keepTurns) {
		ApplicationContextRunner limited = this.runner.withBean(ChatModel.class, () -> this.model)
			.withPropertyValues("sessionkit.trim.max-turns=" + maxTurns, "sessionkit.summarize.mode=before",
					"sessionkit.summarize.trigger-tokens=8000");
		assertThat(failure(limited.withPropertyValues("sessionkit.summarize.keep-turns=" + (keepTurns + 1))))
			.contains("'sessionkit.summarize.keep-turns' to " + keepTurns + " or less");
		this.small.says("s1").says("s2").says("s3").says("s4").says("s5").says("s6").says("s7").says("s8");
		limited.withPropertyValues("sessionkit.summarize.keep-turns=" + keepTurns, "sessionkit.summarize.model=small")
			.withBean("small", ChatModel.class, () -> this.small)
			.run((context) -> {
				talk(context.getBean(SessionAdvisor.class), 8);
				assertThat(this.model.prompts()).hasSize(8)
					.allSatisfy((prompt) -> assertThat(Lines.of(prompt.getInstructions()).get(0))
						.doesNotMatch("user: u[2-8]"));
				if (maxTurns > 0 && maxTurns < 8) {
					assertThat(context.getBean(Conversations.class).get("t1").summaries()).isNotEmpty();
				}
			});
	}

	@Test
	void tokensAreCountedByTheEstimatorOfTheApplication() {
		this.runner.withBean(TokenCountEstimator.class, () -> new JTokkitTokenCountEstimator() {

			@Override
			public int estimate(String text) {
				return 100;
			}

		}).run((context) -> {
			talk(context.getBean(SessionAdvisor.class), 1);
			assertThat(context.getBean(Conversations.class).get("t1").session().orElseThrow().totals().tokens())
				.isGreaterThanOrEqualTo(200);
		});
	}

	@ParameterizedTest
	@CsvSource({ "trim.max-messages=6, summarize.trigger-messages=200",
			"trim.max-tokens=32, summarize.trigger-tokens=8000", "trim.max-messages=6, summarize.trigger-tokens=8000" })
	void aLimitThatIsReachedBeforeTheTriggerLosesNothing(String limit, String trigger) {
		this.small.says("s1").says("s2").says("s3").says("s4").says("s5").says("s6").says("s7").says("s8");
		this.runner.withBean("large", ChatModel.class, () -> this.model)
			.withBean("small", ChatModel.class, () -> this.small)
			.withPropertyValues("sessionkit." + limit, "sessionkit." + trigger, "sessionkit.summarize.model=small",
					"sessionkit.summarize.mode=before", "sessionkit.summarize.keep-turns=1")
			.run((context) -> {
				talk(context.getBean(SessionAdvisor.class), 8);
				assertThat(context.getBean(Conversations.class).get("t1").summaries()).isNotEmpty();
				assertThat(this.model.prompts()).allSatisfy(
						(prompt) -> assertThat(Lines.of(prompt.getInstructions()).get(0)).doesNotMatch("user: u[2-8]"));
			});
	}

	@Test
	void aLimitOfTurnsIsFreeWhereSummariesAreMadeOnRequest() {
		this.runner.withBean(ChatModel.class, () -> this.model)
			.withPropertyValues("sessionkit.summarize.model=model", "sessionkit.trim.max-turns=2")
			.withBean("model", ChatModel.class, () -> this.small)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aModelAloneSummarizesOnRequest() {
		this.small.says("on request");
		this.runner.withBean("large", ChatModel.class, () -> this.model)
			.withBean("small", ChatModel.class, () -> this.small)
			.withPropertyValues("sessionkit.summarize.model=small", "sessionkit.summarize.keep-turns=1")
			.run((context) -> {
				talk(context.getBean(SessionAdvisor.class), 3);
				assertThat(context.getBean(Conversations.class).get("t1").summarize(true).turns()).isEqualTo(2);
			});
	}

	@Test
	void anApplicationMayHaveABeanOfItsOwnThatIsCalledSessionContext() {
		this.runner.withBean("sessionContext", String.class, () -> "mine")
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(SessionContext.class));
	}

	private static String failure(ApplicationContextRunner runner) {
		FailureAnalysis analysis = StartFailure.analysis(runner);
		return analysis.getDescription() + " " + analysis.getAction();
	}

	private void talk(SessionAdvisor advisor, int turns) {
		ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(advisor).build();
		for (int i = 1; i <= turns; i++) {
			this.model.says("a" + i);
			chat.prompt().user("u" + i).advisors(SessionAdvisor.session("t1")).call().content();
		}
	}

}
