package io.sessionkit.conversation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.ViewTotals;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Retention;
import io.sessionkit.conversation.TimeModel.ModelTurn;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ValidSequence;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * A random sequence of turns, moves, branches and deletions on one session, half of the
 * time with limits on what it keeps, compared with a {@link TimeModel} after each step.
 */
final class TimeProgram {

	private static final int STEPS_SHOWN = 40;

	/** So many steps are between two comparisons of everything. */
	private static final int WHOLE = 25;

	/** So many results of tools are sent again. */
	private static final int KEPT_RESULTS = 2;

	/** Longer than what takes its place. */
	private static final String LONG = "x".repeat(2 * Prune.PLACEHOLDER.length());

	/** So a text begins that a tool has returned. */
	private static final String RESULT = "result: ";

	private final SessionStore store;

	private final long seed;

	private final Random random;

	private final Conversations conversations;

	private final Approvals approvals;

	private final ScriptedChatModel chatModel = new ScriptedChatModel();

	private final ChatClient chat;

	private final SessionKey key = SessionKey.of("time", UUID.randomUUID().toString());

	private final Conversation thread;

	private final List<String> steps = new ArrayList<>();

	private final OrderSteps order;

	private final RetentionSteps retention;

	private TimeModel model = new TimeModel();

	private int said;

	/**
	 * Creates a program.
	 * @param clock the clock of the store; null if it has one of its own, in which case
	 * turns do not get old
	 */
	TimeProgram(SessionStore store, @Nullable ShiftedClock clock, long seed) {
		this.store = store;
		this.seed = seed;
		this.random = new Random(seed);
		this.conversations = Conversations.builder(store)
			.prune(Prune.keepLastToolResults(KEPT_RESULTS))
			.retention(Retention.NONE.batch(1))
			.build();
		this.thread = this.conversations.get(this.key);
		this.approvals = Approvals.builder(this.conversations).tools(Set.of("gated")).build();
		this.chat = ChatClient.builder(this.chatModel)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.defaultToolCallbacks(tool("gated"), tool("look"))
			.build();
		this.order = new OrderSteps(this, this.chatModel, this.random);
		// the first random numbers of seeds that follow one another are alike
		boolean deletes = seed % 2 == 0;
		this.retention = new RetentionSteps(this.conversations, this.key, this.random, clock, deletes);
	}

	record Order(int id) {
	}

	private static ToolCallback tool(String name) {
		return FunctionToolCallback.builder(name, (Order order) -> name + LONG)
			.description(name)
			.inputType(Order.class)
			.build();
	}

	void run(int operations) {
		try {
			for (int i = 0; i < operations; i++) {
				this.model.day = this.retention.today();
				if (this.retention.isChanged()) {
					set();
				}
				step(this.random.nextInt(100));
				compare(i % WHOLE == 0);
			}
			compare(true);
			for (Prompt prompt : this.chatModel.prompts()) {
				assertThat(ValidSequence.faults(prompt.getInstructions())).isEmpty();
			}
		}
		catch (AssertionError | RuntimeException ex) {
			List<String> last = this.steps.subList(Math.max(0, this.steps.size() - STEPS_SHOWN), this.steps.size());
			throw new AssertionError("The program of seed " + this.seed + " went wrong in step " + this.steps.size()
					+ ": " + ex.getMessage() + "\nThe last steps were\n" + String.join("\n", last), ex);
		}
		finally {
			this.store.erase(this.key);
			this.conversations.close();
		}
	}

	private void step(int dice) {
		if (this.model.turns.isEmpty() && dice < 50) {
			seed();
		}
		else if (this.model.turns.isEmpty() || dice < 20) {
			ask();
		}
		else if (dice < 25) {
			this.order.step();
		}
		else if (dice < 33) {
			edit();
		}
		else if (dice < 38) {
			regenerate();
		}
		else if (dice < 41) {
			fail();
		}
		else if (dice < 51) {
			undo();
		}
		else if (dice < 59) {
			redo();
		}
		else if (dice < 63) {
			choose();
		}
		else if (dice < 67) {
			branch();
		}
		else if (dice < 68) {
			branchFromContent();
		}
		else if (dice < 73) {
			switchTo();
		}
		else if (dice < 78) {
			askOnBranch();
		}
		else if (dice < 80) {
			deleteBranch();
		}
		else if (dice < 84) {
			put();
		}
		else if (dice < 87) {
			delete();
		}
		else if (dice < 91) {
			summarize();
		}
		else if (dice < 93) {
			reset();
		}
		else if (dice < 95) {
			add();
		}
		else if (dice < 97) {
			adopt();
		}
		else if (dice < 99) {
			fork();
		}
		else {
			end();
		}
	}

