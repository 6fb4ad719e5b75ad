package io.sessionkit.conversation;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings.RetentionSettings;
import io.sessionkit.Turn;
import io.sessionkit.context.SentHistory;
import io.sessionkit.conversation.TimeModel.ModelTurn;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The steps of a {@link TimeProgram} on retention: limits, days that pass, and the
 * snapshots of the turns that are left.
 */
final class RetentionSteps {

	/** So many snapshots are compared at a time. */
	private static final int SNAPSHOTS = 6;

	private final Conversation thread;

	private final Random random;

	private final @Nullable ShiftedClock clock;

	/** Half of the programs keep everything, so that their sessions get long. */
	private final boolean deletes;

	RetentionSteps(Conversations conversations, SessionKey key, Random random, @Nullable ShiftedClock clock,
			boolean deletes) {
		this.thread = conversations.get(key);
		this.random = random;
		this.clock = clock;
		this.deletes = deletes;
	}

	/** Returns whether settings change at this moment. */
	boolean isChanged() {
		return this.random.nextInt(this.deletes ? 15 : 40) == 0;
	}

	/** Returns what the session is to keep from now on. */
	RetentionSettings limits() {
		if (!this.deletes || this.random.nextInt(6) == 0) {
			return RetentionSettings.NONE;
		}
		RetentionSettings turns = RetentionSettings.NONE.maxTurns(1 + this.random.nextInt(8));
		// never the same time as that of a turn
		return (this.clock != null && this.random.nextBoolean())
				? turns.maxAge(Duration.ofDays(1 + this.random.nextInt(12)).plusHours(12)) : turns;
	}

	/** Returns the day, which may be a later one than before. */
	long today() {
		if (this.clock == null) {
			return 0;
		}
		if (this.random.nextInt(4) == 0) {
			this.clock.pass(1 + this.random.nextInt(2));
		}
		return this.clock.days();
	}

	/** Compares the snapshots of some turns with what the model was sent. */
	void compareSnapshots(TimeModel model) {
		for (int i = 0; i < Math.min(SNAPSHOTS, model.turns.size()); i++) {
			ModelTurn turn = model.turns.get(this.random.nextInt(model.turns.size()));
			Optional<SentHistory> shown = this.thread.snapshot(turn.number);
			assertThat(shown.isPresent()).as("turn " + turn.number + " has a snapshot").isEqualTo(turn.sent != null);
			shown.ifPresent((snapshot) -> compare(snapshot, turn));
		}
	}

	private static void compare(SentHistory shown, ModelTurn turn) {
		List<String> texts = TimeProgram.texts(shown.messages());
		if (turn.lost) {
			assertThat(turn.sent).as("snapshot of " + turn.number).hasSize(texts.size() + shown.missing());
			assertThat(isSubsequence(texts, turn.sent)).as("snapshot of " + turn.number + ": " + texts).isTrue();
		}
		else {
			assertThat(texts).as("snapshot of " + turn.number).isEqualTo(turn.sent);
			assertThat(shown.isComplete()).as("snapshot of " + turn.number + " is complete").isTrue();
		}
	}

	private static boolean isSubsequence(List<String> texts, List<String> of) {
		Iterator<String> rest = of.iterator();
		return texts.stream().allMatch((text) -> {
			while (rest.hasNext()) {
				if (rest.next().equals(text)) {
					return true;
				}
			}
			return false;
		});
	}

	/**
	 * Compares the snapshots of a copy with those of the session.
	 * @param turns the turns with messages of the session
	 */
	void compareFork(Conversation copy, List<Long> turns) {
		List<Long> copied = copy.turns(Tail.ALL).stream().filter((turn) -> turn.items() > 0).map(Turn::number).toList();
		assertThat(copied).as("turns of the copy").hasSameSizeAs(turns);
		for (int i = 0; i < Math.min(SNAPSHOTS, turns.size()); i++) {
			int index = this.random.nextInt(turns.size());
			Optional<SentHistory> original = this.thread.snapshot(turns.get(index));
			Optional<SentHistory> shown = copy.snapshot(copied.get(index));
			assertThat(shown.map((each) -> TimeProgram.texts(each.messages())))
				.as("snapshot of " + turns.get(index) + " in the copy")
				.isEqualTo(original.map((each) -> TimeProgram.texts(each.messages())));
			assertThat(shown.map(SentHistory::missing)).as("missing of " + turns.get(index) + " in the copy")
				.isEqualTo(original.map(SentHistory::missing));
		}
	}

}
