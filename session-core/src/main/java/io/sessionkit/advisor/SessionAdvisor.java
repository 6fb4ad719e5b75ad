package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.approval.Pause;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.door.BeanParts;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.message.Copies;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Connects {@code ChatClient} calls with the session that they name: the call is sent
 * with the history of the session in front, and the whole turn is stored when it ends. A
 * call that names no session passes through untouched, unless it says something of one.
 * The exception are its tools: configured names, policies and time limits count for them,
 * and one that needs an approval refuses to run. No hook or listener takes part in such a
 * call.
 *
 * <pre>{@code
 * ChatClient chat = ChatClient.builder(model).defaultAdvisors(sessionAdvisor).build();
 * chat.prompt().user(text).advisors(SessionAdvisor.session("t1")).call().content();
 * }</pre>
 *
 * It adds three advisors: one outside and one inside the tool loop, and one directly
 * before the model, which changes nothing. Each call on a session checks that the first
 * two stand around the tool advisor, and is refused if they do not. Safe for use by many
 * threads.
 */
public final class SessionAdvisor implements Consumer<ChatClient.AdvisorSpec>, SessionDoor {

	/**
	 * The advisor parameter that names the session: a {@link SessionKey} or its id. For a
	 * call without a session use {@link #none()}.
	 */
	public static final String SESSION = SessionParameters.SESSION;

	/** The advisor parameter that names the agent. */
	public static final String AGENT = SessionParameters.AGENT;

	/** The advisor parameter that limits the history of one call: an {@code Integer}. */
	public static final String LIMIT = SessionParameters.LIMIT;

	/**
	 * The advisor parameter that names the newest turn that the caller has seen: a {@code
	 * Long} or an {@code Integer}.
	 */
	public static final String EXPECT_TURN = SessionParameters.EXPECT_TURN;

	/**
	 * The advisor parameter that holds the history that a call brings: a {@code List} of
	 * messages.
	 */
	public static final String HISTORY = SessionParameters.HISTORY;

	/**
	 * The advisor parameter that says what becomes of the history that a call brings: a
	 * {@link HistoryPolicy}. It is ignored on a call that brings none.
	 */
	public static final String HISTORY_POLICY = SessionParameters.HISTORY_POLICY;

	static {
		InnerParts.open(SessionAdvisor.class, BeanParts.class, SessionAdvisor::parts);
	}

	private final SessionAccess access;

	private final SessionTurnAdvisor turnAdvisor;

	private final SessionRoundAdvisor roundAdvisor;

	private final SessionModelAdvisor modelAdvisor;

	private SessionAdvisor(Builder builder) {
		SessionKeyResolver resolver = (builder.resolver != null) ? builder.resolver : (request) -> Optional.empty();
		Approvals approvals = (builder.approvals != null) ? builder.approvals : Approvals.of(builder.conversations);
		this.access = builder.conversations.access();
		this.turnAdvisor = new SessionTurnAdvisor(InnerParts.of(approvals, GatedTurns.class), builder.conversations,
				resolver, builder.requireSession, builder.rules);
		boolean resolves = builder.resolver != null || builder.requireSession;
		this.roundAdvisor = new SessionRoundAdvisor(resolves, builder.requireFinishReason);
		this.modelAdvisor = new SessionModelAdvisor(resolves);
	}

	/**
	 * Creates an advisor without a resolver that lets calls without a session pass.
	 * @param conversations the sessions
	 * @return the advisor
	 */
	public static SessionAdvisor of(Conversations conversations) {
		return builder(conversations).build();
	}

	/**
	 * Creates a builder. By default there is no resolver, and calls without a session
	 * pass.
	 * @param conversations the sessions
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations) {
		return new Builder(conversations);
	}

	/**
	 * Names the session of a call: one of the caller's, or one without owner if sessions
	 * do not depend on a caller
	 * ({@link io.sessionkit.conversation.Conversations.Builder#access}).
	 * @param id the session's id
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws io.sessionkit.InvalidSessionKeyException if the id breaks a rule
	 */
	public static Consumer<ChatClient.AdvisorSpec> session(String id) {
		return session(SessionKey.of(id));
	}

