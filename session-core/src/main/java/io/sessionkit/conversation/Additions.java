package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.message.Replies;
import io.sessionkit.internal.message.TurnSplitter;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Adds turns to a session that no call on it has made.
 */
final class Additions {

	private final SessionKey key;

	private final SessionStore store;

	Additions(SessionKey key, SessionStore store) {
		this.key = key;
		this.store = store;
	}

	List<Turn> seed(List<? extends Message> messages) {
		checkWhole(messages);
		return write("seeded", (session) -> {
			if (session != null && session.head() != 0) {
				throw new ChangeRefusedException(
						"Session " + this.key
								+ " has turns already; a seed comes before the first one. Use SessionStore.add(..).",
						Reason.NOT_EMPTY);
			}
			return TurnSplitter.split(messages)
				.stream()
				.map((turn) -> write(builder().parameters(Map.of(Turn.SEEDED, true)), turn))
				.toList();
		});
	}

	Turn addTurn(List<? extends Message> messages, @Nullable String agent) {
		checkWhole(messages);
		if (TurnSplitter.split(messages).size() > 1) {
			throw new IllegalArgumentException("The messages are several turns: a question comes behind an answer."
					+ " Add them with SessionStore.add(..).");
		}
		return write("given a turn", (session) -> List.of(write(builder().agent(agent), messages))).get(0);
	}

	Turn adopt(long number) {
		return write("given a turn that was kept aside", (session) -> {
			// read anew each time: what is deleted meanwhile must not come back
			TurnView aside = aside(number);
			checkNotOnPath(aside.turn());
			return List.of(adopted(aside));
		}).get(0);
	}

	private TurnView aside(long number) {
		TurnView aside = this.store.turn(this.key, number, Set.of(RewoundTurns.KIND))
			.orElseThrow(() -> new ChangeRefusedException("Session " + this.key + " has no turn " + number + ".",
					Reason.UNKNOWN_TURN));
		checkAside(aside, aside.items().stream().map(SessionItem::message).toList());
		RewoundTurns.check(this.key, aside.records(RewoundTurns.KIND), this.store.options().codec(),
				List.of(aside.turn()));
		return aside;
	}

	private void checkAside(TurnView aside, List<Message> messages) {
		Turn turn = aside.turn();
		if (turn.status().isOpen()) {
			throw new TurnOpenException("Turn " + turn.number() + " of session " + this.key
					+ " is open. Continue it, or end it with Approvals.cancel(..) first.", turn.number());
		}
		if (messages.isEmpty() || !Replies.isAnswer(messages.get(messages.size() - 1))) {
			throw new ChangeRefusedException("Turn " + turn.number() + " of session " + this.key
					+ " has no answer that could become history. Ask again with SessionAdvisor.regenerating("
					+ turn.number() + ").", Reason.NO_ANSWER);
		}
		String fault = fault(messages);
		if (fault != null) {
			throw new ChangeRefusedException(fault, Reason.NO_ANSWER);
		}
	}

	/** A copy on the path is what a call before has written, whose answer was lost. */
	private void checkNotOnPath(Turn aside) {
		this.store.path(this.key, PathQuery.to(Point.HEAD).turns(Tail.ALL))
			.stream()
			.flatMap((path) -> path.turns().stream())
			.filter((turn) -> turn.items() > 0 && isSame(turn, aside))
			.findFirst()
			.ifPresent((turn) -> {
				throw new ChangeRefusedException(
						"Turn " + aside.number() + " of session " + this.key + " is history already"
								+ ((turn.number() != aside.number()) ? ", as turn " + turn.number() : "") + ".",
						Reason.IN_HISTORY);
			});
	}

	/**
	 * The turns of a fork have other numbers than their marks say, and began as they did.
	 */
	private static boolean isSame(Turn one, Turn other) {
		return original(one).equals(original(other)) && one.startedAt().equals(other.startedAt());
	}

	private static Object original(Turn turn) {
		return turn.parameters().getOrDefault(Turn.ADOPTED, turn.number());
	}

	private TurnWrite adopted(TurnView aside) {
		Turn turn = aside.turn();
		Turn.Progress progress = new Turn.Progress(TurnStatus.COMPLETED, this.store.options().now(), turn.model(),
				turn.rounds(), null, turn.verdicts());
		Map<String, Object> parameters = new HashMap<>(turn.parameters());
		parameters.putIfAbsent(Turn.ADOPTED, turn.number());
		parameters.remove(Turn.STARTS_ANEW);
		parameters.remove(Turn.GIVEN_HISTORY);
		Turn.Origin origin = new Turn.Origin(turn.startedAt(), turn.agent(), turn.tools(), null, parameters);
		return new TurnWrite(new Turn(newId(), new Turn.Place(0, 0, Session.MAIN, 0, 0), origin, progress), 0,
				aside.items().stream().map((item) -> new NewItem(item.message(), item.at(), item.tokens())).toList());
	}

	private void checkWhole(List<? extends Message> messages) {
		String fault = fault(messages);
		if (fault != null) {
			throw new IllegalArgumentException(fault);
		}
	}

	private @Nullable String fault(List<? extends Message> messages) {
		String fault = TurnSplitter.fault(messages);
		return (fault != null) ? "Nothing was added to session " + this.key + ": the messages " + fault + "." : null;
	}

	private Turn.Builder builder() {
		return Turn.builder(newId(), this.store.options().now());
	}

	private String newId() {
		return this.store.options().turnIds().get();
	}

	private TurnWrite write(Turn.Builder turn, List<? extends Message> messages) {
		StoreOptions options = this.store.options();
		return new TurnWrite(turn.build(), 0, options.items(messages, options.now()));
	}

	/**
	 * Writes turns behind the head.
	 * @param turns plans the turns for the session as it is; null if it is absent
	 */
	private List<Turn> write(String what, Function<@Nullable Session, List<TurnWrite>> turns) {
		return Attempts.SOME.make(() -> {
			Session session = this.store.find(this.key).orElse(null);
			if (session != null) {
				OpenTurn.check(session, what);
			}
			List<TurnWrite> writes = turns.apply(session);
			Commit commit = (session != null) ? Commit.on(session) : Commit.first(this.key);
			CommitResult result = this.store.commit(commit.turns(writes));
			return result.isStored() ? Optional.of(stored(writes, session, result)) : Optional.<List<Turn>>empty();
		})
			.orElseThrow(() -> new SessionConflictException(
					"Session " + this.key + " could not be " + what + ": others wrote to it all the time. Try again.",
					null));
	}

	private static List<Turn> stored(List<TurnWrite> writes, @Nullable Session before, CommitResult result) {
		List<Turn> turns = new ArrayList<>();
		long number = result.turn() - writes.size();
		long parent = (before != null) ? before.head() : 0;
		String branch = (before != null) ? before.branch() : Session.MAIN;
		for (TurnWrite write : writes) {
			number++;
			turns.add(write.turn()
				.stored(new Turn.Place(number, parent, branch, write.items().size(),
						write.items().stream().mapToInt(NewItem::tokens).sum())));
			parent = number;
		}
		return turns;
	}

}
