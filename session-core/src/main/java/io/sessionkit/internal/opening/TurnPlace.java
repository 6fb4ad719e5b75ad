package io.sessionkit.internal.opening;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.message.TurnSplitter;
import io.sessionkit.internal.tree.BranchRecord;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The place at which a turn hangs, and what its commit has to change for that.
 *
 * @param header the header of the session as it was opened; null if there was no session
 * @param seen the same as if the turn before were the head; null if there was no session
 * @param left what the turn leaves when it becomes the head: it takes the place of
 * another turn; null if it leaves nothing
 * @param branch the branch that the turn continues although it is not active; null for
 * the active one
 * @param anew how the session starts anew when the turn becomes the head; null if it does
 * not
 */
public record TurnPlace(@Nullable Session header, @Nullable Session seen, @Nullable LeftTurns left,
		@Nullable BranchRecord branch, @Nullable Anew anew) {

	/**
	 * A new start of a session.
	 *
	 * @param given the history that is still to be stored in front of the turn
	 * @param reset the id of the reset with which the view begins now; null if it begins
	 * otherwise
	 */
	public record Anew(List<Message> given, @Nullable String reset) {
	}

	TurnPlace(@Nullable Session header, @Nullable Session seen, @Nullable LeftTurns left,
			@Nullable BranchRecord branch) {
		this(header, seen, left, branch, null);
	}

	/** Creates the place behind the head. */
	static TurnPlace atHead(@Nullable Session header) {
		return new TurnPlace(header, header, null, null);
	}

	/**
	 * Creates the place behind a history with which the session starts anew.
	 * @param view the session; null if there is none
	 * @param given the history
	 */
	static TurnPlace startingAnew(@Nullable SessionView view, List<Message> given, MessageCodec codec) {
		Session header = (view != null) ? view.session() : null;
		return new TurnPlace(header, header, null, null, new Anew(given, reset(view, codec)));
	}

	/**
	 * Creates the place behind a history that is stored beside the present one.
	 * @param view the session
	 * @param seen its header as if the last turn of that history were the head
	 */
	static TurnPlace startingAnew(SessionView view, Session seen, MessageCodec codec) {
		return new TurnPlace(view.session(), seen, null, null, new Anew(List.of(), reset(view, codec)));
	}

	private static @Nullable String reset(@Nullable SessionView view, MessageCodec codec) {
		SessionRecord summary = (view != null) ? view.summary() : null;
		return (summary != null && Summaries.read(summary, codec).isReset()) ? summary.id() : null;
	}

	/** Returns the same place after a write that has changed nothing but its header. */
	TurnPlace on(@Nullable Session now) {
		return new TurnPlace(now, this.seen, this.left, this.branch, this.anew);
	}

	/** Returns whether the session starts anew when the turn becomes the head. */
	public boolean startsAnew() {
		return this.anew != null;
	}

	/** Returns the history that is still to be stored in front of the turn. */
	public List<Message> given() {
		return (this.anew != null) ? this.anew.given() : List.of();
	}

	/**
	 * Returns the turns of that history.
	 */
	public List<TurnWrite> seed(StoreOptions options) {
		if (given().isEmpty()) {
			return List.of();
		}
		Instant now = options.now();
		Turn.Place place = (this.header != null) ? new Turn.Place(0, this.header.head(), this.header.branch(), 0, 0)
				: new Turn.Place(0, 0, Session.MAIN, 0, 0);
		List<TurnWrite> seed = new ArrayList<>();
		for (List<Message> messages : TurnSplitter.split(given())) {
			Map<String, Object> marks = seed.isEmpty() ? Map.of(Turn.SEEDED, true, Turn.STARTS_ANEW, 0L)
					: Map.of(Turn.SEEDED, true);
			Turn turn = Turn.builder(options.turnIds().get(), now).parameters(marks).build().stored(place);
			seed.add(new TurnWrite(turn, 0, options.items(messages, now)));
		}
		return seed;
	}

	/** Returns whether the turn becomes the head of the active branch. */
	public boolean becomesHead() {
		return this.branch == null;
	}

	/** Returns whether the branch of the turn has become the active one. */
	public boolean isActiveIn(Session now) {
		return this.branch != null && now.branch().equals(this.branch.name());
	}

	/**
	 * Returns whether the turn becomes the head if this branch was the active one when
	 * the session was opened, and only then.
	 */
	boolean fits(String name) {
		boolean active = this.header != null && this.header.branch().equals(name);
		return active == becomesHead();
	}

	/** Returns whether the turn follows the head of the session. */
	public boolean isAtHead() {
		return this.branch == null
				&& (this.header == null || this.seen == null || this.header.head() == this.seen.head());
	}

	/**
	 * Adds the turn to a commit.
	 * @param on the commit, on the header as it is now; null if there is no session
	 * @param attributes the attributes that the turn leaves; null if they are as they
	 * were
	 */
	public Commit commit(Commit on, TurnWrite write, @Nullable Map<String, Object> attributes,
			List<RecordWrite> records, StoreOptions options) {
		MessageCodec codec = options.codec();
		if (this.branch != null && this.header != null) {
			return onBranch(this.branch, this.header, on, write, attributes, records, codec);
		}
		if (startsAnew() && write.turn().status() == TurnStatus.COMPLETED) {
			return anew(on, write, attributes, records, options);
		}
		HeaderChange header = (attributes != null) ? HeaderChange.NONE.attributes(attributes) : HeaderChange.NONE;
		List<RecordWrite> all = new ArrayList<>(records);
		if (write.part() == 0 && this.seen != null && !isAtHead()) {
			// a turn that waits moves the head when it ends, and the store knows where to
			header = write.turn().status().isOpen() ? header : header.head(this.seen.branch(), this.seen.head());
			if (this.left != null) {
				all.add(this.left.write(on.key(), codec));
			}
		}
		return on.turn(write).header(header).records(all);
	}

	/**
	 * A turn that has waited follows its history already. Attributes that were written
	 * before the first turn are then not those of the turn before.
	 */
	private Commit anew(Commit on, TurnWrite write, @Nullable Map<String, Object> attributes, List<RecordWrite> records,
			StoreOptions options) {
		Session before = on.base();
		Commit commit = on.turn(write);
		if (write.part() == 0 && !given().isEmpty()) {
			List<TurnWrite> turns = new ArrayList<>(seed(options));
			turns.add(write);
			commit = on.turns(turns);
		}
		Map<String, Object> kept = (attributes == null && write.part() > 0 && before != null) ? before.attributes()
				: attributes;
		HeaderChange header = (kept != null) ? HeaderChange.NONE.attributes(kept) : HeaderChange.NONE;
		if (before == null || before.head() == 0) {
			return commit.header(header).records(records);
		}
		Summary reset = Summaries.reset(before, List.of(), options);
		List<RecordWrite> all = new ArrayList<>(records);
		all.add(Summaries.write(on.key(), reset, options.codec()));
		if (this.anew != null && before.summaryTurn() == before.head() && this.anew.reset() != null
				&& this.anew.reset().equals(before.summaryId())) {
			// two resets behind one turn would have to be taken back one by one
			all.add(new RecordWrite(SessionStore.SUMMARY, this.anew.reset(), RecordWrite.ANY, null, null));
		}
		return commit.header(header.summary(reset.turn(), reset.id())).records(all);
	}

	/**
	 * The record of the branch names the turn, so its number must be the expected one.
	 */
	private static Commit onBranch(BranchRecord branch, Session header, Commit on, TurnWrite write,
			@Nullable Map<String, Object> attributes, List<RecordWrite> records, MessageCodec codec) {
		TurnWrite beside = (attributes != null) ? write.attributes(attributes).asBeside() : write.asBeside();
		if (write.turn().status().isOpen()) {
			return on.turn(beside).records(records);
		}
		Session now = (on.base() != null) ? on.base() : header;
		long number = (write.part() > 0) ? now.openTurn() : now.turns() + 1;
		List<RecordWrite> all = new ArrayList<>(records);
		all.add(branch.head(number).replace(on.key(), codec));
		return on.turn((write.part() > 0) ? beside : numbered(beside, number)).records(all);
	}

	private static TurnWrite numbered(TurnWrite write, long number) {
		Turn.Place place = write.turn().place();
		return new TurnWrite(
				write.turn()
					.stored(new Turn.Place(number, place.parent(), place.branch(), place.items(), place.tokens())),
				write.part(), write.items(), write.attributes(), write.beside());
	}

}