	/**
	 * Names the session of a call.
	 * @param key the session
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> session(SessionKey key) {
		return (advisors) -> advisors.param(SESSION, key).param(SessionCall.CONVERSATION_ID, key.id());
	}

	/**
	 * Leaves a call without a session, whatever the client's defaults, a resolver or
	 * <code>sessionkit.require-session</code> say. This is for a title, a classification,
	 * or a call inside a tool. The call has no history and is not stored. Hooks and
	 * guards do not run. Policies and time limits count for its tools, and those that
	 * need an approval refuse to run. Settings of the client, such as an agent or a
	 * concurrency, are left aside. A call that names a turn, a branch, a history, a child
	 * or an idempotency key is refused.
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> none() {
		return (advisors) -> advisors.param(SESSION, SessionCall.NO_SESSION);
	}

	/**
	 * Names the agent that answers a call. The name is kept with the turn.
	 * @param name the agent's name
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws IllegalArgumentException if the name is blank
	 */
	public static Consumer<ChatClient.AdvisorSpec> agent(String name) {
		if (name.isBlank()) {
			throw new IllegalArgumentException("The name of an agent must not be blank. Leave it out for none.");
		}
		return (advisors) -> advisors.param(AGENT, name);
	}

	/**
	 * Limits the history of one call. This replaces the limit in the settings of the
	 * session, whichever is larger; the configured limits apply too.
	 * @param items the maximum number of items of history to send, the newest ones in
	 * whole turns; 0 for none, {@link Integer#MAX_VALUE} for no limit
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> limit(int items) {
		return (advisors) -> advisors.param(LIMIT, items);
	}

	/**
	 * Names the newest turn that the caller has seen in the session. If the session is
	 * absent or has never had a turn of that number, the call throws
	 * {@link io.sessionkit.SessionLostException} before the model is called, instead of
	 * beginning a new session silently.
	 * @param number the number of the turn, from {@link #turn(ChatResponse)} of an
	 * earlier response or {@link io.sessionkit.Session#turns()}; 0 to expect nothing
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws IllegalArgumentException if the number is negative
	 */
	public static Consumer<ChatClient.AdvisorSpec> expectTurn(long number) {
		if (number < 0) {
			throw new IllegalArgumentException(
					"The turn that a call expects must not be negative: " + number + ". Use 0 to expect nothing.");
		}
		return (advisors) -> advisors.param(EXPECT_TURN, number);
	}

	/**
	 * Lets a call take the place of a turn, with another question. The call begins with
	 * the history before that turn. When it has an answer, its turn becomes the head, and
	 * the turn in whose place it stands is kept as a sibling, with all turns behind it
	 * ({@link io.sessionkit.conversation.Conversation#siblings}). If the call fails, is
	 * cancelled or refused, nothing has changed; while its tool calls wait, the old turns
	 * stay. A turn whose place cannot be taken, since it is not there for example, is a
	 * {@link io.sessionkit.store.ChangeRefusedException} of the call.
	 * @param turn the number of a turn of the active branch, or of one that was kept
	 * beside it
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws IllegalArgumentException if the number is not positive
	 */
	public static Consumer<ChatClient.AdvisorSpec> editing(long turn) {
		checkNumber(turn);
		return (advisors) -> advisors.param(SessionParameters.EDITING, turn);
	}

	/**
	 * Lets a call ask the question of a turn again. It takes the place of that turn as
	 * {@link #editing} does. The call itself has no message.
	 * @param turn the number of a turn of the active branch, or of one that was kept
	 * beside it
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws IllegalArgumentException if the number is not positive
	 */
	public static Consumer<ChatClient.AdvisorSpec> regenerating(long turn) {
		checkNumber(turn);
		return (advisors) -> advisors.param(SessionParameters.REGENERATING, turn);
	}

	/**
	 * Lets a call ask the question of the newest turn of the active branch again, as
	 * {@link #regenerating(long)} does.
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> regenerating() {
		return (advisors) -> advisors.param(SessionParameters.REGENERATING, 0L);
	}

	/**
	 * Names the branch that a call continues. The active branch stays the active one for
	 * others. A call that continues a turn whose tool calls wait need not name a branch,
	 * since the turn knows its own; if it names another one, it is a
	 * {@link io.sessionkit.NothingWaitsException}. A branch that is not there is a
	 * {@link io.sessionkit.store.ChangeRefusedException} of the call. A branch that is
	 * not active is not summarized by its calls.
	 * @param name the name of a branch of the session
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws IllegalArgumentException if the name is blank
	 */
	public static Consumer<ChatClient.AdvisorSpec> branch(String name) {
		if (name.isBlank()) {
			throw new IllegalArgumentException(
					"The name of a branch must not be blank. Leave it out for the active one.");
		}
		return (advisors) -> advisors.param(SessionParameters.BRANCH, name);
	}

