package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.MessageTokens;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code about trimming, pruning and summaries of {@code docs/context.md} does what the
 * page says.
 */
class ViewSnippetsTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final String LONG = "word ".repeat(600);

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens(MessageTokens.byVocabulary()));

	private final ScriptedChatModel model = new ScriptedChatModel().reports(0);

	@Test
	void theFirstQuestionAndWhatIsImportantStay() {
		add("my name is Ada", "hello Ada");
		this.store.add(T1, List.of(UserMessage.builder().text("no nuts").metadata(Map.of("important", true)).build(),
				new AssistantMessage("noted")));
		for (int i = 0; i < 20; i++) {
			add("q" + i, LONG);
		}
		ask(ViewSnippets.trimmed(this.store));
		List<String> lines = this.model.lastRequestLines();
		assertThat(lines).startsWith("user: my name is Ada", "assistant: hello Ada", "user: no nuts",
				"assistant: noted");
		assertThat(lines).contains("user: q19", "user: q8").doesNotContain("user: q0", "user: q6");
	}

	@Test
	void onlyFiveResultsStay() {
		for (int i = 0; i < 7; i++) {
			this.store.add(T1,
					List.of(new UserMessage("q" + i),
							AssistantMessage.builder()
								.content("")
								.toolCalls(List.of(new ToolCall("c", "function", "t", "{}")))
								.build(),
							ToolResponseMessage.builder().responses(List.of(new ToolResponse("c", "t", LONG))).build(),
							new AssistantMessage("a" + i)));
		}
		ask(ViewSnippets.pruned(this.store));
		assertThat(this.model.lastRequestLines()).filteredOn(("tool t=" + Prune.PLACEHOLDER)::equals).hasSize(2);
		assertThat(this.model.lastRequestLines()).filteredOn(("tool t=" + LONG)::equals).hasSize(5);
	}

	@Test
	void largeResultIsSentShortInEachRoundAndStoredWhole() {
		String large = "row ".repeat(10_000);
		Conversations conversations = Conversations.builder(this.store).hooks(new ViewSnippets.ShortResults()).build();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultTools(FunctionToolCallback.builder("rows", () -> large).description("all rows").build(),
					FunctionToolCallback.builder("day", () -> "Monday").description("the day").build())
			.build();
		this.model.calls(new ToolCall("c1", "function", "rows", "{}"), new ToolCall("c2", "function", "day", "{}"))
			.says("a1")
			.says("a2");
		for (String question : List.of("q1", "q2")) {
			chat.prompt().user(question).advisors(SessionAdvisor.session(T1)).call().content();
		}
		String rows = "\"" + "row ".repeat(1_000).strip() + " (truncated)... of 40002 characters";
		for (int request : new int[] { 1, 2 }) {
			ToolResponseMessage sent = (ToolResponseMessage) this.model.prompts().get(request).getInstructions().get(2);
			assertThat(sent.getResponses()).extracting(ToolResponse::responseData).containsExactly(rows, "\"Monday\"");
		}
		ToolResponseMessage stored = (ToolResponseMessage) this.store.messages(T1).get(2);
		assertThat(stored.getResponses().get(0).responseData()).hasSize(40_002);
	}

	@Test
	void hookOfACallThatReadsSeesTheNextHistoryAndNoModelIsAsked() {
		for (int i = 0; i < 3; i++) {
			add("q" + i, "a" + i);
		}
		List<Message> next = new ArrayList<>();
		SessionHook look = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				next.addAll(request.history());
				return HookResult.answer("seen");
			}

		};
		Conversations conversations = Conversations.builder(this.store).trim(Trim.keepLastTurns(1)).build();
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.build()
			.prompt()
			.user("?")
			.advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.reading()).andThen(SessionAdvisor.hook(look)))
			.call()
			.content();
		assertThat(Lines.of(next)).containsExactly("user: q2", "assistant: a2");
		assertThat(conversations.get(T1).view()).hasSize(6);
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.messages(T1)).hasSize(6);
	}

	@Test
	void olderTurnsAreSentAsTheirSummary() {
		ScriptedChatModel small = new ScriptedChatModel().says("they spoke");
		for (int i = 0; i < 14; i++) {
			add("q" + i, LONG);
		}
		try (Conversations conversations = ViewSnippets.summarized(this.store, small)) {
			ask(conversations);
		}
		assertThat(this.model.lastRequestLines()).contains("assistant: they spoke", "user: q8")
			.doesNotContain("user: q7");
	}

	@Test
	void summarizeSaysWhatItMade() {
		ScriptedChatModel small = new ScriptedChatModel().says("they spoke");
		try (Conversations conversations = ViewSnippets.summarized(this.store, small)) {
			assertThat(ViewSnippets.summarizedNow(conversations.get(T1))).isEqualTo("NOTHING_TO_COVER");
			for (int i = 0; i < 7; i++) {
				add("q" + i, "a" + i);
			}
			assertThat(ViewSnippets.summarizedNow(conversations.get(T1))).isEqualTo("they spoke");
		}
	}

	@Test
	void theTriggerLooksAtTheHeader() {
		for (int i = 0; i < 20; i++) {
			add("q" + i, LONG);
		}
		assertThat(ViewSnippets.trigger().isDue(this.store.find(T1).orElseThrow())).isFalse();
		this.store.commit(Commit.any(T1).header(HeaderChange.NONE.tags(Set.of("long"))));
		assertThat(ViewSnippets.trigger().isDue(this.store.find(T1).orElseThrow())).isTrue();
	}

	@Test
	void aMediumCountsWhatItIsSaidToCount() {
		StoreOptions options = ViewSnippets.counted(this.store.options(), new JTokkitTokenCountEstimator());
		assertThat(options.tokens()
			.applyAsInt(UserMessage.builder()
				.text("look")
				.media(new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 })))
				.build()))
			.isBetween(500, 510);
	}

	private void add(String question, String answer) {
		this.store.add(T1, List.of(new UserMessage(question), new AssistantMessage(answer)));
	}

	private void ask(Conversations conversations) {
		this.model.says("a");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
	}

}
