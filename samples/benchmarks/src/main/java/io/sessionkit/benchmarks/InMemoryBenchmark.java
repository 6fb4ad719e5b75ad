package io.sessionkit.benchmarks;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Measures a turn with nothing below it but memory: the call with a session whose view
 * has 40 messages, the same call without a session, and the two store calls alone. Each
 * iteration begins with a new store; otherwise the session would fill the heap.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class InMemoryBenchmark {

	private static final SessionKey KEY = SessionKey.of("benchmark");

	private static final Window WINDOW = Window.turns(Contenders.WINDOW_TURNS);

	private final CannedChatModel model = new CannedChatModel();

	private final ChatClient bare = ChatClient.builder(this.model).build();

	/** The number of characters of each message. */
	@Param({ "200", "1000" })
	public int length;

	private Message question = new UserMessage("");

	private List<Message> turn = List.of();

	private SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private ChatClient chat = this.bare;

	/**
	 * Creates a new store with a session of 40 messages.
	 */
	@Setup(Level.Iteration)
	public void prepare() {
		this.question = new UserMessage(Dialogue.text(1, this.length));
		this.turn = List.of(this.question, new AssistantMessage(Dialogue.text(2, this.length)));
		this.store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		for (int i = 0; i < Contenders.WINDOW_TURNS; i++) {
			this.store.add(KEY, this.turn);
		}
		Conversations conversations = Conversations.builder(this.store)
			.trim(Trim.keepLastTurns(Contenders.WINDOW_TURNS))
			.build();
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	/**
	 * Runs a whole turn.
	 */
	@Benchmark
	public @Nullable String callWithSession() {
		return this.chat.prompt().messages(this.question).advisors(SessionAdvisor.session(KEY)).call().content();
	}

	/**
	 * Runs the same call without any session.
	 */
	@Benchmark
	public @Nullable String callWithout() {
		return this.bare.prompt().messages(this.question).call().content();
	}

	/**
	 * Opens a session: reads header and view.
	 */
	@Benchmark
	public Optional<SessionView> storeOpen() {
		return this.store.open(KEY, WINDOW);
	}

	/**
	 * Reads the header without the view and commits a turn of two messages.
	 */
	@Benchmark
	public CommitResult storeCommit() {
		StoreOptions options = this.store.options();
		var now = options.now();
		Turn written = Turn.builder(options.turnIds().get(), now).build();
		List<NewItem> items = this.turn.stream()
			.map((message) -> new NewItem(message, now, options.tokens().applyAsInt(message)))
			.toList();
		Session base = this.store.find(KEY).orElseThrow();
		return this.store.commit(Commit.on(base).turn(new TurnWrite(written, 0, items)));
	}

}
