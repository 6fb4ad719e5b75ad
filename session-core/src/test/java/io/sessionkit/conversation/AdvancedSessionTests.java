package io.sessionkit.conversation;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Trim;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The tests that the advanced session of the OpenAI Agents SDK and dspy-session have for
 * branches and turns, where there is an equivalent here, on every store. Each test has
 * the name of the one that it stands for. {@link TimeTests} goes further.
 * <p>
 * What has no equivalent in the OpenAI SDK's tests, and why:
 * <ul>
 * <li>{@code branch_ids_remain_reserved}, {@code branch_reservation} and {@code clear}
 * generations: the name of a deleted branch can be used again. Processes hold no branch,
 * they name the session, so none can be on a branch that is gone.</li>
 * <li>{@code structure_tables}, {@code legacy}, {@code migrate},
 * {@code custom_table_names}, {@code rolls_back} and {@code cancellation} tests are about
 * tables beside those of the messages, and connections that are kept. There is one store,
 * and a commit is atomic ({@code FaultContract}, the killed processes).</li>
 * <li>{@code store_run_usage} and its failures: the usage is part of the turn and is
 * written with it. So it cannot be lost, be stored for another turn, or be stored
 * twice.</li>
 * <li>{@code pop_item_removes_turn_usage}, and the usage of deleted branches: the turn
 * keeps its usage, since the tokens were paid.</li>
 * <li>{@code tool_usage} and {@code tool_name_extraction}: tool calls are read from the
 * items; names have no name spaces in Spring AI, and no hosted tools.</li>
 * <li>{@code find_turns_by_content} for other than a branch, {@code redacted} logs (no
 * text is logged), {@code session_settings} (an option of a window and of trim).</li>
 * </ul>
 * What has none in dspy-session's tests: fields of signatures, modules and predictors
 * that are wrapped or copied, {@code to_examples}, scores, files, {@code lock}, and
 * sessions in sessions. The rest of its turns is in the tests of turns, snapshots and
 * parameters.
 */
@ParameterizedClass
@EnumSource
class AdvancedSessionTests {

	private static final Map<TestStores, SessionStore> stores = new EnumMap<>(TestStores.class);

	@Parameter
	TestStores kind;

