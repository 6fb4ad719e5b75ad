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
 * @param id the id, chosen before the call and unique in the session; 1 to 64 characters.
 * A commit that is repeated with the same id changes nothing
 * @param number the number, assigned by the store at commit, from 1, unique over all
 * branches of the session and never reused; 0 before that
 * @param parent the number of the turn that this one follows; 0 for the first
 * @param branch the branch it was written on
 * @param status how the turn ended, or why it is still open
 * @param agent the agent that the call named; null if it named none
 * @param model the model of the last round; null if there was no round or the provider
 * did not name the model
 * @param startedAt when the turn was opened
 * @param endedAt when it ended; null while it is open
 * @param rounds one entry for each answer of the model, in order
 * @param tools the tools that were offered: name to digest of the definition
 * @param failure the reason why a failed turn ended: the class name of the exception,
 * never its message, or "no reply"; null otherwise
 * @param items how many items it has
 * @param tokens the estimated tokens of its items
 * @param verdicts the decisions and notes of the hooks, in order; empty if all hooks left
 * the turn unchanged without a note
 * @param snapshot the history that was sent in its first model call; null if it called no
 * model, or was stored before there were snapshots
 * @param inputs the advisor parameters of the call that are kept, by name
 */
public record Turn(String id, long number, long parent, String branch, TurnStatus status, @Nullable String agent,
		@Nullable String model, Instant startedAt, @Nullable Instant endedAt, List<Round> rounds,
		Map<String, String> tools, @Nullable String failure, int items, int tokens, List<Verdict> verdicts,
		@Nullable Snapshot snapshot, Map<String, Object> inputs) {

	/**
	 * The maximum length of a turn id, in characters.
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
	 * Creates a turn without verdicts, snapshot and inputs.
	 * @param id the id, chosen before the call
	 * @param number the number, assigned by the store
	 * @param parent the number of the turn that this one follows
	 * @param branch the branch it was written on
	 * @param status how the turn ended, or why it is still open
	 * @param agent the agent that the call named
	 * @param model the model of the last round
	 * @param startedAt when it was opened
	 * @param endedAt when it ended
	 * @param rounds one entry for each answer of the model
	 * @param tools the tools that were offered
	 * @param failure the reason why a failed turn ended
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
	 * Creates a turn without snapshot and inputs.
	 * @param id the id, chosen before the call
	 * @param number the number, assigned by the store
	 * @param parent the number of the turn that this one follows
	 * @param branch the branch it was written on
	 * @param status how the turn ended, or why it is still open
	 * @param agent the agent that the call named
	 * @param model the model of the last round
	 * @param startedAt when it was opened
	 * @param endedAt when it ended
	 * @param rounds one entry for each answer of the model
	 * @param tools the tools that were offered
	 * @param failure the reason why a failed turn ended
	 * @param items how many items it has
	 * @param tokens the estimated tokens of its items
	 * @param verdicts the decisions and notes of the hooks
	 */
	public Turn(String id, long number, long parent, String branch, TurnStatus status, @Nullable String agent,
			@Nullable String model, Instant startedAt, @Nullable Instant endedAt, List<Round> rounds,
			Map<String, String> tools, @Nullable String failure, int items, int tokens, List<Verdict> verdicts) {
		this(id, number, parent, branch, status, agent, model, startedAt, endedAt, rounds, tools, failure, items,
				tokens, verdicts, null, Map.of());
	}

	/**
	 * Returns the token usage of all rounds together.
	 * @return the sum; {@link TokenUsage#NONE} without rounds
	 */
	public TokenUsage usage() {
		return this.rounds.stream().map(Round::usage).reduce(TokenUsage.NONE, TokenUsage::plus);
	}

	/**
	 * Returns this turn as the store has numbered it.
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