	/**
	 * Brings the history of a call, as {@link HistoryPolicy#OVERRIDE} says: the call
	 * leaves its session as it is.
	 * @param messages the history, without system text; null for none, so that the
	 * session has it. A copy is taken
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> history(@Nullable List<? extends Message> messages) {
		return history(messages, HistoryPolicy.OVERRIDE);
	}

	/**
	 * Brings the history of a call. It is sent as it is, in front of the input. It must
	 * be a sequence that a model can be sent, otherwise the call is refused before that.
	 * @param messages the history, without system text; null for none, so that the
	 * session has it. A copy is taken
	 * @param policy what becomes of the history and of the turn
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> history(@Nullable List<? extends Message> messages,
			HistoryPolicy policy) {
		if (messages == null) {
			return (advisors) -> {
			};
		}
		List<Message> copies = Copies.of(messages);
		return (advisors) -> advisors.param(HISTORY, copies).param(HISTORY_POLICY, policy);
	}

	/**
	 * Lets a call only read its session: it is sent with the history of the session in
	 * front, within the limits, and nothing of its turn is stored. So
	 * {@link #turn(ChatResponse)} is empty for its response, and no configured listener
	 * hears of it. Hooks and guards check the call as they check any. Tools that need an
	 * approval refuse to run. A call on the session of a turn that it is made inside of
	 * only reads, whether it says so or not.
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> reading() {
		return (advisors) -> advisors.param(SessionParameters.READING, true);
	}

	/**
	 * Gives a call a child session with a history of its own, which stays.
	 * @param name the name of the child, under the rules of {@link SessionKey#child}
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws io.sessionkit.InvalidSessionKeyException if the name breaks a rule
	 */
	public static Consumer<ChatClient.AdvisorSpec> child(String name) {
		return child(ChildSession.of(name));
	}

	/**
	 * Gives a call a child session. Its parent is the session that the call names; if it
	 * names none, that of the turn that the call is made inside of, or else the one that
	 * the resolver finds.
	 * @param child the child session
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> child(ChildSession child) {
		return (advisors) -> advisors.param(SessionParameters.CHILD, child);
	}

	private static void checkNumber(long turn) {
		if (turn < 1) {
			throw new IllegalArgumentException("A turn has a number from 1, not " + turn + ".");
		}
	}

	/**
	 * Adds a hook to a call. It runs inside the hooks of all calls. Several calls of this
	 * method add several hooks.
	 * @param hook the hook
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> hook(SessionHook hook) {
		return CallAddition.add(SessionHook.class, hook);
	}

	/**
	 * Adds a listener to a call. Several calls of this method add several listeners. A
	 * call without a session has nothing to tell them.
	 * @param listener the listener
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> listener(SessionListener listener) {
		return CallAddition.add(SessionListener.class, listener);
	}

	/**
	 * Sets the merge that combines the history and the input of a call, instead of the
	 * configured merge.
	 * @param merge the merge
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> merge(HistoryMerge merge) {
		return (advisors) -> advisors.param(SessionParameters.MERGE, merge);
	}

	/**
	 * Sets what becomes of the answer of a streamed call if its subscriber cancels while
	 * the answer arrives, instead of the configured rule.
	 * @param onCancel the rule
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> onCancel(OnCancel onCancel) {
		return (advisors) -> advisors.param(SessionParameters.ON_CANCEL, onCancel);
	}

	/**
	 * Sets how a call is treated while another one works on the session, instead of the
	 * configured rule.
	 * @param concurrency the rule
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> concurrency(Concurrency concurrency) {
		return (advisors) -> advisors.param(SessionParameters.CONCURRENCY, concurrency);
	}

	/**
	 * Lets a call begin a turn of its own in any case. With {@link Concurrency#STEER} its
	 * messages do not join the turn at work, and it waits as with
	 * {@link Concurrency#SERIALIZE}; messages of other calls may join its turn. For a
	 * page on which users choose whether what they say is the next question or joins the
	 * answer that is being made.
	 * @return the argument for {@code prompt().advisors(..)}
	 */
	public static Consumer<ChatClient.AdvisorSpec> ownTurn() {
		return (advisors) -> advisors.param(SessionParameters.OWN_TURN, true);
	}

