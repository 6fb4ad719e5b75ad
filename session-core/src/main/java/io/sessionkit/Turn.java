package io.sessionkit;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * One question and its answer, without the messages: those are the {@link SessionItem}s
 * that carry its number.
 *
 * @param id chosen before the call, unique in the session; 1 to 64 characters. A commit
 * that is repeated with the same id changes nothing
 * @param number given by the store at commit, from 1, unique over all branches of the
 * session and never reused; 0 before that
 * @param parent the number of the turn that this one follows; 0 for the first
 * @param branch the branch it was written on
 * @param status what became of it
 * @param agent the agent that the call named; null if it named none
 * @param model the model of the last round; null if there was none or it did not say
 * @param startedAt when the turn was opened
 * @param endedAt when it ended; null while it is open
 * @param rounds one entry for each answer of the model, in order
 * @param tools the tools that were offered: name to digest of the definition
 * @param failure what ended a failed turn: the class name of the exception, never its
 * message, or "no reply"; null otherwise
 * @param items how many items it has
 * @param tokens the estimated tokens of its items
 * @param verdicts what hooks decided on it or noted, in order; none where all left it as
 * it was without a note
 * @param snapshot what was sent of the history in its first model call; null if it called
 * no model, or was stored before there were snapshots
 * @param inputs the advisor parameters of the call that are kept, by name
 */
public record Turn(String id, long number, long parent, String branch, TurnStatus status, @Nullable String agent,
		@Nullable String model, Instant startedAt, @Nullable Instant endedAt, List<Round> rounds,
		Map<String, String> tools, @Nullable String failure, int items, int tokens, List<Verdict> verdicts,
		@Nullable Snapshot snapshot, Map<String, Object> inputs) {

	/**
	 * The longest turn id, in characters.
	 */
	public static final int MAX_ID_LENGTH = 64;

	public Turn {
		if (id.isBlank() || id.length() > MAX_ID_LENGTH) {
			throw new IllegalArgumentException(
					"A turn id must have 1 to " + MAX_ID_LENGTH + " characters; this one has " + id.length() + ".");
		}
		check("id", id);
		check("branch", branch);
		rounds = List.copyOf(rounds);
		tools = Map.copyOf(tools);
		verdicts = List.copyOf(verdicts);
		inputs = Map.copyOf(inputs);
	}

	private static void check(String part, String name) {
		String flaw = Names.flaw(name);
		if (flaw != null) {
			throw new IllegalArgumentException("The " + part + " of a turn " + flaw + ".");
		}
	}

	/**
	 * A turn that no hook had a say in.
	 * @param id chosen before the call
	 * @param number given by the store
	 * @param parent the turn that this one follows
	 * @param branch the branch it was written on
	 * @param status what became of it
	 * @param agent the agent that the call named
	 * @param model the model of the last round
	 * @param startedAt when it was opened
	 * @param endedAt when it ended
	 * @param rounds one entry for each answer of the model
	 * @param tools the tools that were offered
	 * @param failure what ended a failed turn
	 * @param items how many items it has
	 * @param tokens the estimated tokens of its items
	 */
	public Turn(String id, long number, long parent, String branch, TurnStatus status, @Nullable String agent,
			@Nullable String model, Instant startedAt, @Nullable Instant endedAt, List<Round> rounds,
			Map<String, String> tools, @Nullable String failure, int items, int tokens) {
		this(id, number, parent, branch, status, agent, model, startedAt, endedAt, rounds, tools, failure, items,
				tokens, List.of());
	}

	/**
	 * A turn without snapshot and inputs.
	 * @param id chosen before the call
	 * @param number given by the store
	 * @param parent the turn that this one follows
	 * @param branch the branch it was written on
	 * @param status what became of it
	 * @param agent the agent that the call named
	 * @param model the model of the last round
	 * @param startedAt when it was opened
	 * @param endedAt when it ended
	 * @param rounds one entry for each answer of the model
	 * @param tools the tools that were offered
	 * @param failure what ended a failed turn
	 * @param items how many items it has
	 * @param tokens the estimated tokens of its items
	 * @param verdicts what hooks decided on it
	 */
	public Turn(String id, long number, long parent, String branch, TurnStatus status, @Nullable String agent,
			@Nullable String model, Instant startedAt, @Nullable Instant endedAt, List<Round> rounds,
			Map<String, String> tools, @Nullable String failure, int items, int tokens, List<Verdict> verdicts) {
		this(id, number, parent, branch, status, agent, model, startedAt, endedAt, rounds, tools, failure, items,
				tokens, verdicts, null, Map.of());
	}

	/**
	 * What all rounds cost together.
	 * @return the sum; {@link TokenUsage#NONE} without rounds
	 */
	public TokenUsage usage() {
		return this.rounds.stream().map(Round::usage).reduce(TokenUsage.NONE, TokenUsage::plus);
	}

	/**
	 * This turn as the store numbered it.
	 * @param number its number
	 * @param parent the number of the turn it follows
	 * @param branch the branch it is on
	 * @param items how many items it has
	 * @param tokens the tokens of its items
	 * @return a copy with these values
	 */
	public Turn stored(long number, long parent, String branch, int items, int tokens) {
		return new Turn(this.id, number, parent, branch, this.status, this.agent, this.model, this.startedAt,
				this.endedAt, this.rounds, this.tools, this.failure, items, tokens, this.verdicts, this.snapshot,
				this.inputs);
	}

}
