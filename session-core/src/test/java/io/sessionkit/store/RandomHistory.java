package io.sessionkit.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionPausedException;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HistoryModel.ModelItem;
import io.sessionkit.store.HistoryModel.ModelTurn;

import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A random sequence of changes, made to a store and to a model, which must agree after
 * each of them. A failure names the seed; {@code -Dsessionkit.seed} runs it again.
 */
final class RandomHistory {

	private static final int CHANGES = 25;

	private final SessionStore store;

	private final long seed;

	private final Random random;

	private final SessionKey key = SessionStoreFixture.key();

	private final HistoryModel model = new HistoryModel();

	private final List<String> steps = new ArrayList<>();

	private final List<Commit> accepted = new ArrayList<>();

	/** Versions that have passed. */
	private final List<Session> stale = new ArrayList<>();

	/** The newest part of turns that were open, by number. */
	private final Map<Long, TurnWrite> parts = new HashMap<>();

	private int texts;

	RandomHistory(SessionStore store, long seed) {
		this.store = store;
		this.seed = seed;
		this.random = new Random(seed);
	}

	void run() {
		try {
			for (int i = 0; i < CHANGES; i++) {
				change();
				compare();
			}
		}
		catch (AssertionError | RuntimeException ex) {
			throw new AssertionError("The history of seed " + this.seed + " went wrong after " + this.steps, ex);
		}
		this.store.erase(this.key);
	}

	private void change() {
		int dice = this.random.nextInt(100);
		if (dice < 35 || this.model.version == 0) {
			turn();
		}
		else if (dice < 45) {
			sibling();
		}
		else if (dice < 55) {
			continueOpenTurn();
		}
		else if (dice < 67) {
			move();
		}
		else if (dice < 75) {
			pop();
		}
		else if (dice < 82) {
			delete();
		}
		else if (dice < 90) {
			checkpoint();
		}
		else if (dice < 95) {
			repeat();
		}
		else {
			writeStale();
		}
	}

	private void turn() {
		Commit commit = base();
		HeaderChange header = HeaderChange.NONE;
		if (this.model.version > 0 && this.random.nextInt(6) == 0) {
			long target = target();
			header = header.head("branch " + target, target);
			this.model.moveTo("branch " + target, target);
		}
		if (this.random.nextInt(4) == 0) {
			this.model.state = Map.of("step", this.steps.size());
			header = header.state(this.model.state);
		}
		TurnWrite write = SessionStoreFixture.completed(texts());
		this.model.add(this.model.begin(write), write);
		accept("turn " + this.model.turns.size() + " after " + this.model.turn(this.model.head).parent,
				commit.turn(write).header(header), true);
	}

	private void sibling() {
		TurnStatus status = TurnStatus.values()[1 + this.random.nextInt(TurnStatus.values().length - 1)];
		TurnWrite write = SessionStoreFixture.turn(status, this.model.head, texts());
		ModelTurn turn = this.model.begin(write);
		this.model.add(turn, write);
		if (status.isOpen()) {
			this.parts.put(turn.number, write);
		}
		accept(status + " " + turn.number, base().turn(write), false);
	}

	private void continueOpenTurn() {
		long number = this.model.openTurn;
		// where the head has moved on, completing the turn is for the application to
		// judge
		if (number == 0 || this.model.turn(number).parent != this.model.head) {
			return;
		}
		TurnStatus status = List.of(TurnStatus.COMPLETED, TurnStatus.AWAITING_APPROVAL, TurnStatus.CANCELLED)
			.get(this.random.nextInt(3));
		TurnWrite write = SessionStoreFixture.next(Objects.requireNonNull(this.parts.get(number)), status, texts());
		this.parts.put(number, write);
		this.model.add(this.model.turn(number), write);
		accept("part " + write.part() + " of " + number + " " + status, base().turn(write),
				status == TurnStatus.COMPLETED);
	}

