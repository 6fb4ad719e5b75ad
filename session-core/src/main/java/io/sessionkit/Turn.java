package io.sessionkit;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * One question and its answer, without the messages: those are the {@link SessionItem}s
 * that carry its number. {@link #builder(String, Instant)} creates one.
 *
 * @param id the id, chosen before the call and unique in the session; 1 to 64 characters.
 * A commit that is repeated with the same id changes nothing
 * @param place its place in the session, as the store has assigned it
 * @param origin what its first write fixes and no later one changes
 * @param progress how far it has come, as of its newest write
 */
public record Turn(String id, Place place, Origin origin, Progress progress) {

	/**
	 * The maximum length of a turn id, in characters.
	 */
	public static final int MAX_ID_LENGTH = 64;

	/** The parameter that marks a turn that was brought in as a seed. */
	public static final String SEEDED = "sessionkit.seeded";

	/**
	 * The parameter that marks a turn that is a copy of one that was kept beside the
	 * history. Its value is the number of that turn.
	 */
	public static final String ADOPTED = "sessionkit.adopted";

	/**
	 * The parameter that marks a turn with which the session has started anew, with a
	 * history that its call has brought, and the first turn of this history. Its value is
	 * the number of turns of this history that come before.
	 */
	public static final String STARTS_ANEW = "sessionkit.starts-anew";

	/**
	 * The parameter that marks a turn that is kept in parts, and was sent a history that
	 * its call has brought. Its value is the number of messages of this history. The
	 * snapshot of the turn has them. The mark stays when the turn ends.
	 */
	public static final String GIVEN_HISTORY = "sessionkit.given-history";

	/**
	 * The metadata entry of an answer that the caller stopped reading: true. The message
	 * has only the text that was read. See {@link OnCancel#KEEP}.
	 */
	public static final String CUT_SHORT = "sessionkit.cut-short";

	/** The {@link #failure} of a turn that has ended without a reply. */
	public static final String NO_REPLY = "no reply";

	public Turn {
		if (id.isBlank() || id.length() > MAX_ID_LENGTH) {
			throw new IllegalArgumentException(
					"A turn id must have 1 to " + MAX_ID_LENGTH + " characters; this one has " + id.length() + ".");
		}
		check("id", id);
	}

	private static void check(String part, String name) {
		String flaw = Names.flaw(name);
		if (flaw != null) {
			throw new IllegalArgumentException("The " + part + " of a turn " + flaw + ".");
		}
	}

	/**
	 * Creates a builder of a turn: the first of a session, on its first branch, completed
	 * in the moment in which it was opened and without rounds, until it is told
	 * otherwise.
	 * @param id the id, chosen before the call and unique in the session; 1 to 64
	 * characters
	 * @param startedAt when the turn was opened
	 * @return the builder
	 */
	public static Builder builder(String id, Instant startedAt) {
		return new Builder(id, startedAt);
	}

	/**
	 * Returns the number of the turn.
	 * @return the number, assigned by the store at commit, from 1, unique over all
	 * branches of the session and never reused; 0 before that
	 */
	public long number() {
		return this.place.number();
	}

	/**
	 * Returns the number of the turn that this one follows.
	 * @return the number; 0 for the first
	 */
	public long parent() {
		return this.place.parent();
	}

	/**
	 * Returns the branch it was written on.
	 * @return the name of the branch
	 */
	public String branch() {
		return this.place.branch();
	}

	/**
	 * Returns how many items it has.
	 * @return the number of items; 0 before it is stored
	 */
	public int items() {
		return this.place.items();
	}

	/**
	 * Returns the estimated tokens of its items.
	 * @return the number of tokens; 0 before it is stored
	 */
	public int tokens() {
		return this.place.tokens();
	}

	/**
	 * Returns how it ended, or why it is still open.
	 * @return the status
	 */
	public TurnStatus status() {
		return this.progress.status();
	}

	/**
	 * Returns the agent that the call named.
	 * @return the agent; null if it named none
	 */
	public @Nullable String agent() {
		return this.origin.agent();
	}

	/**
	 * Returns the model of the last round.
	 * @return the model; null if there was no round or the provider did not name the
	 * model
	 */
	public @Nullable String model() {
		return this.progress.model();
	}

	/**
	 * Returns when it was opened.
	 * @return the time
	 */
	public Instant startedAt() {
		return this.origin.startedAt();
	}

	/**
	 * Returns when it ended.
	 * @return the time; null while it is open
	 */
	public @Nullable Instant endedAt() {
		return this.progress.endedAt();
	}

	/**
	 * Returns one entry for each answer of the model.
	 * @return the rounds, in order
	 */
	public List<Round> rounds() {
		return this.progress.rounds();
	}

	/**
	 * Returns the tools that were offered.
	 * @return name to digest of the definition
	 */
	public Map<String, String> tools() {
		return this.origin.tools();
	}

	/**
	 * Returns the reason why a failed turn ended.
	 * @return the class name of the exception, never its message, or {@value #NO_REPLY};
	 * null if it did not fail
	 */
	public @Nullable String failure() {
		return this.progress.failure();
	}

	/**
	 * Returns the decisions and notes of the hooks.
	 * @return the verdicts, in order; empty if all hooks left the turn unchanged without
	 * a note
	 */
	public List<Verdict> verdicts() {
		return this.progress.verdicts();
	}

	/**
	 * Returns the history that was sent in its first model call.
	 * @return the snapshot; null if it called no model
	 */
	public @Nullable Snapshot snapshot() {
		return this.origin.snapshot();
	}

	/**
	 * Returns the advisor parameters of the call that are kept.
	 * @return the values, by name
	 */
	public Map<String, Object> parameters() {
		return this.origin.parameters();
	}

	/**
	 * Returns whether the turn was brought in as a seed, which a reset keeps in the view.
	 * @return true for a turn that {@code Conversation.seed} has written, for those of a
	 * history that a call has stored with {@code HistoryPolicy.REPLACE_SESSION}, and for
	 * copies of these in a fork
	 */
	public boolean isSeeded() {
		return Boolean.TRUE.equals(parameters().get(SEEDED));
	}

	/**
	 * Returns the token usage of all rounds together.
	 * @return the sum; {@link TokenUsage#NONE} without rounds
	 */
	public TokenUsage usage() {
		return rounds().stream().map(Round::usage).reduce(TokenUsage.NONE, TokenUsage::plus);
	}

	/**
	 * Returns this turn at the place that the store has assigned.
	 * @param place number, parent, branch and size
	 * @return a copy with this place
	 */
	public Turn stored(Place place) {
		return new Turn(this.id, place, this.origin, this.progress);
	}

	/**
	 * The place of a turn in its session. Before a turn is stored, only parent and branch
	 * are known.
	 *
	 * @param number the number, assigned by the store at commit, from 1, unique over all
	 * branches of the session and never reused; 0 before that
	 * @param parent the number of the turn that this one follows; 0 for the first
	 * @param branch the branch it was written on
	 * @param items how many items it has; 0 before it is stored
	 * @param tokens the estimated tokens of its items; 0 before it is stored
	 */
	public record Place(long number, long parent, String branch, int items, int tokens) {

		public Place {
			check("branch", branch);
		}

	}

	/**
	 * The values that the first write of a turn fixes and no later write changes.
	 *
	 * @param startedAt when the turn was opened
	 * @param agent the agent that the call named; null if it named none
	 * @param tools the tools that were offered: name to digest of the definition
	 * @param snapshot the history that was sent in its first model call; null if it
	 * called no model
	 * @param parameters the advisor parameters of the call that are kept, by name
	 */
	public record Origin(Instant startedAt, @Nullable String agent, Map<String, String> tools,
			@Nullable Snapshot snapshot, Map<String, Object> parameters) {

		public Origin {
			tools = Map.copyOf(tools);
			parameters = Map.copyOf(parameters);
		}

	}

	/**
	 * The progress of a turn. Each write of the turn replaces it.
	 *
	 * @param status how the turn ended, or why it is still open
	 * @param endedAt when it ended; null while it is open
	 * @param model the model of the last round; null if there was no round or the
	 * provider did not name the model
	 * @param rounds one entry for each answer of the model, in order
	 * @param failure the reason why a failed turn ended: the class name of the exception,
	 * or of its cause if it only says that another thread threw it, never its message, or
	 * {@link Turn#NO_REPLY}; null otherwise
	 * @param verdicts the decisions and notes of the hooks, in order
	 */
	public record Progress(TurnStatus status, @Nullable Instant endedAt, @Nullable String model, List<Round> rounds,
			@Nullable String failure, List<Verdict> verdicts) {

		public Progress {
			rounds = List.copyOf(rounds);
			verdicts = List.copyOf(verdicts);
		}

	}

	/**
	 * Builds a {@link Turn}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final String id;

		private Place place = new Place(0, 0, Session.MAIN, 0, 0);

		private final Instant startedAt;

		private TurnStatus status = TurnStatus.COMPLETED;

		private @Nullable Instant endedAt;

		private @Nullable String agent;

		private @Nullable String model;

		private List<Round> rounds = List.of();

		private Map<String, String> tools = Map.of();

		private @Nullable String failure;

		private List<Verdict> verdicts = List.of();

		private @Nullable Snapshot snapshot;

		private Map<String, Object> parameters = Map.of();

		private Builder(String id, Instant startedAt) {
			this.id = id;
			this.startedAt = startedAt;
			this.endedAt = startedAt;
		}

		/**
		 * Sets the turn that this one follows and the branch it is written on.
		 * @param parent the number of the turn that this one follows; 0 for the first
		 * @param branch the branch
		 * @return this builder
		 */
		public Builder after(long parent, String branch) {
			return place(new Place(0, parent, branch, 0, 0));
		}

		/**
		 * Sets the place that a store has assigned.
		 * @param place number, parent, branch and size
		 * @return this builder
		 */
		public Builder place(Place place) {
			this.place = place;
			return this;
		}

		/**
		 * Sets how the turn ended and when, or why it is still open.
		 * @param status the status
		 * @param endedAt when it ended; null while it is open
		 * @return this builder
		 */
		public Builder status(TurnStatus status, @Nullable Instant endedAt) {
			this.status = status;
			this.endedAt = endedAt;
			return this;
		}

		/**
		 * Sets the agent that the call named.
		 * @param agent the agent; null if it named none
		 * @return this builder
		 */
		public Builder agent(@Nullable String agent) {
			this.agent = agent;
			return this;
		}

		/**
		 * Sets the model of the last round.
		 * @param model the model; null if there was no round or the provider did not name
		 * the model
		 * @return this builder
		 */
		public Builder model(@Nullable String model) {
			this.model = model;
			return this;
		}

		/**
		 * Sets the answers of the model.
		 * @param rounds one entry for each answer, in order
		 * @return this builder
		 */
		public Builder rounds(List<Round> rounds) {
			this.rounds = rounds;
			return this;
		}

		/**
		 * Sets the tools that were offered.
		 * @param tools name to digest of the definition
		 * @return this builder
		 */
		public Builder tools(Map<String, String> tools) {
			this.tools = tools;
			return this;
		}

		/**
		 * Sets the reason why the turn failed.
		 * @param failure the class name of the exception, never its message; null if it
		 * did not fail
		 * @return this builder
		 */
		public Builder failure(@Nullable String failure) {
			this.failure = failure;
			return this;
		}

		/**
		 * Sets the decisions and notes of the hooks.
		 * @param verdicts the verdicts, in order
		 * @return this builder
		 */
		public Builder verdicts(List<Verdict> verdicts) {
			this.verdicts = verdicts;
			return this;
		}

		/**
		 * Sets the history that was sent in the first model call.
		 * @param snapshot the snapshot; null if no model was called
		 * @return this builder
		 */
		public Builder snapshot(@Nullable Snapshot snapshot) {
			this.snapshot = snapshot;
			return this;
		}

		/**
		 * Sets the advisor parameters of the call that are kept.
		 * @param parameters the values, by name
		 * @return this builder
		 */
		public Builder parameters(Map<String, Object> parameters) {
			this.parameters = parameters;
			return this;
		}

		/**
		 * Builds the turn.
		 * @return a new turn
		 * @throws IllegalArgumentException if the id or the branch is not possible
		 */
		public Turn build() {
			return new Turn(this.id, this.place,
					new Origin(this.startedAt, this.agent, this.tools, this.snapshot, this.parameters),
					new Progress(this.status, this.endedAt, this.model, this.rounds, this.failure, this.verdicts));
		}

	}

}