	private void seed() {
		this.steps.add("seed");
		int number = ++this.said;
		this.thread.seed(SessionStoreFixture.batch("s" + number, "r" + number, "s2" + number, "r2" + number));
		for (String each : List.of("", "2")) {
			this.model.add(this.model.head(), this.model.active, true,
					List.of("s" + each + number, "r" + each + number)).seeded = true;
		}
	}

	/** Ends the session by erasing it, or by its time to live. */
	private void end() {
		if (this.random.nextBoolean()) {
			this.steps.add("erase");
			boolean isThere = this.store.find(this.key).isPresent();
			assertThat(this.thread.erase()).isEqualTo(isThere);
		}
		else {
			this.steps.add("expire");
			this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.timeToLive(Duration.ofMillis(2))));
			await().atMost(10, TimeUnit.SECONDS)
				.pollDelay(Duration.ofMillis(3))
				.pollInterval(Duration.ofMillis(1))
				.until(() -> this.store.find(this.key).isEmpty());
		}
		this.model = new TimeModel();
	}

	private void ask() {
		long head = this.model.head();
		String branch = this.model.active;
		String question = question();
		this.steps.add("ask " + question);
		call(head, branch, List.of(question), question, (advisors) -> {
		});
	}

	private void edit() {
		List<Long> path = this.model.left();
		if (path.isEmpty()) {
			return;
		}
		ModelTurn turn = Objects.requireNonNull(this.model.find(oneOf(path)));
		String question = question();
		this.steps.add("edit " + turn.number + " as " + question);
		inPlaceOf(turn, List.of(question), question, SessionAdvisor.editing(turn.number));
	}

	private void regenerate() {
		List<Long> path = this.model.left();
		ModelTurn turn = path.isEmpty() ? null : this.model.find(oneOf(path));
		if (turn == null || !turn.isFilled()) {
			return;
		}
		this.steps.add("regenerate " + turn.number);
		inPlaceOf(turn, List.of(turn.texts.get(0)), null, SessionAdvisor.regenerating(turn.number));
	}

	private void inPlaceOf(ModelTurn turn, List<String> question, String text, Consumer<AdvisorSpec> place) {
		long before = this.model.turns.size();
		long parent = turn.parent;
		Runnable moves = () -> {
			this.model.leave(parent);
			this.model.heads.put(this.model.active, parent);
			this.model.attributes = (this.model.find(parent) != null) ? this.model.find(parent).attributes : Map.of();
		};
		TimeModel now = this.model;
		List<String> view = now.view(parent);
		String branch = now.active;
		call(view, () -> {
			moves.run();
			return now.add(parent, branch, true, List.of());
		}, question, text, place);
		assertThat(this.model.turns).hasSize((int) before + 1);
	}

	private void askOnBranch() {
		String branch = oneOf(List.copyOf(this.model.heads.keySet()));
		String question = question();
		this.steps.add("ask " + question + " on " + branch);
		call(this.model.heads.get(branch), branch, List.of(question), question, SessionAdvisor.branch(branch));
	}

	private void call(long parent, String branch, List<String> question, String text, Consumer<AdvisorSpec> place) {
		call(this.model.view(parent), () -> this.model.add(parent, branch, true, List.of()), question, text, place);
	}

	/**
	 * Makes a call, which may run a tool, or wait for a person and then continue or be
	 * cancelled.
	 */
	private void call(List<String> view, Supplier<ModelTurn> added, List<String> question, String text,
			Consumer<AdvisorSpec> place) {
		int kind = this.random.nextInt(8);
		int requests = this.chatModel.prompts().size();
		String answer = "a" + this.said;
		if (kind < 2) {
			this.chatModel
				.calls(new ToolCall("c" + this.said, "function", (kind == 0) ? "look" : "gated", "{\"id\":1}"));
		}
		boolean waits = kind == 1;
		if (!waits) {
			this.chatModel.says(answer);
		}
		spec(text, place);
		assertThat(texts(this.chatModel.prompts().get(requests).getInstructions())).as("request")
			.isEqualTo(joined(pruned(view), question));
		if (waits) {
			decide(answer);
		}
		ModelTurn turn = added.get();
		turn.texts = this.store.items(this.key, turn.number)
			.stream()
			.map(SessionItem::message)
			.map(TimeProgram::text)
			.toList();
		assertThat(turn.texts).startsWith(question.get(0));
		turn.sent = pruned(view);
		if (turn.number == this.model.head()) {
			this.model.retain();
		}
	}

	private void decide(String answer) {
		List<ToolApproval> pending = this.approvals.pending(this.key);
		assertThat(pending).hasSize(1);
		refuseMoves();
		if (this.random.nextInt(3) == 0) {
			this.steps.add("cancel");
			assertThat(this.approvals.cancel(this.key)).hasSize(1);
			return;
		}
		this.approvals.approve(pending.get(0), "ada");
		this.chatModel.says(answer);
		spec(null, (advisors) -> {
		});
	}

	/** A search for a question comes before the refusal, so it has to find one. */
	private void refuseMoves() {
		List<Long> filled = this.model.filled(this.model.head());
		Moves.of(this.thread, filled.isEmpty() ? "none" : firstText(filled.get(0))).forEach((move, call) -> {
			if (!filled.isEmpty() || !move.contains("branchFromContent")) {
				assertThatExceptionOfType(TurnOpenException.class).as(move).isThrownBy(call);
			}
		});
	}

	private String firstText(long turn) {
		return Objects.requireNonNull(this.model.find(turn)).texts.get(0);
	}

	/**
	 * Returns a call on the session, which is not made yet.
	 * @param text the question; null for none
	 */
	ChatClient.ChatClientRequestSpec asked(String text, Consumer<AdvisorSpec> advisors) {
		ChatClient.ChatClientRequestSpec spec = this.chat.prompt()
			.advisors(SessionAdvisor.session(this.key).andThen(advisors));
		return (text != null) ? spec.user(text) : spec;
	}

	/** Checks that a call was sent the history of the head, and its question. */
	void sent(List<Message> request, String question) {
		assertThat(texts(request)).as("request")
			.isEqualTo(joined(pruned(this.model.view(this.model.head())), List.of(question)));
	}

	/** Checks what a call on a child session was sent. */
	void sentInChild(List<Message> request, List<String> child, String question, boolean readsParent) {
		List<String> front = readsParent ? pruned(this.model.view(this.model.head())) : List.of();
		assertThat(texts(request)).as("request of the child")
			.isEqualTo(joined(joined(front, child), List.of(question)));
	}

	void eraseChildren() {
		this.thread.eraseChildren();
		assertThat(this.thread.children()).isEmpty();
	}

	void snapshot(long turn, List<String> expected) {
		assertThat(texts(this.thread.snapshot(turn).orElseThrow().messages())).as("snapshot of " + turn)
			.isEqualTo(expected);
	}

	/**
	 * Goes on after a turn at the head.
	 * @param sent the history that the model was sent
	 */
	void added(List<String> sent, List<String> texts) {
		this.model.add(this.model.head(), this.model.active, true, texts).sent = sent;
		this.model.retain();
	}

	/**
	 * Goes on after calls that were answered one after the other. One of them may have
	 * read the history before the turns are gone that those before it have pushed out.
	 * @param texts what was said in the turn of a request
	 */
	void answered(List<Prompt> prompts, Function<Prompt, List<String>> texts) {
		Set<Long> first = new TreeSet<>(Set.of(this.model.first));
		for (Prompt prompt : prompts) {
			long head = this.model.head();
			List<String> request = texts(prompt.getInstructions());
			List<String> sent = request.subList(0, request.size() - 1);
			assertThat(sent).as("history of the request")
				.isIn(first.stream().map((each) -> pruned(this.model.view(head, each))).toList());
			this.model.add(head, this.model.active, true, texts.apply(prompt)).sent = sent;
			first.add(this.model.firstToStay());
		}
		this.model.retain();
	}

	/**
	 * Goes on after a turn at the head that has run a tool.
	 * @param texts what was said in it, in this order
	 */
	void addedAsStored(long turn, List<String> texts) {
		List<String> sent = pruned(this.model.view(this.model.head()));
		List<String> stored = texts(this.store.items(this.key, turn).stream().map(SessionItem::message).toList());
		assertThat(stored).as("turn " + turn).containsSubsequence(texts).hasSize(texts.size() + 2);
		added(sent, stored);
	}

	ToolCall look(String question) {
		return new ToolCall("c" + question.substring(1), "function", "look", "{\"id\":1}");
	}

	/** Waits until so many calls stand in line on the session. */
	void awaitInLine(int calls) {
		await().atMost(30, TimeUnit.SECONDS)
			.pollInterval(Duration.ofMillis(2))
			.until(() -> this.store.records(this.key, "line")
				.stream()
				.map((line) -> this.store.options().codec().decodeValues(this.key, line.payload()).get("tickets"))
				.anyMatch((tickets) -> tickets instanceof Collection<?> all && all.size() == calls));
	}

	/**
	 * Goes on after a call that has failed.
	 * @param sent the history that the model was sent
	 */
	void failed(List<String> sent, String question) {
		this.model.add(this.model.head(), this.model.active, false, List.of(question)).sent = sent;
	}

	/** Goes on after a call with which the session has started anew. */
	void replaced(List<String> history, List<String> texts) {
		this.model.replace(history, texts).sent = history;
		this.model.retain();
	}

	private void spec(String text, Consumer<AdvisorSpec> place) {
		ChatClient.ChatClientRequestSpec asked = asked(text, place);
		ChatResponse response = this.random.nextBoolean() ? asked.call().chatResponse()
				: asked.stream().chatResponse().blockLast();
		assertThat(response).isNotNull();
	}

	private void fail() {
		String question = question();
		this.steps.add("fail " + question);
		this.chatModel.fails(new IllegalStateException("down"));
		assertThatThrownBy(() -> spec(question, (advisors) -> {
		})).isInstanceOf(IllegalStateException.class);
		failed(pruned(this.model.view(this.model.head())), question);
	}

	private void undo() {
		int turns = 1 + this.random.nextInt(4);
		this.steps.add("undo " + turns);
		assertThat(numbers(this.thread.undo(turns))).isEqualTo(this.model.undo(turns));
	}

	private void redo() {
		int turns = 1 + this.random.nextInt(4);
		this.steps.add("redo " + turns);
		assertThat(numbers(this.thread.redo(turns))).isEqualTo(this.model.redo(turns));
	}

	private void choose() {
		List<Long> path = this.model.left();
		if (path.isEmpty()) {
			return;
		}
		long turn = oneOf(path);
		List<Long> siblings = this.model.siblings(turn);
		assertThat(numbers(this.thread.siblings(turn))).isEqualTo(siblings);
		Map<Long, Set<Long>> all = this.model.siblings();
		this.thread.siblings().forEach((fork, left) -> assertThat(all.remove(fork)).containsExactlyElementsOf(left));
		assertThat(all).isEmpty();
		// if retention has deleted the turns before, nobody knows at which turn the paths
		// part
		List<Long> left = (this.model.first == 1)
				? this.model.siblings().values().stream().flatMap(Set::stream).toList() : List.of();
		long chosen = oneOf((left.isEmpty() || this.random.nextBoolean()) ? siblings : left);
		this.steps.add("choose " + chosen + " of " + siblings);
		this.thread.choose(chosen);
		this.model.choose(chosen);
	}

	private void branch() {
		List<Long> path = this.model.left();
		String name = "b" + ++this.said;
		if (path.isEmpty() || this.random.nextBoolean()) {
			this.steps.add("branch " + name);
			this.thread.branch(name);
			this.model.branch(name, this.model.head());
		}
		else {
			long from = oneOf(path);
			this.steps.add("branch " + name + " from " + from);
			this.thread.branch(name, from);
			this.model.branch(name, Objects.requireNonNull(this.model.find(from)).parent);
		}
	}

	private void branchFromContent() {
		List<Long> filled = this.model.filled(this.model.head());
		if (filled.isEmpty()) {
			return;
		}
		String text = firstText(oneOf(filled));
		String name = "b" + ++this.said;
		this.steps.add("branch " + name + " from the first question with " + text);
		this.thread.branchFromContent(name, text);
		this.model.branch(name, this.model.firstWith(text).parent);
	}

	private void switchTo() {
		String name = oneOf(List.copyOf(this.model.heads.keySet()));
		this.steps.add("switch to " + name);
		this.thread.switchTo(name);
		this.model.switchTo(name);
	}

	private void deleteBranch() {
		String name = oneOf(List.copyOf(this.model.heads.keySet()));
		if (!name.equals(Session.MAIN)) {
			this.steps.add("delete branch " + name);
			this.thread.deleteBranch(name, true);
			this.model.deleteBranch(name);
		}
	}

	private void put() {
		String name = "n" + this.random.nextInt(3);
		this.steps.add("put " + name);
		this.thread.putAttribute(name, this.said);
		this.model.put(this.model.with(name, this.said));
	}

	/** Settings that change nothing of what is sent of the turns that are left. */
	private void set() {
		Boolean summarize = this.random.nextBoolean() ? this.random.nextBoolean() : null;
		Integer turns = this.random.nextBoolean() ? Integer.MAX_VALUE : null;
		SessionSettings wanted = SessionSettings.NONE.summarize(summarize)
			.trim((trim) -> trim.maxTurns(turns))
			.retention((own) -> this.retention.limits());
		if (!this.model.turns.isEmpty()) {
			this.thread.settings((settings) -> wanted);
			this.model.settings = wanted;
			this.steps.add("set " + wanted.retention());
		}
	}

	private void delete() {
		long number = 1 + this.random.nextInt(this.model.turns.size());
		this.steps.add("delete " + number);
		this.thread.delete(number);
		this.model.delete(number);
	}

	/** Up to a turn that has messages: no summary ends with one that has none. */
	private void summarize() {
		List<Long> path = this.model.filled(this.model.head());
		if (path.isEmpty()) {
			return;
		}
		long turn = oneOf(path);
		if (turn <= this.model.covered(this.model.head())) {
			return;
		}
		this.steps.add("summarize " + turn);
		Summary summary = new Summary("s" + ++this.said, turn, 0, ViewTotals.NONE, "summary " + this.said, List.of(),
				new Summary.Origin(null, TokenUsage.NONE, Instant.EPOCH));
		assertThat(this.store
			.commit(Commit.on(this.store.find(this.key).orElseThrow())
				.header(HeaderChange.NONE.summary(turn, summary.id()))
				.records(List.of(Summaries.write(this.key, summary, this.store.options().codec()))))
			.isStored()).isTrue();
		this.model.summaries.put(turn, summary.text());
	}

	private void reset() {
		if (isGone()) {
			return;
		}
		this.steps.add("reset");
		this.thread.reset();
		if (this.model.head() > 0) {
			this.model.reset();
		}
		if (this.random.nextBoolean()) {
			undo();
		}
	}

	/**
	 * Returns whether retention has deleted all turns of the active branch. It is not
	 * promised whether branches that share them see what is reset there.
	 */
	boolean isGone() {
		return this.model.head() > 0 && this.model.filled(this.model.head()).isEmpty();
	}

	private void add() {
		this.steps.add("add");
		int number = ++this.said;
		List<Message> messages = SessionStoreFixture.batch("p" + number, "r" + number, "p2" + number, "r2" + number);
		this.store.add(this.key, messages);
		this.model.add(this.model.head(), this.model.active, true, List.of("p" + number, "r" + number));
		this.model.add(this.model.head(), this.model.active, true, List.of("p2" + number, "r2" + number));
	}

	/** Of a turn of another way, which a copy of it makes part of this one. */
	private void adopt() {
		List<Long> path = this.model.path(this.model.head());
		Set<Long> originals = path.stream()
			.map(this.model::find)
			.filter(ModelTurn::isFilled)
			.map((turn) -> turn.original)
			.collect(Collectors.toSet());
		List<ModelTurn> others = this.model.turns.stream()
			.filter((turn) -> turn.history && !path.contains(turn.number) && isAnswered(turn))
			.filter((turn) -> !originals.contains(turn.original))
			.toList();
		if (others.isEmpty()) {
			return;
		}
		ModelTurn turn = oneOf(others);
		this.steps.add("adopt " + turn.number);
		assertThat(this.thread.adopt(turn.number).number()).isEqualTo(this.model.turns.size() + 1L);
		ModelTurn copy = this.model.add(this.model.head(), this.model.active, true, turn.texts);
		copy.seeded = turn.seeded;
		copy.original = turn.original;
	}

	/** A turn that was cancelled while it waited has results, and no answer. */
	private static boolean isAnswered(ModelTurn turn) {
		String last = turn.texts.isEmpty() ? "" : turn.texts.get(turn.texts.size() - 1);
		return last.matches("[ar]\\d+");
	}

	private void fork() {
		SessionKey to = SessionKey.of("time", UUID.randomUUID().toString());
		this.steps.add("fork");
		Conversation copy = this.thread.fork(to);
		assertThat(texts(copy.messages())).isEqualTo(this.model.log());
		assertThat(texts(copy.view())).isEqualTo(this.model.view(this.model.head()));
		assertThat(copy.attributes()).isEqualTo(this.model.attributes);
		assertThat(copy.settings()).isEqualTo(this.model.settings);
		assertThat(copy.forkedFrom()).contains(this.key);
		this.retention.compareFork(copy, this.model.filled(this.model.head()));
		copy.erase();
	}

	private void compare(boolean whole) {
		Session session = this.store.find(this.key).orElse(null);
		if (session == null) {
			assertThat(this.model.turns).isEmpty();
			return;
		}
		assertThat(session.branch()).isEqualTo(this.model.active);
		assertThat(session.head()).as("head").isEqualTo(this.model.head());
		assertThat(session.attributes()).as("attributes").isEqualTo(this.model.attributes);
		assertThat(session.settings()).as("settings").isEqualTo(this.model.settings);
		assertThat(session.openTurn()).isZero();
		assertThat(session.totals().turns()).as("turns of the view").isEqualTo(this.model.turnsInView());
		if (whole) {
			this.retention.compareSnapshots(this.model);
			assertThat(texts(this.thread.messages())).as("log").isEqualTo(this.model.log());
			assertThat(texts(this.thread.view())).as("view").isEqualTo(this.model.view(this.model.head()));
			assertThat(numbers(this.store.turns(this.key, Tail.ALL))).hasSize(this.model.turns.size());
			Map<String, Branch.Size> sizes = this.thread.branchSizes();
			for (Branch branch : this.thread.branches()) {
				assertThat(branch.head()).as(branch.name()).isEqualTo(this.model.heads.get(branch.name()));
				assertThat(sizes.get(branch.name()).turns()).isEqualTo(this.model.filled(branch.head()).size());
			}
			assertThat(this.thread.branches()).hasSize(this.model.heads.size());
		}
	}

	private String question() {
		return "q" + ++this.said;
	}

	/** Returns a new question, for a step that begins with it. */
	String question(String step) {
		String question = question();
		this.steps.add(step + question);
		return question;
	}

	private <T> T oneOf(List<T> of) {
		return of.get(this.random.nextInt(of.size()));
	}

	private static List<String> joined(List<String> one, List<String> other) {
		List<String> joined = new ArrayList<>(one);
		joined.addAll(other);
		return joined;
	}

	/** Returns a view as it is sent: without the older results of tools. */
	private static List<String> pruned(List<String> view) {
		List<String> pruned = new ArrayList<>(view);
		int results = 0;
		for (int i = pruned.size() - 1; i >= 0; i--) {
			boolean isResult = pruned.get(i).startsWith(RESULT);
			if (isResult && results >= KEPT_RESULTS && pruned.get(i).length() > LONG.length()) {
				pruned.set(i, RESULT + Prune.PLACEHOLDER);
			}
			results += isResult ? 1 : 0;
		}
		return pruned;
	}

	static String text(Message message) {
		return (message instanceof ToolResponseMessage results) ? RESULT + results.getResponses().get(0).responseData()
				: message.getText();
	}

	static List<String> texts(List<Message> messages) {
		return messages.stream().map(TimeProgram::text).toList();
	}

	private static List<Long> numbers(List<Turn> turns) {
		return turns.stream().map(Turn::number).toList();
	}

}