	private void move() {
		long target = target();
		String branch = this.random.nextBoolean() ? this.model.branch : "branch " + this.random.nextInt(3);
		this.model.moveTo(branch, target);
		accept("move to " + target, base().header(HeaderChange.NONE.head(branch, target)), true);
	}

	/**
	 * A completed turn that has items, or the beginning.
	 */
	private long target() {
		List<Long> targets = new ArrayList<>(List.of(0L));
		for (ModelTurn turn : this.model.turns) {
			if (turn.status == TurnStatus.COMPLETED && !turn.items.isEmpty()) {
				targets.add(turn.number);
			}
		}
		return targets.get((this.random.nextInt(8) == 0) ? 0 : this.random.nextInt(targets.size()));
	}

	private void pop() {
		if (this.model.openTurn != 0) {
			this.steps.add("pop while turn " + this.model.openTurn + " waits");
			assertThatExceptionOfType(SessionPausedException.class).isThrownBy(() -> this.store.pop(this.key));
			return;
		}
		List<ModelItem> newest = this.model.log(Tail.newest(1));
		if (!newest.isEmpty()) {
			noteVersion();
		}
		this.steps.add("pop " + newest);
		Optional<Message> popped = this.store.pop(this.key);
		assertThat(popped.map(Message::getText)).isEqualTo(newest.stream().map(ModelItem::text).findFirst());
		if (!newest.isEmpty()) {
			this.model.delete(Set.of(newest.get(0).sequence()));
			this.model.version++;
		}
	}

	private void delete() {
		Set<Long> sequences = new HashSet<>();
		for (int i = this.random.nextInt(4); i >= 0; i--) {
			sequences.add(1 + (long) this.random.nextInt((int) this.model.items + 1));
		}
		ModelTurn any = this.model.turn(1 + this.random.nextInt(this.model.turns.size()));
		any.items.forEach((item) -> sequences.add(item.sequence()));
		Commit commit = base().delete(sequences);
		// a commit that finds nothing to delete may raise the version or not
		boolean deletes = HistoryModel.items(this.model.turns)
			.stream()
			.anyMatch((item) -> sequences.contains(item.sequence()));
		if (deletes) {
			this.model.delete(sequences);
			accept("delete " + sequences, commit, true);
		}
	}

	private void checkpoint() {
		List<ModelTurn> path = this.model.path();
		int choice = this.random.nextInt(path.size() + 1);
		long turn = (choice > 0) ? path.get(choice - 1).number : 0;
		String id = "summary " + this.steps.size();
		this.model.checkpoint = turn;
		this.model.checkpointId = (turn > 0) ? id : null;
		this.model.keepAtHead();
		accept("checkpoint " + turn, base().header(HeaderChange.NONE.checkpoint(turn, id))
			.records(List.of(RecordWrite.create(SessionStore.CHECKPOINT, id, "text of " + id))), true);
	}

	private void repeat() {
		Commit before = this.accepted.get(this.random.nextInt(this.accepted.size()));
		if (before.turn() != null) {
			this.steps.add("repeat " + before.turn().turn().id());
			assertThat(this.store.commit(before).outcome()).isEqualTo(Outcome.REPEATED);
		}
	}

	private void writeStale() {
		if (!this.stale.isEmpty()) {
			this.steps.add("stale");
			Session base = this.stale.get(this.random.nextInt(this.stale.size()));
			Commit commit = Commit.on(base).turn(SessionStoreFixture.completed("stale"));
			assertThat(this.store.commit(commit).outcome()).isEqualTo(Outcome.CONFLICT);
		}
	}

	private void accept(String step, Commit commit, boolean raisesVersion) {
		this.steps.add(step);
		if (raisesVersion) {
			noteVersion();
		}
		CommitResult result = this.store.commit(commit);
		if (raisesVersion || this.model.version == 0) {
			this.model.version++;
		}
		this.accepted.add(commit);
		assertThat(result.outcome()).isEqualTo(Outcome.COMMITTED);
		assertThat(result.version()).isEqualTo(this.model.version);
		if (commit.turn() != null && !commit.turn().items().isEmpty()) {
			assertThat(result.firstItem()).isEqualTo(this.model.items - commit.turn().items().size() + 1);
		}
	}

