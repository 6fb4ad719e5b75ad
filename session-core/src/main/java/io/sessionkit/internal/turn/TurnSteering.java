package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.line.Offered;
import io.sessionkit.internal.line.Offering;
import io.sessionkit.internal.line.Request;
import io.sessionkit.internal.round.Rounds;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Lets the messages of calls that wait join a turn before its next model call. Used by
 * one thread at a time, except for {@link #joined}.
 */
final class TurnSteering {

	private static final Log logger = LogFactory.getLog(TurnSteering.class);

	/** More calls than this wait for a turn of their own. */
	private static final int MOST = 32;

	/**
	 * Messages of a call that have joined the turn.
	 *
	 * @param messages the messages as hooks have left them; none if the same request has
	 * joined before
	 * @param run the run of the loop in which they were added
	 */
	private record Joined(Offered offered, List<Message> messages, int run) {
	}

	/**
	 * Messages of a call that join the turn if they can be taken.
	 */
	private record Passed(Offered offered, InputChecks.Checked checked) {
	}

	private final Offering offering;

	private final @Nullable String agent;

	private final long turns;

	private final Rounds rounds;

	private final InputChecks checks;

	private final List<Joined> joined = new ArrayList<>();

	/** The calls whose messages this turn does not take. */
	private final Set<String> left = new HashSet<>();

	/**
	 * Creates the steering of a turn.
	 * @param agent the agent of the turn; null for none
	 * @param turns the number of the newest turn when this one began
	 */
	TurnSteering(Offering offering, @Nullable String agent, long turns, Rounds rounds, InputChecks checks) {
		this.offering = offering;
		this.agent = agent;
		this.turns = turns;
		this.rounds = rounds;
		this.checks = checks;
		offering.joining(this::joined);
	}

	/**
	 * Returns the offers whose messages are part of the turn.
	 */
	private synchronized List<Offered> joined() {
		return this.joined.stream().filter((each) -> each.run() == this.rounds.runs()).map(Joined::offered).toList();
	}

	/**
	 * Adds what is offered to the turn, if the model is about to be called with results
	 * of tools. A store that fails meanwhile does not cost the turn: the calls wait on.
	 * @return whether messages were added
	 */
	boolean join() {
		if (!this.rounds.canAdd()) {
			return false;
		}
		boolean added = addAgain();
		if (added) {
			this.rounds.added(List.of());
		}
		try {
			return take() || added;
		}
		catch (RuntimeException ex) {
			logger.warn("What calls that wait on session " + this.checks.key() + " offer could not be taken: "
					+ ex.getClass().getName());
			return added;
		}
	}

	/** The loop was started again, and what was added before is no longer there. */
	private synchronized boolean addAgain() {
		int run = this.rounds.runs();
		boolean added = false;
		for (int i = 0; i < this.joined.size(); i++) {
			Joined before = this.joined.get(i);
			if (before.run() != run) {
				this.rounds.add(before.messages());
				this.joined.set(i, new Joined(before.offered(), before.messages(), run));
				added = true;
			}
		}
		return added;
	}

	/**
	 * A call may take its messages back until the line says that they are taken. If one
	 * does, the others are checked again without it.
	 */
	private boolean take() {
		Map<String, Passed> passed = new LinkedHashMap<>();
		return Attempts.FEW.make(() -> {
			List<String> waiting = this.offering.waiting();
			if (!waiting.containsAll(passed.keySet())) {
				passed.clear();
			}
			check(waiting, passed);
			Set<String> ids = joinedIds();
			ids.addAll(passed.keySet());
			if (!this.offering.take(ids)) {
				return Optional.<Boolean>empty();
			}
			this.rounds.added(add(passed.values()));
			return Optional.of(!passed.isEmpty());
		}).orElse(false);
	}

	private Set<String> joinedIds() {
		return this.joined.stream().map((each) -> each.offered().id()).collect(Collectors.toCollection(HashSet::new));
	}

	private void check(List<String> waiting, Map<String, Passed> passed) {
		Set<String> known = joinedIds();
		known.addAll(passed.keySet());
		known.addAll(this.left);
		List<String> unknown = waiting.stream()
			.filter((id) -> !known.contains(id))
			.limit(MOST - this.joined.size() - passed.size())
			.toList();
		for (Offered offered : this.offering.read(unknown)) {
			InputChecks.Checked checked = isForThisTurn(offered) ? checked(offered, passed.values()) : null;
			if (checked != null) {
				passed.put(offered.id(), new Passed(offered, checked));
			}
		}
	}

	private boolean isForThisTurn(Offered offered) {
		boolean isForThis = Objects.equals(offered.offer().agent(), this.agent)
				&& offered.offer().expectedTurn() <= this.turns;
		if (!isForThis) {
			this.left.add(offered.id());
		}
		return isForThis;
	}

	/**
	 * Runs the hooks on what a call offers. What they do not let pass is left to the call
	 * itself, which then learns why. The same request joins once.
	 * @param before the offers that join before it
	 * @return null if the messages do not join the turn
	 */
	private InputChecks.@Nullable Checked checked(Offered offered, Collection<Passed> before) {
		TurnAttributes attributes = attributes(before);
		if (isThere(offered.request(), before)) {
			return new InputChecks.Checked(JoiningInput.unchecked(List.of()), attributes);
		}
		try {
			InputChecks.Checked checked = this.checks.checked(offered.offer().input(), attributes);
			if (checked.messages().stream().allMatch(UserMessage.class::isInstance)) {
				return checked;
			}
		}
		catch (Throwable ex) {
			Interrupts.keep(ex);
			logger.debug("A message does not join the turn on session " + this.checks.key()
					+ ", a hook did not let it pass: " + ex.getClass().getName());
		}
		this.left.add(offered.id());
		return null;
	}

	/**
	 * A turn that ends meanwhile has either both, the messages and their offer, or none.
	 * @return the messages
	 */
	private synchronized List<Message> add(Collection<Passed> taken) {
		List<Message> added = new ArrayList<>();
		for (Passed each : taken) {
			List<Message> news = each.checked().messages();
			this.rounds.add(news);
			this.joined.add(new Joined(each.offered(), news, this.rounds.runs()));
			if (!news.isEmpty()) {
				this.checks.adopt(each.checked());
			}
			added.addAll(news);
		}
		return added;
	}

	/** Returns the attributes as what joins before leaves them. */
	private TurnAttributes attributes(Collection<Passed> before) {
		TurnAttributes attributes = this.checks.attributes();
		for (Passed each : before) {
			attributes = each.checked().attributes();
		}
		return attributes;
	}

	/**
	 * Returns whether the messages of another call that makes the same request have
	 * joined, or join before.
	 */
	private boolean isThere(@Nullable Request request, Collection<Passed> before) {
		return request != null
				&& Stream.concat(this.joined.stream().map(Joined::offered), before.stream().map(Passed::offered))
					.map(Offered::request)
					.anyMatch((other) -> other != null && other.id().equals(request.id()));
	}

}
