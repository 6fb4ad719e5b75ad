package io.sessionkit.context;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.SummaryResult.Status;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what the settings of one session change in the calls on it: the history that is
 * sent, and whether summaries are made.
 */
class SessionLimitsTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final int TURNS = 8;

	/** Calls with random limits on each store. */
	private static final int CALLS = Integer.getInteger("sessionkit.limits", 60);

	private final SessionKey key = SessionKey.of("owner", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel().reports(0);

	private final ScriptedChatModel summarizer = new ScriptedChatModel();

	private final List<Conversations> opened = new ArrayList<>();

	private SessionStore data;

	private ObservedStore store;

	private void on(TestStores kind) {
		this.data = STORES.computeIfAbsent(kind, TestStores::create);
		this.store = new ObservedStore(this.data);
		for (int i = 1; i <= TURNS; i++) {
			this.data.add(this.key, List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
	}

	@AfterEach
	void endThreads() {
		this.opened.forEach(Conversations::close);
	}

	@ParameterizedTest
	@EnumSource
	void limitsOfTheSessionOutrankTheConfiguredOnesWhicheverAreLarger(TestStores kind) {
		on(kind);
		Conversations process = process(Trim.keepLastTurns(3).maxMessages(9));
		assertThat(sent(process)).isEqualTo(3);
		set((settings) -> settings.trim((trim) -> trim.maxTurns(2)));
		assertThat(sent(process)).isEqualTo(2);
		set((settings) -> settings.trim((trim) -> trim.maxTurns(6)));
		assertThat(sent(process)).as("the configured limit on messages still holds").isEqualTo(4);
		set((settings) -> settings.trim((trim) -> trim.maxMessages(Integer.MAX_VALUE)));
		assertThat(sent(process)).isEqualTo(6);
		set((settings) -> settings.limit(5));
		assertThat(sent(process)).isEqualTo(2);
		set((settings) -> settings.limit(null).trim((trim) -> trim.maxTurns(null).maxMessages(null)));
		assertThat(sent(process)).as("what is removed is as configured again").isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource
	void limitOfACallOutranksThatOfTheSessionWhicheverIsLarger(TestStores kind) {
		on(kind);
		set((settings) -> settings.limit(4));
		Conversations process = process(Trim.NONE);
		assertThat(sent(process)).isEqualTo(2);
		assertThat(sent(process, SessionAdvisor.limit(2))).isEqualTo(1);
		assertThat(sent(process, SessionAdvisor.limit(10))).isEqualTo(5);
		assertThat(sent(process, SessionAdvisor.limit(0))).isZero();
		assertThat(sent(process, SessionAdvisor.limit(Integer.MAX_VALUE))).isEqualTo(TURNS + 4);
		assertThat(sent(process)).as("a call changes nothing of the session").isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void tokensAreLimitedInASessionAlsoWhereNoLimitIsConfigured(TestStores kind) {
		on(kind);
		int question = tokens(new UserMessage("u9"));
		int turn = question + tokens(new AssistantMessage("a9"));
		set((settings) -> settings.trim((trim) -> trim.maxTokens(3 * turn + question)));
		Conversations process = process(Trim.NONE);
		assertThat(sent(process)).isEqualTo(3);
		assertThat(sent(process)).isEqualTo(3);
		Conversations configured = process(Trim.keepLastTokens(2 * turn + question));
		assertThat(sent(configured)).isEqualTo(3);
		set((settings) -> settings.trim((trim) -> trim.maxTokens(1)));
		assertThat(sent(process)).isZero();
		set((settings) -> SessionSettings.NONE);
		assertThat(sent(configured)).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void processReadsAViewASecondTimeOnceAndFromThenOnATurnTakesTwoCalls(TestStores kind) {
		on(kind);
		set((settings) -> settings.trim((trim) -> trim.maxTurns(6)));
		Conversations process = process(Trim.keepLastTurns(2));
		assertThat(callsOf(process)).containsExactly("open", "open", "commit");
		assertThat(callsOf(process)).containsExactly("open", "commit");
		set((settings) -> settings.summarize(false).retention((kept) -> kept.maxTurns(100)));
		assertThat(callsOf(process)).as("settings that limit no history").containsExactly("open", "commit");
		set((settings) -> settings.trim((trim) -> trim.maxTurns(4)));
		assertThat(callsOf(process)).containsExactly("open", "open", "commit");
		assertThat(callsOf(process)).containsExactly("open", "commit");
		set((settings) -> SessionSettings.NONE.summarize(false));
		assertThat(callsOf(process)).containsExactly("open", "open", "commit");
		assertThat(callsOf(process)).containsExactly("open", "commit");
		assertThat(callsOf(process(Trim.keepLastTurns(2)))).as("another process, without limits of the session")
			.containsExactly("open", "commit");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void headerThatComesWithTheHistoryDecidesWhoeverChangesTheLimitsMeanwhile(TestStores kind) {
		on(kind);
		Conversations process = process(Trim.keepLastTurns(1));
		AtomicInteger opens = new AtomicInteger();
		this.store.beforeOpen(() -> {
			int open = opens.incrementAndGet();
			if (open <= 2) {
				set((settings) -> settings.trim((trim) -> trim.maxTurns(3 + open)));
			}
		});
		assertThat(sent(process)).isEqualTo(5);
		assertThat(opens).hasValue(3);
		this.store.beforeOpen(() -> {
			int open = opens.incrementAndGet();
			set((settings) -> settings.trim((trim) -> trim.maxTurns(2 + open % 5)));
		});
		int last = sent(process);
		assertThat(last).as("changed before each read")
			.isEqualTo(Conversations.of(this.data).get(this.key).settings().trim().maxTurns());
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void viewWithPinsIsReadOnceWhateverItsLimits(TestStores kind) {
		on(kind);
		set((settings) -> settings.trim((trim) -> trim.maxTurns(4)));
		Conversations process = process(Trim.keepLastTurns(2).pins(Pins.firstUser()));
		assertThat(callsOf(process)).containsExactly("open", "commit");
		assertThat(sent(process)).isEqualTo(4);
		assertThat(Lines.of(this.model.lastRequest())).startsWith("user: u1", "assistant: a1");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnsThatBeginElsewhereHaveTheLimitsOfTheirSessionToo(TestStores kind) {
		on(kind);
		set((settings) -> settings.trim((trim) -> trim.maxTurns(4)));
		Conversation conversation = Conversations.of(this.data).get(this.key);
		Conversations process = process(Trim.keepLastTurns(1));
		for (int i = 0; i < 2; i++) {
			long head = conversation.session().orElseThrow().head();
			assertThat(sent(process, SessionAdvisor.editing(head))).as("an edit").isEqualTo(4);
		}
		conversation.branch("other");
		conversation.switchTo("main");
		assertThat(sent(process(Trim.keepLastTurns(1)), SessionAdvisor.branch("other"))).as("a branch").isEqualTo(4);
		conversation.reset();
		for (int i = 0; i <= 5; i++) {
			assertThat(sent(process(Trim.keepLastTurns(1)))).as("after a reset").isEqualTo(Math.min(4, i));
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatWaitedContinuesWithTheLimitsOfItsSession(TestStores kind) {
		on(kind);
		set((settings) -> settings.trim((trim) -> trim.maxTurns(3)));
		for (int i = 0; i < 2; i++) {
			this.model.calls(SessionAdvisorTests.call("c", "gated", "1"));
			Conversations first = process(Trim.keepLastTurns(1));
			gated(first, approvals(first), "u9");
			Conversations other = process(Trim.keepLastTurns(1));
			Approvals approvals = approvals(other);
			approvals.approve(approvals.pending(this.key).get(0), "ada");
			this.model.says("a9");
			gated(other, approvals, null);
			// the turn of the first round has a call and its result
			assertThat(this.model.lastRequest()).hasSize(3 * 2 + 2 * i + 3);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void turnThatWaitedLeavesTheRoomForHistoryThatItsSessionSays(TestStores kind) {
		on(kind);
		set((settings) -> settings.trim((trim) -> trim.maxMessages(8)));
		Conversations process = process(Trim.keepLastMessages(3));
		Approvals approvals = approvals(process);
		this.model.calls(SessionAdvisorTests.call("c", "gated", "1"));
		gated(process, approvals, "u9");
		approvals.approve(approvals.pending(this.key).get(0), "ada");
		this.model.says("a9");
		gated(process, approvals, null);
		assertThat(this.model.lastRequestLines()).hasSize(7).startsWith("user: u7", "assistant: a7", "user: u8");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void mergeIsGivenTheSameHistoryWhetherOrNotTheProcessKnewTheLimits(TestStores kind) {
		on(kind);
		set((settings) -> settings.limit(6).trim((trim) -> trim.maxMessages(6)));
		List<List<String>> given = new ArrayList<>();
		for (Trim configured : List.of(Trim.NONE, Trim.keepLastMessages(3), Trim.keepLastMessages(100))) {
			Conversations process = keep(
					Conversations.builder(this.store).trim(configured).merge((context, history, input) -> {
						given.add(Lines.of(history));
						List<Message> all = new ArrayList<>(history);
						all.addAll(input);
						return all;
					}).build());
			for (int i = 0; i < 2; i++) {
				sent(process);
				Conversations.of(this.data).get(this.key).undo(1);
			}
		}
		assertThat(given).hasSize(6).containsOnly(List.of("user: u7", "assistant: a7", "user: u8", "assistant: a8"));
	}

	@ParameterizedTest
	@EnumSource
	void sessionWithoutSummariesIsSummarizedOnRequestOnlyUntilTheyAreOnAgain(Summarize.Mode mode) {
		on(TestStores.MEMORY);
		set((settings) -> settings.summarize(false));
		Conversations process = keep(Conversations.builder(this.store)
			.summarize(Summarize.by(this.summarizer).mode(mode).triggerMessages(4).keepTurns(1).build())
			.build());
		assertThat(sent(process)).isEqualTo(TURNS);
		assertThat(sent(process)).isEqualTo(TURNS + 1);
		assertThat(this.summarizer.prompts()).isEmpty();
		this.summarizer.says("on request");
		assertThat(process.get(this.key).summarize().status()).isEqualTo(Status.SUMMARIZED);
		assertThat(sent(process)).as("the summary that was asked for, and one turn").isEqualTo(2);
		for (int i = 0; i < 4; i++) {
			sent(process);
		}
		assertThat(this.summarizer.prompts()).hasSize(1);
		this.summarizer.says("on again");
		set((settings) -> settings.summarize(true));
		sent(process);
		Awaitility.await().untilAsserted(() -> assertThat(this.summarizer.prompts()).hasSize(2));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void summariesThatAreOnWithoutAModelForThemChangeNothing(TestStores kind) {
		on(kind);
		set((settings) -> settings.summarize(true));
		Conversations process = process(Trim.NONE);
		assertThat(sent(process)).isEqualTo(TURNS);
		assertThat(process.get(this.key).summary()).isEmpty();
	}

	/**
	 * Two processes with other limits, while the session gets others again and again.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void randomLimitsSendWhatASimpleModelSends(TestStores kind) {
		on(kind);
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		System.out.println("SessionLimitsTests: seed " + seed);
		Random random = new Random(seed);
		int turns = TURNS;
		List<Trim> configured = List.of(trim(random), trim(random));
		List<Conversations> processes = configured.stream().map(this::process).toList();
		SessionSettings settings = SessionSettings.NONE;
		for (int i = 0; i < CALLS; i++) {
			if (random.nextInt(3) == 0) {
				SessionSettings changed = settings(random);
				set((before) -> changed);
				settings = changed;
			}
			int process = random.nextInt(2);
			Integer call = orNone(random, random.nextInt(12));
			int expected = expected(turns++, call, settings, configured.get(process));
			assertThat(sent(processes.get(process), (call != null) ? SessionAdvisor.limit(call) : (spec) -> {
			})).as("seed %d, call %d: %s over %s over %s", seed, i, call, settings, configured.get(process))
				.isEqualTo(expected);
		}
	}

	private int expected(int turns, @Nullable Integer call, SessionSettings settings, Trim configured) {
		int question = tokens(new UserMessage("u9"));
		int turn = question + tokens(new AssistantMessage("a9"));
		int limit = first(call, settings.limit(), Integer.MAX_VALUE);
		int maxTurns = first(settings.trim().maxTurns(), configured.maxTurns());
		int maxMessages = first(settings.trim().maxMessages(), configured.maxMessages());
		int maxTokens = first(settings.trim().maxTokens(), configured.maxTokens());
		int sent = 0;
		while (sent < Math.min(turns, maxTurns) && 2 * (sent + 1) <= Math.min(limit, maxMessages - 1)
				&& turn * (sent + 1) + question <= maxTokens) {
			sent++;
		}
		return sent;
	}

	private static int first(@Nullable Integer... values) {
		return Arrays.stream(values).filter((value) -> value != null).findFirst().orElseThrow();
	}

	private static <T> @Nullable T orNone(Random random, T value) {
		return random.nextBoolean() ? value : null;
	}

	private static SessionSettings settings(Random random) {
		return SessionSettings.NONE.limit(orNone(random, random.nextInt(20)))
			.trim((trim) -> trim.maxTurns(orNone(random, random.nextInt(8)))
				.maxMessages(orNone(random, 1 + random.nextInt(20)))
				.maxTokens(orNone(random, 1 + random.nextInt(60))));
	}

	private static Trim trim(Random random) {
		return Trim.keepLastTurns(first(orNone(random, random.nextInt(8)), Integer.MAX_VALUE))
			.maxMessages(first(orNone(random, 1 + random.nextInt(20)), Integer.MAX_VALUE))
			.maxTokens(first(orNone(random, 1 + random.nextInt(60)), Integer.MAX_VALUE));
	}

	private void set(UnaryOperator<SessionSettings> change) {
		Conversations.of(this.data).get(this.key).settings(change);
	}

	private int tokens(Message message) {
		return this.data.options().tokens().applyAsInt(message);
	}

	private Conversations process(Trim configured) {
		return keep(Conversations.builder(this.store).trim(configured).build());
	}

	private Conversations keep(Conversations conversations) {
		this.opened.add(conversations);
		return conversations;
	}

	/** Asks a question, and returns how many turns were sent before it. */
	private int sent(Conversations process, Consumer<ChatClient.AdvisorSpec> more) {
		this.model.says("a9");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(process))
			.build()
			.prompt()
			.user("u9")
			.advisors(SessionAdvisor.session(this.key))
			.advisors(more)
			.call()
			.content();
		return (int) this.model.lastRequest().stream().filter(UserMessage.class::isInstance).count() - 1;
	}

	private int sent(Conversations process) {
		return sent(process, (spec) -> {
		});
	}

	private List<String> callsOf(Conversations process) {
		int before = this.store.calls().size();
		sent(process);
		return this.store.calls().subList(before, this.store.calls().size());
	}

	private static Approvals approvals(Conversations process) {
		return Approvals.builder(process).tools(Set.of("gated")).build();
	}

	private void gated(Conversations process, Approvals approvals, @Nullable String question) {
		ChatClient.ChatClientRequestSpec prompt = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(process).approvals(approvals).build())
			.defaultToolCallbacks(SessionAdvisorTests.echo("gated"))
			.build()
			.prompt()
			.advisors(SessionAdvisor.session(this.key));
		((question != null) ? prompt.user(question) : prompt).call().content();
	}

}