	private void noteVersion() {
		this.store.find(this.key).ifPresent(this.stale::add);
	}

	private Commit base() {
		Optional<Session> session = this.store.find(this.key);
		if (this.random.nextBoolean()) {
			return Commit.any(this.key);
		}
		return session.map(Commit::on).orElseGet(() -> Commit.first(this.key));
	}

	private String[] texts() {
		String[] texts = new String[1 + this.random.nextInt(4)];
		for (int i = 0; i < texts.length; i++) {
			texts[i] = "text " + (++this.texts);
		}
		return texts;
	}

	private void compare() {
		Window window = window();
		SessionView view = this.store.open(this.key, window).orElseThrow();
		compareHeader(view.session());
		assertThat(view.items().stream().map(ModelItem::of).toList()).as("%s", window)
			.isEqualTo(this.model.view(window));
		if (!window.isEmpty()) {
			assertThat((view.checkpoint() != null) ? view.checkpoint().id() : null).isEqualTo(this.model.checkpointId);
		}
		Tail tail = tail();
		assertThat(this.store.items(this.key, tail).stream().map(ModelItem::of).toList()).as("%s", tail)
			.isEqualTo(this.model.log(tail));
		compareTurns();
	}

	private void compareHeader(Session session) {
		assertThat(session.version()).as("version").isEqualTo(this.model.version);
		assertThat(session.turns()).as("turns").isEqualTo(this.model.turns.size());
		assertThat(session.items()).as("items").isEqualTo(this.model.items);
		assertThat(session.branch()).as("branch").isEqualTo(this.model.branch);
		assertThat(session.head()).as("head").isEqualTo(this.model.head);
		assertThat(session.openTurn()).as("open turn").isEqualTo(this.model.openTurn);
		assertThat(session.checkpoint()).as("checkpoint").isEqualTo(this.model.checkpoint);
		assertThat(session.checkpointId()).as("checkpoint id").isEqualTo(this.model.checkpointId);
		assertThat(session.totals()).as("totals").isEqualTo(this.model.totals());
		assertThat(session.state()).as("state").isEqualTo(this.model.state);
	}

	private void compareTurns() {
		int limit = this.random.nextInt(5);
		List<Turn> turns = this.store.turns(this.key, Tail.newest(limit));
		assertThat(turns).hasSize(Math.min(limit, this.model.turns.size()));
		for (Turn turn : turns) {
			ModelTurn expected = this.model.turn(turn.number());
			assertThat(turn.parent()).as("parent of %s", turn.number()).isEqualTo(expected.parent);
			assertThat(turn.status()).as("status of %s", turn.number()).isEqualTo(expected.status);
			assertThat(turn.items()).as("items of %s", turn.number()).isEqualTo(expected.items.size());
		}
		long number = 1 + this.random.nextInt(this.model.turns.size());
		assertThat(this.store.items(this.key, number).stream().map(ModelItem::of).toList()).as("items of %s", number)
			.isEqualTo(this.model.turn(number).items);
	}

	private Window window() {
		return switch (this.random.nextInt(4)) {
			case 0 -> Window.ALL;
			case 1 -> Window.turns(this.random.nextInt(6));
			case 2 -> Window.items(this.random.nextInt(12));
			default -> new Window(this.random.nextInt(6), this.random.nextInt(12));
		};
	}

	private Tail tail() {
		return switch (this.random.nextInt(3)) {
			case 0 -> Tail.ALL;
			case 1 -> Tail.newest(this.random.nextInt(10));
			default -> new Tail(this.random.nextInt((int) this.model.items + 2), this.random.nextInt(10));
		};
	}

}