	private final SessionKey key = SessionKey.of("time", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Conversations conversations;

	private Conversation thread;

	private ChatClient client;

	@BeforeEach
	void open() {
		this.store = stores.computeIfAbsent(this.kind, TestStores::create);
		this.conversations = Conversations.of(this.store);
		this.thread = this.conversations.get(this.key);
		this.client = client(this.conversations);
	}

	// the advanced session of the OpenAI Agents SDK

	@Test
	void branchingFunctionality() {
		add("q1", "a1", "q2", "a2", "q3", "a3");
		this.thread.branch("idea", 2);
		assertThat(log()).containsExactly("q1", "a1");
		add("other", "answer");
		assertThat(log()).containsExactly("q1", "a1", "other", "answer");
		this.thread.switchTo(Session.MAIN);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
		assertThat(this.thread.branches()).extracting(Branch::name).containsExactly(Session.MAIN, "idea");
		assertThat(this.thread.branches()).extracting((branch) -> view(branch.name()).items().size())
			.containsExactly(6, 4);
		assertThat(this.thread.branches()).extracting(Branch::active).containsExactly(true, false);
	}

	@Test
	void createBranchRejectsPopulatedBranchId() {
		add("q1", "a1", "q2", "a2");
		this.thread.branch("idea", 2);
		this.thread.switchTo(Session.MAIN);
		for (String taken : List.of(Session.MAIN, "idea")) {
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.branch(taken, 2))
				.withMessageContaining("'" + taken + "'");
		}
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void generatedBranchIdsDoNotMerge() {
		add("q1", "a1", "q2", "a2");
		Branch first = this.thread.branch(2);
		add("b1", "c1");
		this.thread.switchTo(Session.MAIN);
		Branch second = this.thread.branch(2);
		assertThat(second.name()).isNotEqualTo(first.name());
		assertThat(log()).containsExactly("q1", "a1");
	}

	@Test
	void branchAllocationIsSerialized() {
		add("q1", "a1", "q2", "a2");
		List<CompletableFuture<Branch>> made = IntStream.range(0, 8)
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> this.conversations.get(this.key).branch(1)))
			.toList();
		List<String> names = made.stream()
			.filter((each) -> each.handle((branch, ex) -> ex == null).join())
			.map((each) -> each.join().name())
			.toList();
		assertThat(names).isNotEmpty().doesNotHaveDuplicates();
		assertThat(this.thread.branches()).hasSize(1 + names.size());
	}

	@Test
	void deleteBranchRemovesBranchOnlyMessages() {
		add("q1", "a1", "q2", "a2");
		this.thread.branch("idea", 2);
		add("only", "there");
		assertThat(this.thread.deleteBranch("idea", true)).isEqualTo(2);
		assertThat(this.thread.items(3)).isEmpty();
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void deleteBranchKeepsMessagesStillReferencedByAnotherBranch() {
		add("q1", "a1", "q2", "a2");
		this.thread.branch("a", 2);
		add("shared", "s", "only", "o");
		this.thread.branch("b", 4);
		this.thread.deleteBranch("a", false);
		assertThat(log()).containsExactly("q1", "a1", "shared", "s");
		assertThat(this.thread.items(4)).isEmpty();
	}

	@Test
	void getConversationTurns() {
		add("q1", "a1", "q2", "a2");
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::number).containsExactly(1L, 2L);
		assertThat(texts(this.thread.items(2))).containsExactly("q2", "a2");
	}

	@Test
	void createBranchFromContent() {
		add("about math", "a1", "about science", "a2", "more math", "a3");
		this.thread.branchFromContent("math", "math");
		assertThat(log()).isEmpty();
		this.thread.switchTo(Session.MAIN);
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.thread.branchFromContent("other", "nonexistent"));
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.thread.branchFromContent("other", "role"));
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.thread.branchFromContent("other", "m%h"));
		this.thread.branchFromContent("second", "SCIENCE");
		assertThat(log()).containsExactly("about math", "a1");
	}

	@Test
	void branchSpecificOperations() {
		ask("q1", "a1");
		this.thread.branch("idea", 1);
		ask("b1", "c1");
		assertThat(log()).containsExactly("b1", "c1");
		SessionView main = view(Session.MAIN);
		assertThat(texts(main.items())).containsExactly("q1", "a1");
		assertThat(main.session().totals().turns()).isEqualTo(1);
	}

	@Test
	void branchUsageTracking() {
		ask("q1", "a1");
		this.thread.branch("idea");
		ask("b1", "c1");
		ask("b2", "c2");
		List<Turn> turns = this.thread.turns(Tail.ALL);
		assertThat(turns).extracting(Turn::branch).containsExactly(Session.MAIN, "idea", "idea");
		assertThat(turns).allSatisfy((turn) -> assertThat(turn.usage().output()).isPositive());
	}

	@Test
	void branchErrorHandling() {
		add("q1", "a1");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.branch("idea", 5));
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.switchTo("nonexistent"));
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.thread.deleteBranch("nonexistent", false));
		for (String name : List.of(Session.MAIN, "", "   ")) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.thread.deleteBranch(name, false));
		}
	}

	@Test
	void branchDeletionWithForce() {
		add("q1", "a1", "q2", "a2");
		this.thread.branch("temp", 2);
		add("q3", "a3");
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.thread.deleteBranch("temp", false))
			.withMessageContaining("force");
		this.thread.deleteBranch("temp", true);
		assertThat(this.thread.branches()).extracting(Branch::name).containsExactly(Session.MAIN);
		assertThat(this.thread.session().orElseThrow().branch()).isEqualTo(Session.MAIN);
	}

	@Test
	void conversationStructureWithMultipleTurns() {
		ask("hello", "hi");
		this.model.calls(new ToolCall("c1", "function", "mood", "{}"));
		ask("how are you?", "well");
		ask("goodbye", "see you");
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::items).containsExactly(2, 4, 2);
	}

	@Test
	void emptySessionOperations() {
		assertThat(this.thread.branches()).isEmpty();
		assertThat(this.thread.turns(Tail.ALL)).isEmpty();
		assertThat(this.thread.pop()).isEmpty();
		assertThat(this.thread.undo(1)).isEmpty();
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> this.thread.branch("idea"))
			.withMessageContaining(this.key.id());
	}

	@Test
	void sessionIsolation() {
		Conversation other = this.conversations.get(SessionKey.of("time", UUID.randomUUID().toString()));
		add("q1", "a1");
		this.store.add(other.key(), SessionStoreFixture.batch("other", "answer"));
		this.thread.branch("idea");
		assertThat(other.branches()).extracting(Branch::name).containsExactly(Session.MAIN);
		assertThat(texts(other.items(Tail.ALL))).containsExactly("other", "answer");
	}

	@Test
	void popItemRespectsCurrentBranchAndKeepsSharedMessages() {
		add("q1", "a1", "q2", "a2");
		this.thread.branch("idea", 2);
		add("only", "there");
		assertThat(this.thread.pop()).map(Message::getText).contains("there");
		assertThat(log()).containsExactly("q1", "a1", "only");
		this.thread.switchTo(Session.MAIN);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void clearSessionResetsCurrentBranchToMain() {
		add("q1", "a1");
		this.thread.branch("idea");
		this.thread.clear();
		add("q2", "a2");
		assertThat(this.thread.session().orElseThrow().branch()).isEqualTo(Session.MAIN);
		assertThat(this.thread.branches()).hasSize(1);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.switchTo("idea"));
	}

	// dspy-session

	@Test
	void slidingWindowAndEarlyTurnSnapshotPreservedAfterManyTurns() {
		ChatClient trimmed = client(Conversations.builder(this.store).trim(Trim.keepLastTurns(3)).build());
		for (int i = 0; i < 10; i++) {
			ask(trimmed, "q" + i, "a" + i);
		}
		assertThat(this.thread.snapshot(1).orElseThrow().messages()).isEmpty();
		assertThat(messages(this.thread.snapshot(2).orElseThrow().messages())).containsExactly("q0", "a0");
		assertThat(this.thread.snapshot(10).orElseThrow().messages()).hasSize(6);
	}

	@Test
	void initialHistoryAppearsInFirstTurnAndGrowsWithTurns() {
		this.thread.seed(SessionStoreFixture.batch("hi", "hello"));
		ask("q1", "a1");
		assertThat(request()).containsExactly("hi", "hello", "q1");
		ask("q2", "a2");
		assertThat(request()).containsExactly("hi", "hello", "q1", "a1", "q2");
	}

	@Test
	void resetPreservesInitialHistoryAndThenContinues() {
		this.thread.seed(SessionStoreFixture.batch("hi", "hello"));
		ask("q1", "a1");
		this.thread.reset();
		assertThat(messages(this.thread.view())).containsExactly("hi", "hello");
		ask("q2", "a2");
		assertThat(request()).containsExactly("hi", "hello", "q2");
	}

	@Test
	void addTurnThenCall() {
		Turn added = this.thread.addTurn(SessionStoreFixture.batch("q1", "a1"), "editor");
		assertThat(added.number()).isEqualTo(1);
		assertThat(added.agent()).isEqualTo("editor");
		ask("q2", "a2");
		assertThat(request()).containsExactly("q1", "a1", "q2");
	}

	@Test
	void popTurnAndUndo() {
		assertThat(this.thread.undo(1)).isEmpty();
		ask("q1", "a1");
		ask("q2", "a2");
		ask("q3", "a3");
		assertThat(this.thread.undo(2)).extracting(Turn::number).containsExactly(3L, 2L);
		assertThat(log()).containsExactly("q1", "a1");
		assertThat(this.thread.undo(9)).hasSize(1);
		assertThat(log()).isEmpty();
	}

	@Test
	void forkCreatesIndependentCopyAndPreservesHistory() {
		ask("q1", "a1");
		ask("q2", "a2");
		Conversation fork = this.conversations.get(SessionKey.of("time", UUID.randomUUID().toString()));
		this.thread.fork(fork.key());
		ask("q3", "a3");
		assertThat(texts(fork.items(Tail.ALL))).containsExactly("q1", "a1", "q2", "a2");
		fork.undo(1);
		assertThat(log()).hasSize(6);
	}

	@Test
	void turnNotRecordedOnError() {
		this.model.fails(new IllegalStateException("down"));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(
				() -> this.client.prompt().user("q1").advisors(SessionAdvisor.session(this.key)).call().content());
		assertThat(log()).isEmpty();
	}

	@Test
	void updateModulePreservesTurns() {
		ask("q1", "a1");
		ScriptedChatModel other = new ScriptedChatModel();
		other.says("a2");
		ChatClient.builder(other)
			.defaultAdvisors(SessionAdvisor.of(this.conversations))
			.build()
			.prompt()
			.user("q2")
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
		assertThat(messages(other.prompts().get(0).getInstructions())).containsExactly("q1", "a1", "q2");
	}

	private ChatClient client(Conversations opened) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(opened))
			.defaultToolCallbacks(FunctionToolCallback.builder("mood", () -> "good").description("the mood").build())
			.build();
	}

	private void add(String... texts) {
		this.store.add(this.key, SessionStoreFixture.batch(texts));
	}

	private void ask(String question, String answer) {
		ask(this.client, question, answer);
	}

	private void ask(ChatClient asked, String question, String answer) {
		this.model.says(answer);
		asked.prompt().user(question).advisors(SessionAdvisor.session(this.key)).call().content();
	}

	/** Reads a branch without making it the active one. */
	private SessionView view(String branch) {
		long head = this.thread.branches()
			.stream()
			.filter((each) -> each.name().equals(branch))
			.findFirst()
			.orElseThrow()
			.head();
		return this.store.path(this.key, PathQuery.to(Point.at(head)).window(Window.turns(20))).orElseThrow().view();
	}

	private List<String> request() {
		return messages(this.model.prompts().get(this.model.prompts().size() - 1).getInstructions());
	}

	private List<String> log() {
		return messages(this.thread.messages());
	}

	private static List<String> texts(List<SessionItem> items) {
		return items.stream().map((item) -> item.message().getText()).toList();
	}

	private static List<String> messages(List<Message> messages) {
		return messages.stream().map(Message::getText).toList();
	}

}
