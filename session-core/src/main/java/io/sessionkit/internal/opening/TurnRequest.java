package io.sessionkit.internal.opening;

import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.internal.Bound;
import io.sessionkit.internal.ShortLife;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.line.Offer;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The data with which a turn starts.
 *
 * @param key the session
 * @param input the input of the caller in this turn, without system text
 * @param limit the number of newest items of history that may be sent, cut at a turn;
 * null if the call says nothing, so that of the session applies
 * @param expectedTurn the number of the newest turn that the caller has seen in the
 * session: if the session does not have it, the turn is not opened. 0 to expect nothing
 * @param start the place at which the turn begins
 * @param call what is known of the call to the model
 * @param extensions the parts of the application that take part in this call alone
 * @param child how the session depends on another one; null if it is no child session
 */
public record TurnRequest(SessionKey key, List<Message> input, @Nullable Integer limit, long expectedTurn, Start start,
		Call call, Extensions extensions, @Nullable ChildOf child) {

	public TurnRequest {
		input = List.copyOf(input);
		if (limit != null && !Bound.LIMIT.allows(limit)) {
			throw new IllegalArgumentException(
					"The limit of a call must not be negative: " + limit + ". Use 0 to send no history.");
		}
		if (expectedTurn < 0) {
			throw new IllegalArgumentException("The turn that a call expects must not be negative: " + expectedTurn
					+ ". Use 0 to expect nothing.");
		}
	}

	/**
	 * The facts known about the call to the model.
	 *
	 * @param agent the agent that answers; null if no particular one does
	 * @param model the model to call; null if the caller leaves the choice to the
	 * provider
	 * @param tools the tools on offer: name to digest of the definition
	 * @param parameters the parameters of the call that hooks can read; only those that
	 * are configured to be kept with turns are stored
	 * @param observed observes the call
	 */
	public record Call(@Nullable String agent, @Nullable String model, Map<String, String> tools,
			Map<String, Object> parameters, ObservedCall observed) {

		/** A call of which nothing is known. */
		public static final Call UNKNOWN = new Call(null, null, Map.of(), Map.of(), ObservedCall.NONE);

		public Call {
			tools = Map.copyOf(tools);
			parameters = Map.copyOf(parameters);
		}

		private Call observed(ObservedCall observer) {
			return new Call(this.agent, this.model, this.tools, this.parameters, observer);
		}

		private Call parameters(Map<String, Object> others) {
			return new Call(this.agent, this.model, this.tools, others, this.observed);
		}

	}

	/**
	 * The session that a child session depends on.
	 *
	 * @param parent the session
	 * @param turn the turn whose session it is, in whatever store; null if the call names
	 * the parent, or no turn is around it
	 * @param reads whether the history of the parent is sent in front of the child's own
	 * @param endsWithTurn whether the child is erased when the call ends inside of which
	 * its own call is made
	 */
	public record ChildOf(SessionKey parent, @Nullable TurnAccess turn, boolean reads, boolean endsWithTurn) {
	}

	/**
	 * The place at which a turn begins.
	 *
	 * @param kind how the place is named
	 * @param turn the turn whose place it takes; 0 for none, or the newest
	 * @param branch the branch that it continues; null for the active one
	 * @param given the history that the call brings; empty if it brings none
	 */
	public record Start(Kind kind, long turn, @Nullable String branch, List<Message> given) {

		public Start {
			given = List.copyOf(given);
		}

		public Start(Kind kind, long turn, @Nullable String branch) {
			this(kind, turn, branch, List.of());
		}

		/**
		 * Creates the start of a turn whose call brings the history.
		 * @param policy what becomes of it
		 * @param history the messages
		 * @return the start
		 */
		public static Start with(HistoryPolicy policy, List<Message> history) {
			return new Start(switch (policy) {
				case OVERRIDE -> Kind.OVERRIDE;
				case USE_IF_PROVIDED -> Kind.USE_IF_PROVIDED;
				case REPLACE_SESSION -> Kind.REPLACE_SESSION;
			}, 0, null, history);
		}

		/**
		 * Creates the start of a turn that answers a question whose answer was deleted.
		 * @param question the number of the turn that consists of the question; the call
		 * is refused if it is not the newest one any more
		 * @return the start
		 */
		public static Start answering(long question) {
			return new Start(Kind.ANSWER, question, null);
		}

		/** Behind the head of the active branch. */
		public static final Start HEAD = new Start(Kind.HEAD, 0, null);

		/** Behind the history of the session, which is only read. */
		public static final Start READING = new Start(Kind.READ, 0, null);

		/**
		 * The ways in which a place is named.
		 */
		public enum Kind {

			/** Behind the head of the active branch. */
			HEAD,

			/** Instead of a turn, with another question. */
			EDIT,

			/** Instead of a turn, with the same question. */
			REGENERATE,

			/** Instead of a turn that is still the newest one, with the same question. */
			ANSWER,

			/** Behind the head of a branch, which need not be active. */
			BRANCH,

			/** Behind a history that the call brings; the turn is not stored. */
			OVERRIDE,

			/** Behind a history that the call brings; the turn follows the head. */
			USE_IF_PROVIDED,

			/**
			 * Behind a history that the call brings, with which the session starts anew.
			 */
			REPLACE_SESSION,

			/** Behind the history of the session; the turn is not stored. */
			READ

		}

		/** Returns whether the turn becomes part of the session. */
		public boolean isStored() {
			return this.kind != Kind.OVERRIDE && this.kind != Kind.READ;
		}

		/** Returns whether the call brings the history. */
		public boolean isGiven() {
			return switch (this.kind) {
				case OVERRIDE, USE_IF_PROVIDED, REPLACE_SESSION -> true;
				case HEAD, EDIT, REGENERATE, ANSWER, BRANCH, READ -> false;
			};
		}

		/** Returns whether the turn gets its question from one that is stored. */
		public boolean asksAgain() {
			return this.kind == Kind.REGENERATE || this.kind == Kind.ANSWER;
		}

	}

	/**
	 * Returns a request that expects nothing, adds nothing and sets no limit.
	 * @param key the session
	 * @param input the input of the caller, without system text
	 * @return the request
	 */
	public static TurnRequest of(SessionKey key, List<Message> input) {
		return new TurnRequest(key, input, null, 0, Start.HEAD, Call.UNKNOWN, Extensions.NONE, null);
	}

	public @Nullable String agent() {
		return this.call.agent();
	}

	public @Nullable String model() {
		return this.call.model();
	}

	public Map<String, String> tools() {
		return this.call.tools();
	}

	public Map<String, Object> parameters() {
		return this.call.parameters();
	}

	public ObservedCall observed() {
		return this.call.observed();
	}

	/**
	 * Returns this request with an observer of its call.
	 * @param observer observes the call
	 * @return a copy with this observer
	 */
	public TurnRequest observed(ObservedCall observer) {
		return new TurnRequest(this.key, this.input, this.limit, this.expectedTurn, this.start,
				this.call.observed(observer), this.extensions, this.child);
	}

	/**
	 * Returns this request with another limit.
	 * @param items the number of newest items of history that may be sent
	 * @return a copy with this limit
	 */
	public TurnRequest limit(int items) {
		return new TurnRequest(this.key, this.input, items, this.expectedTurn, this.start, this.call, this.extensions,
				this.child);
	}

	/**
	 * Returns this request with another place to begin at.
	 * @param place the place
	 * @return a copy with this place
	 */
	public TurnRequest start(Start place) {
		return new TurnRequest(this.key, this.input, this.limit, this.expectedTurn, place, this.call, this.extensions,
				this.child);
	}

	/**
	 * Returns this request with another input.
	 * @param messages the messages, without system text
	 * @return a copy with these messages
	 */
	public TurnRequest input(List<Message> messages) {
		return new TurnRequest(this.key, messages, this.limit, this.expectedTurn, this.start, this.call,
				this.extensions, this.child);
	}

	/**
	 * Returns this request with other parameters.
	 * @param values the parameters of the call
	 * @return a copy with these parameters
	 */
	public TurnRequest parameters(Map<String, Object> values) {
		return new TurnRequest(this.key, this.input, this.limit, this.expectedTurn, this.start,
				this.call.parameters(values), this.extensions, this.child);
	}

	/**
	 * Returns whether the turn becomes part of the session.
	 * @return false if its call only reads
	 */
	public boolean isStored() {
		return this.start.isStored();
	}

	/**
	 * Returns whether the call may begin the session that it names.
	 * @return false if it has no message, or if it expects a turn or edits one
	 */
	public boolean mayBegin() {
		return this.expectedTurn == 0 && !this.input.isEmpty() && this.start.kind() != Start.Kind.EDIT;
	}

	/**
	 * Returns whether the session is erased when the call ends inside of which this one
	 * is made.
	 * @return false if the session stays
	 */
	public boolean endsWithTurn() {
		return this.child != null && this.child.endsWithTurn();
	}

	/**
	 * Adds an expiry to a change of the header if the session is erased when a call ends:
	 * the process that would erase it may be killed.
	 * @param header the change
	 * @param options the options of the store
	 * @return the change; the same for a session that stays
	 */
	public HeaderChange living(HeaderChange header, StoreOptions options) {
		return endsWithTurn() ? header.timeToLive(ShortLife.within(options.timeToLive())) : header;
	}

	/**
	 * Adds such an expiry to a commit.
	 * @param commit the commit
	 * @param options the options of the store
	 * @return the commit; the same for a session that stays
	 */
	public Commit living(Commit commit, StoreOptions options) {
		return endsWithTurn() ? commit.header(living(commit.header(), options)) : commit;
	}

	/**
	 * Returns whether the input has neither results of tools nor replies, so that it can
	 * be sent after any history.
	 * @return true if it consists of user messages
	 */
	public boolean onlyAsks() {
		for (Message message : this.input) {
			if (!(message instanceof UserMessage)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Returns what a call with this request offers to the turn at work while it waits.
	 * @return the offer; null if its messages cannot join the turn of another call, since
	 * they are not what a user has said, or since the call names the place at which its
	 * turn begins, brings a history or depends on another session
	 */
	public @Nullable Offer offer() {
		boolean joins = !this.input.isEmpty() && onlyAsks() && this.start.kind() == Start.Kind.HEAD
				&& this.child == null;
		return joins ? new Offer(JoiningInput.unchecked(this.input), agent(), this.expectedTurn) : null;
	}

	/**
	 * Returns a request that only reads the session, for asking the hooks of all calls
	 * about the input of this one.
	 * @return a copy that only reads
	 */
	public TurnRequest toCheck() {
		return new TurnRequest(this.key, this.input, this.limit, this.expectedTurn, Start.READING,
				this.call.observed(ObservedCall.NONE), Extensions.NONE, null);
	}

	/**
	 * Checks that the session has the turn that the caller expects.
	 * @param session the header of the session; null if the session is absent
	 * @throws SessionLostException if the number of its newest turn is smaller
	 */
	void checkExpected(@Nullable Session session) {
		long newest = (session != null) ? session.turns() : 0;
		if (newest < this.expectedTurn) {
			throw new SessionLostException(this.key, this.expectedTurn, newest);
		}
	}

}
