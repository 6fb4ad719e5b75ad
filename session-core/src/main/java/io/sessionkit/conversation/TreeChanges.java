package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

import io.sessionkit.NestedTurnException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.tree.BegunRewinds;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import org.jspecify.annotations.Nullable;

/**
 * Changes of the place where a session stands. Each is one read and one commit on what
 * was read; if others write in between, it is planned again.
 */
final class TreeChanges {

	private final SessionKey key;

	private final SessionStore store;

	/** Ends what waits before a change; null to refuse the change then. */
	private final @Nullable Approvals canceller;

	TreeChanges(SessionKey key, SessionStore store, @Nullable Approvals canceller) {
		this.key = key;
		this.store = store;
		this.canceller = canceller;
	}

	/** Returns changes of the same session that end what waits before them. */
	TreeChanges cancelling(Approvals approvals) {
		return new TreeChanges(this.key, this.store, Objects.requireNonNull(approvals, "approvals"));
	}

	/**
	 * A change, and what its caller gets.
	 *
	 * @param header the change of the header; null for no change at all
	 * @param records the records to write with it
	 * @param result the result
	 */
	record Plan<T>(@Nullable HeaderChange header, List<RecordWrite> records, T result) {

		static <T> Plan<T> nothing(T result) {
			return new Plan<>(null, List.of(), result);
		}

		/** Creates a plan that makes a turn the head. */
		static <T> Plan<T> move(String branch, long turn, T result, RecordWrite... records) {
			return new Plan<>(HeaderChange.NONE.head(branch, turn), Arrays.asList(records), result);
		}

		Plan<T> and(RecordWrite record) {
			List<RecordWrite> all = new ArrayList<>(this.records);
			all.add(record);
			return new Plan<>(this.header, all, this.result);
		}

		/** Returns this plan with a summary that is in force after it. */
		Plan<T> with(Summary summary, SessionKey key, MessageCodec codec) {
			HeaderChange before = (this.header != null) ? this.header : HeaderChange.NONE;
			return new Plan<>(before.summary(summary.turn(), summary.id()), this.records, this.result)
				.and(Summaries.write(key, summary, codec));
		}

	}

	SessionKey key() {
		return this.key;
	}

	SessionStore store() {
		return this.store;
	}

	MessageCodec codec() {
		return this.store.options().codec();
	}

	/**
	 * Returns a turn of the active branch.
	 * @param path the path to the head, read with that turn at least
	 * @throws ChangeRefusedException if it is not on the path
	 */
	static Turn onPath(PathView path, long number) {
		Optional<Turn> turn = path.turns().stream().filter((each) -> each.number() == number).findFirst();
		return turn
			.orElseThrow(() -> new ChangeRefusedException(
					"Turn " + number + " of session " + path.session().key() + " is not on the active branch '"
							+ path.session().branch() + "', or was deleted as one of the oldest.",
					Reason.NOT_ON_BRANCH));
	}

	void checkNumber(int turns, String what) {
		if (turns <= 0) {
			throw new IllegalArgumentException(turns + " turns of session " + this.key + " cannot be " + what
					+ ". Name the number of turns, at least 1.");
		}
	}

	SessionNotFoundException notFound() {
		return new SessionNotFoundException("There is no session " + this.key + ", or it has expired.");
	}

	/**
	 * Refuses a change that takes turns from the history, or hides them, whose rewind has
	 * not ended.
	 * @param path the path, read with the records of kind {@link BegunRewinds#KIND}
	 * @param leaving the turns
	 * @throws ChangeRefusedException if the rewind of one of them has not ended
	 */
	void checkRewindsEnded(PathView path, List<Turn> leaving, String what) {
		BegunRewinds.read(path.session().key(), path.records(BegunRewinds.KIND), codec()).check(leaving, what);
	}

	/**
	 * Makes a change.
	 * @param what the change as a past participle, as "undone" in "it cannot be undone"
	 * @param absent supplies the result, or the exception, if the session is absent
	 * @throws NestedTurnException if a turn of the session waits for the code that asks
	 * for the change
	 * @throws TurnOpenException if a turn of the session is open and is not to be
	 * cancelled
	 * @throws SessionConflictException if others kept writing to the session
	 */
	<T> T make(String what, PathQuery query, Supplier<T> absent, Function<PathView, Plan<T>> planner) {
		TurnBinding.checkMoves(new TurnSession(StoreLayer.beneath(this.store), this.key));
		return Attempts.SOME.make(() -> {
			PathView path = this.store.path(this.key, query).orElse(null);
			if (path == null) {
				return Optional.of(absent.get());
			}
			if (isEnded(path.session(), what)) {
				return Optional.empty();
			}
			Plan<T> plan = planner.apply(path);
			return isMade(path, plan) ? Optional.of(plan.result()) : Optional.empty();
		})
			.orElseThrow(() -> new SessionConflictException("Session " + this.key + " could not be " + what
					+ ": others wrote to it all the time. Nothing was changed; try again.", null));
	}

	/**
	 * Ends the open turn of a session, if it has one.
	 * @return whether it had one, so that the session has changed
	 * @throws TurnOpenException if it has one that may not be ended
	 */
	boolean isEnded(Session session, String what) {
		if (this.canceller == null || session.openTurn() == 0) {
			OpenTurn.check(session, what);
			return false;
		}
		this.canceller.turns().cancel(this.key);
		return true;
	}

	private <T> boolean isMade(PathView path, Plan<T> plan) {
		return plan.header() == null
				|| this.store.commit(Commit.on(path.session()).header(plan.header()).records(plan.records()))
					.isStored();
	}

}
