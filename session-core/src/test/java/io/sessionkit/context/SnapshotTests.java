package io.sessionkit.context;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.core.Ordered;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SnapshotTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversation thread = Conversations.of(this.store).get(T1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void firstModelCallOfATurnCountsAndLaterTurnsChangeNothing(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1")).says("a1").says("a2").says("a3");
		for (String question : List.of("q1", "q2", "q3")) {
			setup.content(prompt(setup, question, Conversations.of(this.store)));
		}
		assertThat(lines(1)).isEmpty();
		assertThat(lines(2)).containsExactly("user: q1", "assistant t({\"value\":\"1\"})", "tool t=1", "assistant: a1");
		assertThat(lines(3)).hasSize(6).endsWith("user: q2", "assistant: a2");
		assertThat(turn(3).snapshot().parts()).containsExactly(new Snapshot.Items(1, 6, 1, 2));
		assertThat(this.store.records(T1, SnapshotReader.KIND)).isEmpty();
		assertThat(this.store.calls()).startsWith("open", "commit", "open", "commit", "open", "commit");
		assertThat(this.thread.snapshot(2).orElseThrow().isComplete()).isTrue();
	}

	@Test
	void systemTextIsThereByItsDigestUnlessItIsKept() throws Exception {
		this.model.says("a1").says("a2");
		ClientSetup setup = new ClientSetup(ClientSetup.Mode.CALL, ClientSetup.ToolLoop.AUTOMATIC, true);
		setup.content(prompt(setup, "q1", Conversations.of(this.store)));
		setup.content(prompt(setup, "q2", Conversations.builder(this.store).keepSystemText(true).build()));
		String digest = HexFormat.of()
			.formatHex(MessageDigest.getInstance("SHA-256").digest("be brief".getBytes(StandardCharsets.UTF_8)));
		assertThat(this.thread.snapshot(1)).hasValue(new SentHistory(1, List.of(), digest, null, 0));
		assertThat(this.thread.snapshot(2).orElseThrow().systemDigest()).isEqualTo(digest);
		assertThat(this.thread.snapshot(2).orElseThrow().system()).isEqualTo("be brief");
	}

	@Test
	void systemTextThatCouldNotBeStoredFailsNoTurn() {
		this.model.says("a1");
		prompt(ClientSetup.plain(), "q1", Conversations.builder(this.store).keepSystemText(true).build())
			.system("half \ud83d")
			.call()
			.content();
		assertThat(turn(1).status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.thread.snapshot(1).orElseThrow().system()).isEqualTo("half \ufffd");
	}

	@Test
	void withoutSystemTextThereIsNoDigest() {
		this.model.says("a1");
		ask("q1");
		assertThat(turn(1).snapshot()).isEqualTo(new Snapshot(null, null, List.of()));
	}

	@Test
	void turnThatCalledNoModelHasNone() {
		SessionHook answering = TestHooks.beforeTurn("answering", (input) -> HookResult.answer("no need"));
		prompt(ClientSetup.plain(), "q1", Conversations.builder(this.store).hooks(answering).build()).call().content();
		assertThat(turn(1).snapshot()).isNull();
		assertThat(this.thread.snapshot(1)).isEmpty();
		assertThat(this.thread.snapshot(7)).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void failedTurnHasItsSnapshotWithWhatHooksHadMadeOfTheHistory(ClientSetup setup) {
		this.model.says("a1").fails(new IllegalStateException("down"));
		ask("q1");
		SessionHook redacting = TestHooks.beforeModel("redacting",
				(request) -> HookResult.replace(request.stream().map(SnapshotTests::withoutName).toList()));
		ChatClient.ChatClientRequestSpec call = prompt(setup, "q2",
				Conversations.builder(this.store).hooks(redacting).build());
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> setup.content(call));
		assertThat(turn(2).status()).isEqualTo(TurnStatus.FAILED);
		assertThat(turn(2).snapshot().parts()).containsExactly(new Snapshot.Verbatim(1),
				new Snapshot.Items(2, 2, 1, 1));
		assertThat(lines(2)).containsExactly("user: [name]", "assistant: a1");
		assertThat(this.store.records(T1, SnapshotReader.KIND)).singleElement()
			.satisfies((record) -> assertThat(record.id()).isEqualTo(turn(2).id()));
	}

	@Test
	void imageThatWasTakenOutOfAMessageIsNotInItsSnapshot() {
		this.store.add(T1,
				List.of(UserMessage.builder()
					.text("look")
					.media(new Media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 })))
					.build(), new AssistantMessage("seen")));
		this.model.says("a");
		ask("q", new SnapshotProperties.BetweenAdvisor(Ordered.LOWEST_PRECEDENCE - 2) {

			@Override
			protected Prompt changed(Prompt prompt) {
				return new Prompt(prompt.getInstructions().stream().map(SnapshotTests::withoutMedia).toList(),
						prompt.getOptions());
			}

		});
		UserMessage shown = (UserMessage) this.thread.snapshot(2).orElseThrow().messages().get(0);
		assertThat(shown.getText()).isEqualTo("look");
		assertThat(shown.getMedia()).isEmpty();
	}

	@Test
	void questionThatWasAskedBeforeIsToldFromTheCurrentOneInACopiedPrompt() {
		this.model.says("a1").says("a2");
		ask("ok");
		ask("ok", new SnapshotProperties.BetweenAdvisor(Ordered.LOWEST_PRECEDENCE - 2) {

			@Override
			protected Prompt changed(Prompt prompt) {
				return prompt.copy().augmentUserMessage("context for ok");
			}

		});
		assertThat(lines(2)).containsExactly("user: ok", "assistant: a1");
		assertThat(turn(2).snapshot().parts()).containsExactly(new Snapshot.Items(1, 2, 1, 1));
	}

	@Test
	void questionThatWasRewrittenIsNotTakenForAnEarlierOne() {
		this.model.says("a1").says("a2");
		ask("ok");
		SessionHook rewriting = TestHooks.beforeModel("rewriting", (request) -> {
			List<Message> rewritten = new ArrayList<>(request);
			rewritten.set(request.size() - 1, new UserMessage("yes"));
			return HookResult.replace(rewritten);
		});
		prompt(ClientSetup.plain(), "ok", Conversations.builder(this.store).hooks(rewriting).build()).call().content();
		assertThat(lines(2)).containsExactly("user: ok", "assistant: a1");
	}

	@Test
	void questionIsFoundInACopiedPromptWithSomethingBehindIt() {
		this.model.says("a1").says("a2");
		ask("ok");
		ask("ok", new SnapshotProperties.BetweenAdvisor(Ordered.LOWEST_PRECEDENCE - 2) {

			@Override
			protected Prompt changed(Prompt prompt) {
				List<Message> messages = new ArrayList<>(prompt.copy().getInstructions());
				messages.add(new UserMessage("Found behind."));
				return new Prompt(messages, prompt.getOptions());
			}

		});
		assertThat(lines(2)).containsExactly("user: ok", "assistant: a1");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void messageOfAnAdvisorThatCannotBeStoredFailsNoTurnAndIsMissing(boolean strict) {
		JsonMessageCodec codec = strict ? JsonMessageCodec.create().strict() : JsonMessageCodec.create();
		Conversations conversations = Conversations.of(new InMemorySessionStore(StoreOptions.of(codec)));
		this.model.says("a1");
		prompt(ClientSetup.plain(), "q1", conversations)
			.advisors(new SnapshotProperties.BetweenAdvisor(Ordered.LOWEST_PRECEDENCE - 2) {

				@Override
				protected Prompt changed(Prompt prompt) {
					Message found = UserMessage.builder()
						.text("found")
						.metadata(Map.of("document", new Object()))
						.build();
					return new Prompt(List.of(found, prompt.getInstructions().get(0)), prompt.getOptions());
				}

			})
			.call()
			.content();
		SentHistory snapshot = conversations.get(T1).snapshot(1).orElseThrow();
		assertThat(Lines.of(snapshot.messages())).isEqualTo(strict ? List.of() : List.of("user: found"));
		assertThat(snapshot.missing()).isEqualTo(strict ? 1 : 0);
	}

	@Test
	void itemsOfAnotherBranchAreFound() {
		this.model.says("a1").says("a2").says("a3").says("b2");
		ask("q1");
		ask("q2");
		ask("q3");
		this.store.commit(Commit.any(T1).header(HeaderChange.NONE.head("other", 1)));
		ask("r2");
		assertThat(this.thread.messages()).hasSize(4);
		assertThat(lines(3)).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
		assertThat(lines(4)).containsExactly("user: q1", "assistant: a1");
	}

	@Test
	void itemThatIsGoneIsCounted() {
		this.model.says("a1").says("a2");
		ask("q1");
		ask("q2");
		this.store.commit(Commit.any(T1).delete(Set.of(1L)));
		SentHistory snapshot = this.thread.snapshot(2).orElseThrow();
		assertThat(Lines.of(snapshot.messages())).containsExactly("assistant: a1");
		assertThat(snapshot.missing()).isEqualTo(1);
		assertThat(snapshot.isComplete()).isFalse();
	}

	@Test
	void prunedResultsAreShownWithTheirPlaceholder() {
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "t", "a long result"),
					new ToolResponse("c2", "u", "a longer result")))
			.metadata(Map.of("page", 7))
			.build();
		this.store.add(T1, List.of(new UserMessage("q1"), results, new AssistantMessage("a1")));
		Snapshot snapshot = new Snapshot(null, null, List.of(new Snapshot.Items(1, 1, 1, 1),
				new Snapshot.Pruned(2, 1, "[cleared]"), new Snapshot.Items(3, 3, 1, 1)));
		StoreOptions options = this.store.options();
		Turn turn = Turn.builder("made", options.now()).snapshot(snapshot).build();
		this.store.commit(Commit.any(T1)
			.turn(new TurnWrite(turn, 0, List.of(new NewItem(new UserMessage("q2"), options.now(), 1)))));
		SentHistory read = this.thread.snapshot(2).orElseThrow();
		assertThat(Lines.of(read.messages())).containsExactly("user: q1", "tool t=[cleared] u=[cleared]",
				"assistant: a1");
		assertThat(read.messages().get(1).getMetadata()).containsEntry("page", 7);
		assertThat(((ToolResponseMessage) read.messages().get(1)).getResponses()).extracting(ToolResponse::id)
			.containsExactly("c1", "c2");
		assertThat(read.isComplete()).isTrue();
	}

	@Test
	void summaryIsThereByItsRecord() {
		this.model.says("a1").says("a2");
		ask("q1");
		SnapshotProperties.TestSummaries.move(this.store, T1, 1, "c1", "They met.");
		ask("q2");
		assertThat(turn(2).snapshot().parts()).containsExactly(new Snapshot.Summary("c1"));
		assertThat(this.thread.snapshot(2).orElseThrow().messages()).isEqualTo(this.model.lastRequest().subList(0, 2));
	}

	private static Message withoutName(Message message) {
		return "q1".equals(message.getText()) ? new UserMessage("[name]") : message;
	}

	private static Message withoutMedia(Message message) {
		return (message instanceof UserMessage user)
				? UserMessage.builder().text(user.getText()).metadata(user.getMetadata()).build() : message;
	}

	private void ask(String question, Advisor... more) {
		prompt(ClientSetup.plain(), question, Conversations.of(this.store)).advisors(more).call().content();
	}

	private ChatClient.ChatClientRequestSpec prompt(ClientSetup setup, String question, Conversations conversations) {
		return setup.builder(this.model, SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build()
			.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(T1));
	}

	private Turn turn(long number) {
		return this.thread.turns(Tail.ALL).get((int) number - 1);
	}

	private List<String> lines(long turn) {
		return Lines.of(this.thread.snapshot(turn).orElseThrow().messages());
	}

}
