package io.sessionkit.approval;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.ToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A session whose tool {@code cancel} needs consent, and {@code look} does not. Each call
 * and each decision is made through objects of its own, as other processes would: what
 * they know of each other is in the store.
 */
public abstract class ApprovalFixture {

	public final SessionKey key = SessionKey.of("owner-" + UUID.randomUUID(), "thread");

	public final ScriptedChatModel model = new ScriptedChatModel();

	/** The calls that ran: name and arguments. */
	public final List<String> runs = new CopyOnWriteArrayList<>();

	final List<ApprovalEvent> events = new CopyOnWriteArrayList<>();

	private final List<Conversations> opened = new CopyOnWriteArrayList<>();

	private ObservedStore observed;

	private Consumer<Approvals.Builder> rules = (builder) -> {
	};

	private Consumer<Conversations.Builder> threads = (builder) -> {
	};

	private List<? extends ToolCallback> tools = List.of(tool("cancel"), tool("look"));

	/**
	 * The store to try.
	 */
	protected abstract SessionStore store();

	/**
	 * Returns the time to decide in tests in which nobody decides in time.
	 */
	protected Duration shortTime() {
		return Duration.ofMillis(100);
	}

	/**
	 * Lets the time pass in which a call can be decided.
	 */
	protected void letExpire(ToolApproval call) {
		Awaitility.await()
			.until(() -> approvals().ledger(call.key())
				.stream()
				.anyMatch((now) -> now.id().equals(call.id()) && now.status() == ApprovalStatus.EXPIRED));
	}

	@BeforeEach
	void observe() {
		this.observed = new ObservedStore(store());
	}

	@AfterEach
	void close() {
		this.opened.forEach(Conversations::close);
	}

	/** The store as the clients see it. */
	public final ObservedStore observed() {
		return this.observed;
	}

	// the parts of clients

	/** From now on approvals are built with this too. */
	public final void rules(Consumer<Approvals.Builder> rules) {
		this.rules = rules;
	}

	/** From now on conversations are built with this too. */
	public final void threads(Consumer<Conversations.Builder> threads) {
		this.threads = threads;
	}

	/** From now on calls offer these. */
	public final void tools(ToolCallback... tools) {
		this.tools = List.of(tools);
	}

	public final RecordingTool tool(String name) {
		return RecordingTool.of(name, this.runs);
	}

	public static ToolCall call(String id, String tool, String arguments) {
		return new ToolCall(id, "function", tool, arguments);
	}

	/** A call of the tool that needs consent. */
	public static ToolCall cancel(String id, int order) {
		return call(id, "cancel", "{\"id\":" + order + "}");
	}

	/** A call of the tool that needs none. */
	public static ToolCall look(String id, int order) {
		return call(id, "look", "{\"id\":" + order + "}");
	}

	public static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	public final Conversations conversations() {
		Conversations.Builder builder = Conversations.builder(this.observed);
		this.threads.accept(builder);
		Conversations conversations = builder.build();
		this.opened.add(conversations);
		return conversations;
	}

	public final Approvals approvals() {
		return approvals(conversations());
	}

	private Approvals approvals(Conversations conversations) {
		Approvals.Builder builder = Approvals.builder(conversations)
			.tools(Set.of("cancel"))
			.listeners(List.<Consumer<ApprovalEvent>>of(this.events::add));
		this.rules.accept(builder);
		return builder.build();
	}

	public final ChatClient.Builder client(ClientSetup setup) {
		Conversations conversations = conversations();
		SessionAdvisor advisor = SessionAdvisor.builder(conversations).approvals(approvals(conversations)).build();
		return setup.builder(this.model, advisor).defaultToolCallbacks(List.copyOf(this.tools));
	}

	final ChatClient chat() {
		return client(ClientSetup.plain()).build();
	}

	// calls

	public final ChatResponse ask(ClientSetup.Mode mode, String text) {
		return ask(setup(mode), text);
	}

	public final ChatResponse ask(ClientSetup setup, String text) {
		return response(setup, client(setup).build().prompt().user(text));
	}

	/** A call without user text. */
	public final ChatResponse goOn(ClientSetup.Mode mode) {
		return goOn(setup(mode));
	}

	public final ChatResponse goOn(ClientSetup setup) {
		return response(setup, client(setup).build().prompt());
	}

	final ChatResponse response(ClientSetup setup, ChatClient.ChatClientRequestSpec call) {
		ChatResponse response = setup.response(call.advisors(SessionAdvisor.session(this.key)));
		assertThat(response).isNotNull();
		this.model.prompts().forEach((prompt) -> assertThat(ValidSequence.faults(prompt.getInstructions())).isEmpty());
		return response;
	}

	/** A call without user text, and what the caller reads then. */
	final @Nullable String answer(ClientSetup.Mode mode) {
		ChatClient.ChatClientRequestSpec call = client(setup(mode)).build().prompt();
		return setup(mode).content(call.advisors(SessionAdvisor.session(this.key)));
	}

	// the stored state

	public final List<ToolApproval> pending() {
		return approvals().pending(this.key);
	}

	/** The only call that waits. */
	public final ToolApproval waiting() {
		assertThat(pending()).hasSize(1);
		return pending().get(0);
	}

	public final ToolApproval approve(ToolApproval call) {
		return approvals().approve(call, "anna");
	}

	final ToolApproval reject(ToolApproval call) {
		return approvals().reject(call, "bob", "not today");
	}

	final List<ApprovalStatus> ledger() {
		return approvals().ledger(this.key).stream().map(ToolApproval::status).toList();
	}

	public final Conversation thread() {
		return conversations().get(this.key);
	}

	/** The log, a line for each message. */
	public final List<String> log() {
		return Lines.of(store().messages(this.key));
	}

	final List<TurnStatus> turns() {
		return store().turns(this.key, Tail.ALL).stream().map(Turn::status).toList();
	}

	public static boolean isPaused(ChatResponse response) {
		return !SessionAdvisor.pending(response).isEmpty();
	}

	/** However many parts it was stored in. */
	void assertResultIsWhole(ChatResponse response) {
		TurnResult result = SessionAdvisor.turn(response).orElseThrow();
		List<SessionItem> stored = store().items(this.key, result.turn().number());
		assertThat(stored).first().extracting((item) -> item.message().getMessageType()).isEqualTo(MessageType.USER);
		assertThat(result.items()).isEqualTo(stored);
		assertThat(result.turn().items()).isEqualTo(stored.size());
		assertThat(result.turn().tokens()).isEqualTo(stored.stream().mapToInt(SessionItem::tokens).sum());
	}

	public static TurnStatus status(ChatResponse response) {
		return SessionAdvisor.turn(response).orElseThrow().turn().status();
	}

	/** Returns what listeners were told: the event, the call, and its status. */
	List<String> told() {
		return this.events.stream()
			.map((event) -> event.getClass().getSimpleName() + " " + event.approval().callId() + " "
					+ event.approval().status())
			.toList();
	}

}