	/**
	 * Gives the request of a call a name, so that its client can repeat it. If a call
	 * with the same name was made on the session before, and its turn has not ended
	 * longer ago than {@code sessionkit.idempotency-time-to-live}, the model is not
	 * called: the call gets the reply that is stored, or waits for the call that runs. If
	 * that call failed, or its process died, before anything of its turn was stored, this
	 * one runs, with the tools that it calls. If it broke off between steps, this one
	 * continues the turn. It needs the same messages, agent and place to begin at, else
	 * it is refused with an {@link io.sessionkit.IdempotencyKeyException}.
	 * @param key a name that the client gives to each of its requests, such as a random
	 * UUID, and keeps when it repeats one
	 * @return the argument for {@code prompt().advisors(..)}
	 * @throws IllegalArgumentException if the name is blank or longer than 255 characters
	 */
	public static Consumer<ChatClient.AdvisorSpec> idempotencyKey(String key) {
		if (key.isBlank() || key.length() > SessionKey.MAX_LENGTH) {
			throw new IllegalArgumentException("An idempotency key has 1 to " + SessionKey.MAX_LENGTH
					+ " characters and is not blank; this one has " + key.length()
					+ ". Use a random UUID, for example.");
		}
		return (advisors) -> advisors.param(SessionParameters.IDEMPOTENCY_KEY, key);
	}

	/**
	 * Returns whether a response repeats the reply of an earlier call with the same
	 * idempotency key. Nothing was paid for it, so it has no usage.
	 * @param response a response, or any element of a stream
	 * @return true if the model was not called
	 */
	public static boolean isRepeated(@Nullable ChatResponse response) {
		return response != null && Boolean.TRUE.equals(response.getMetadata().get(SessionParameters.REPEATED));
	}

	/**
	 * Returns whether a response repeats the reply of an earlier call with the same
	 * idempotency key.
	 * @param response a response, or any element of a stream
	 * @return true if the model was not called
	 */
	public static boolean isRepeated(@Nullable ChatClientResponse response) {
		return isRepeated(chat(response));
	}

	/**
	 * Returns whether the messages of a call have joined the turn of another call, with
	 * {@link Concurrency#STEER}. The response is the reply of that turn, or its pause if
	 * tool calls wait for a person, and {@link #turn(ChatResponse)} returns it. The cost
	 * is that of the other call, so this one has no usage.
	 * @param response a response, or any element of a stream
	 * @return true if this call itself has run nothing
	 */
	public static boolean isSteered(@Nullable ChatResponse response) {
		return response != null && Boolean.TRUE.equals(response.getMetadata().get(SessionParameters.STEERED));
	}

	/**
	 * Returns whether the messages of a call have joined the turn of another call.
	 * @param response a response, or any element of a stream
	 * @return true if this call itself has run nothing
	 */
	public static boolean isSteered(@Nullable ChatClientResponse response) {
		return isSteered(chat(response));
	}

	/**
	 * Returns the turn that a response belongs to, as it was stored.
	 * @param response a response, or the last element of a stream
	 * @return the turn; empty if the call named no session or only read it, and for the
	 * other elements of a stream
	 */
	public static Optional<TurnResult> turn(@Nullable ChatResponse response) {
		return (response != null) ? Optional.ofNullable(response.getMetadata().get(SessionParameters.TURN))
				: Optional.empty();
	}

	/**
	 * Returns the turn that a response belongs to, as it was stored.
	 * @param response a response, or the last element of a stream
	 * @return the turn; empty if the call named no session or only read it, and for the
	 * other elements of a stream
	 */
	public static Optional<TurnResult> turn(@Nullable ChatClientResponse response) {
		return turn(chat(response));
	}

	/**
	 * Returns the tool calls that wait for a person, if a response reports any. Such a
	 * response has no text, and has the finish reason {@code approvalRequired}.
	 * @param response a response, or the last element of a stream
	 * @return the calls; none if nothing waits
	 */
	public static List<ToolApproval> pending(@Nullable ChatResponse response) {
		if (response == null) {
			return List.of();
		}
		List<ToolApproval> pending = new ArrayList<>();
		for (Generation generation : response.getResults()) {
			List<ToolApproval> waiting = generation.getMetadata().get(Pause.PENDING);
			pending.addAll((waiting != null) ? waiting : List.of());
		}
		return List.copyOf(pending);
	}

	/**
	 * Returns the tool calls that wait for a person, if a response reports any.
	 * @param response a response, or the last element of a stream
	 * @return the calls; none if nothing waits
	 */
	public static List<ToolApproval> pending(@Nullable ChatClientResponse response) {
		return pending(chat(response));
	}

	private static @Nullable ChatResponse chat(@Nullable ChatClientResponse response) {
		return (response != null) ? response.chatResponse() : null;
	}

	@Override
	public SessionAccess access() {
		return this.access;
	}

	BeanParts parts() {
		return this.turnAdvisor::has;
	}

	/**
	 * Adds the three advisors to a client or a call. Adding them twice has no further
	 * effect.
	 * @param advisors the advisors of the client or the call
	 */
	@Override
	public void accept(ChatClient.AdvisorSpec advisors) {
		advisors.advisors(this.turnAdvisor, this.roundAdvisor, this.modelAdvisor);
	}

	/**
	 * Builds a {@link SessionAdvisor}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private @Nullable SessionKeyResolver resolver;

		private boolean requireSession;

		private boolean requireFinishReason;

		private @Nullable Approvals approvals;

		private CallRules rules = CallRules.DEFAULT;

		private Builder(Conversations conversations) {
			this.conversations = conversations;
		}

		/**
		 * Sets the resolver that finds the session of a call that names none. The default
		 * is none.
		 * @param resolver the resolver
		 * @return this builder
		 */
		public Builder resolver(SessionKeyResolver resolver) {
			this.resolver = resolver;
			return this;
		}

		/**
		 * Sets the rules for tool calls that need consent. By default only calls of tools
		 * whose method has {@link io.sessionkit.approval.RequiresApproval} need it.
		 * @param approvals the approvals, of the same conversations
		 * @return this builder
		 */
		public Builder approvals(Approvals approvals) {
			this.approvals = approvals;
			return this;
		}

		/**
		 * Sets whether a call that names no session is refused. By default it passes.
		 * {@link SessionAdvisor#none()} is never refused.
		 * @param requireSession true to refuse
		 * @return this builder
		 */
		public Builder requireSession(boolean requireSession) {
			this.requireSession = requireSession;
			return this;
		}

		/**
		 * Sets whether a turn fails if a streamed reply of the model ends without a
		 * finish reason, before the tools run that the reply calls: the connection may
		 * have been lost within the reply. By default the reply counts as it is, since
		 * some models send none.
		 * @param requireFinishReason true to fail
		 * @return this builder
		 */
		public Builder requireFinishReason(boolean requireFinishReason) {
			this.requireFinishReason = requireFinishReason;
			return this;
		}

		/**
		 * Sets what becomes of the answer of a stream whose subscriber cancels while the
		 * answer arrives. The default is {@link OnCancel#DISCARD}.
		 * @param onCancel the rule
		 * @return this builder
		 */
		public Builder onCancel(OnCancel onCancel) {
			this.rules = this.rules.onCancel(onCancel);
			return this;
		}

		/**
		 * Sets how a call is treated while another one works on its session. The default
		 * is {@link Concurrency#OPTIMISTIC}.
		 * @param concurrency the rule
		 * @return this builder
		 */
		public Builder concurrency(Concurrency concurrency) {
			this.rules = this.rules.concurrency(concurrency);
			return this;
		}

		/**
		 * Sets how long a call waits at most for the calls before it, and before that for
		 * one that makes the same request. The default is one minute each.
		 * @param timeout the time, at most a year; zero not to wait
		 * @return this builder
		 * @throws IllegalArgumentException if the time is negative or longer
		 */
		public Builder concurrencyTimeout(Duration timeout) {
			this.rules = this.rules.concurrencyTimeout(timeout);
			return this;
		}

		/**
		 * Sets how long a request with an idempotency key can be repeated, from when its
		 * turn has ended. If the turn has waited for a person, or was ended by another
		 * call, it can be as long as there is the session. The default is one day.
		 * @param timeToLive the time
		 * @return this builder
		 * @throws IllegalArgumentException if the time is not positive
		 */
		public Builder idempotencyTimeToLive(Duration timeToLive) {
			this.rules = this.rules.idempotencyTimeToLive(timeToLive);
			return this;
		}

		/**
		 * Builds the advisor.
		 * @return a new advisor
		 */
		public SessionAdvisor build() {
			return new SessionAdvisor(this);
		}

	}

}
