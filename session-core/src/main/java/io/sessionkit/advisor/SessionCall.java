package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.sessionkit.SessionKey;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.approval.OfferedTools;
import io.sessionkit.internal.approval.TurnCall;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.call.StreamStart;
import io.sessionkit.internal.call.TurnWait;
import io.sessionkit.internal.line.Arrival;
import io.sessionkit.internal.line.Request;
import io.sessionkit.internal.opening.Extensions;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.SavingHooks;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.observation.ObservedCall;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;

/**
 * A {@code ChatClient} call, with access to what its request says about the session.
 */
record SessionCall(ChatClientRequest request) {

	/**
	 * The parameter in which Spring AI's observation looks for the conversation id. It is
	 * the value of {@code ChatMemory.CONVERSATION_ID}, copied because that class is going
	 * to be removed.
	 */
	static final String CONVERSATION_ID = "chat_memory_conversation_id";

	/** The value that {@link SessionAdvisor#none()} sets instead of a session. */
	static final Object NO_SESSION = new Object() {

		@Override
		public String toString() {
			return "no session";
		}

	};

	/** A type of its own, so that nothing that a request brings can be taken for it. */
	private record Reached(SessionKey key) {
	}

	/**
	 * Returns whether the call asks for no session, even if something else would name
	 * one.
	 */
	boolean isWithoutSession() {
		return this.request.context().get(SessionParameters.SESSION) == NO_SESSION;
	}

	/**
	 * Returns the session that the call itself names.
	 * @throws IllegalStateException if it names two
	 */
	Optional<SessionKey> namedKey() {
		if (isWithoutSession()) {
			return Optional.empty();
		}
		SessionKey own = parameters().key(SessionParameters.SESSION);
		SessionKey alias = parameters().key(CONVERSATION_ID);
		if (own != null && alias != null && !own.id().equals(alias.id())) {
			throw new IllegalStateException("The call names two sessions: " + own + " as " + SessionParameters.SESSION
					+ " and " + alias + " as " + CONVERSATION_ID + ". Name one of them.");
		}
		return Optional.ofNullable((own != null) ? own : alias);
	}

	/**
	 * Returns the session that the call itself names, as its caller reaches it.
	 * @param reached finds the key that the caller reaches by a name
	 */
	Optional<SessionKey> namedKey(UnaryOperator<SessionKey> reached) {
		return namedKey().map((named) -> wasReached(named) ? named : reached.apply(named));
	}

	/** An advisor repeats the call. */
	private boolean wasReached(SessionKey named) {
		return this.request.context().get(SessionParameters.REACHED) instanceof Reached before
				&& before.key().equals(named);
	}

	/**
	 * Writes the session into the call as if the call had named it. Spring AI's own
	 * observation finds it there, and so does an advisor that repeats the call.
	 */
	void name(SessionKey key) {
		put(SessionParameters.REACHED, new Reached(key));
		put(SessionParameters.SESSION, key);
		put(CONVERSATION_ID, key.id());
	}

	private void put(String name, Object value) {
		try {
			this.request.context().put(name, value);
		}
		catch (UnsupportedOperationException ex) {
			// an earlier advisor made the context immutable: the observation lacks the
			// session
		}
	}

	/**
	 * Returns what the advisor parameters of the call say.
	 */
	CallParameters parameters() {
		return new CallParameters(this.request);
	}

	/**
	 * Returns the turn of this call; empty if the turn advisor has begun none.
	 */
	Optional<RunningTurn> ownTurn() {
		return Optional.ofNullable((TurnCall) this.request.context().get(SessionParameters.OPEN_CALL))
			.map(TurnCall::turn);
	}

	/**
	 * Refuses tools that an advisor has added at a point where nobody would be asked for
	 * consent.
	 */
	void checkTools() {
		if (this.request.context().get(SessionParameters.OPEN_CALL) instanceof TurnCall call) {
			call.checkTools(tools());
		}
		else if (this.request.context().get(SessionParameters.PASSED) instanceof OfferedTools offer) {
			offer.checkWithoutSession(tools());
		}
	}

	/**
	 * Returns the turn that runs on this call, for the advisors inside the one that opens
	 * it.
	 * @param resolves whether a call may have a session although it names none
	 * @return empty if the call has no session
	 * @throws IllegalStateException if it has one and no turn: the advisor that opens it
	 * was used up by an earlier use of the call
	 */
	Optional<RunningTurn> runningTurn(boolean resolves) {
		Optional<RunningTurn> turn = ownTurn();
		if (turn.isEmpty() && !isPassed() && (resolves || namedKey().isPresent())) {
			throw new IllegalStateException("This call" + namedKey().map((key) -> " on session " + key).orElse("")
					+ " was executed before: another .content(), .chatResponse(), retry or subscription on the same call"
					+ " would ask the model without the session. Keep the first result, or start with prompt() again;"
					+ " to retry a stream, Flux.defer(() -> chat.prompt()...stream().content()).retry(3).");
		}
		return turn;
	}

	/**
	 * Returns the request, marked as seen by the turn advisor.
	 */
	ChatClientRequest passed() {
		return ChatClientRequest.builder()
			.prompt(this.request.prompt())
			.context(this.request.context())
			.context(SessionParameters.PASSED, true)
			.build();
	}

	private boolean isPassed() {
		return this.request.context().containsKey(SessionParameters.PASSED);
	}

	/**
	 * Returns the messages of the caller, without system text.
	 */
	List<Message> input() {
		return this.request.prompt()
			.getInstructions()
			.stream()
			.filter((message) -> !(message instanceof SystemMessage))
			.toList();
	}

	TurnRequest turnRequest(SessionKey key, ObservedCall observed) {
		ChatOptions options = this.request.prompt().getOptions();
		CallParameters said = parameters();
		TurnRequest.Call call = new TurnRequest.Call(said.text(SessionParameters.AGENT),
				(options != null) ? options.getModel() : null, ToolDigests.of(options), keptParameters(), observed);
		Extensions extensions = new Extensions(CallAddition.of(this.request.context(), SessionHook.class),
				CallAddition.of(this.request.context(), SessionListener.class), said.merge());
		return new TurnRequest(key, input(), said.limit(), said.expectedTurn(), said.start(), call, extensions,
				childOf());
	}

	/**
	 * Finds the child session of a call, and writes it into the call as {@link #name}
	 * does.
	 * @param reached finds the key that the caller reaches by a name
	 * @param resolved supplies the parent if the call names none
	 * @return the key of the child; empty if the call has none
	 */
	Optional<SessionKey> childKey(UnaryOperator<SessionKey> reached, Supplier<Optional<SessionKey>> resolved) {
		Object value = this.request.context().get(SessionParameters.CHILD);
		if (value == null) {
			return Optional.empty();
		}
		if (value instanceof TurnRequest.ChildOf) {
			// an advisor repeats the call, which names the child already
			return namedKey(reached);
		}
		if (!(value instanceof ChildSession child)) {
			throw CallParameters.wrongType(SessionParameters.CHILD, "a ChildSession", value, "child");
		}
		ChildPlace place = place(child, reached, resolved);
		put(SessionParameters.CHILD, place.asked());
		return Optional.of(place.key());
	}

	private ChildPlace place(ChildSession child, UnaryOperator<SessionKey> reached,
			Supplier<Optional<SessionKey>> resolved) {
		TurnAccess enclosing = TurnBinding.running();
		Optional<SessionKey> named = namedKey(reached);
		if (enclosing != null && named.isEmpty() && !isWithoutSession()) {
			return ChildPlace.ofTurn(child, enclosing);
		}
		return ChildPlace.of(child, named.or(resolved).orElse(null), enclosing);
	}

	private TurnRequest.@Nullable ChildOf childOf() {
		return (this.request.context().get(SessionParameters.CHILD) instanceof TurnRequest.ChildOf child) ? child
				: null;
	}

	/**
	 * Returns whether a tool advisor outside ours has run tools and calls the model
	 * again. Then the request has the results together with the calls that they answer.
	 * Results alone come from an application that runs the tools itself.
	 */
	boolean isForeignToolRound() {
		List<Message> input = input();
		int last = input.size() - 1;
		while (last > 0 && input.get(last) instanceof ToolResponseMessage) {
			last--;
		}
		return last < input.size() - 1 && input.get(last) instanceof AssistantMessage reply && reply.hasToolCalls();
	}

	/**
	 * Returns the tools that the call offers.
	 */
	List<ToolCallback> tools() {
		List<ToolCallback> tools = (this.request.prompt().getOptions() instanceof ToolCallingChatOptions options)
				? options.getToolCallbacks() : null;
		return (tools != null) ? tools : List.of();
	}

	/**
	 * Returns the options with other tools instead of those that the call offers.
	 */
	private @Nullable ChatOptions options(List<ToolCallback> tools) {
		ChatOptions options = this.request.prompt().getOptions();
		return (options instanceof ToolCallingChatOptions toolOptions && !tools.equals(tools()))
				? toolOptions.mutate().toolCallbacks(tools).build() : options;
	}

	/**
	 * Returns the request for a call without a session, marked as seen by the turn
	 * advisor. Its tools that need an approval refuse to run.
	 * @param toolLoop whether the call runs tools itself
	 */
	ChatClientRequest passed(OfferedTools offer, boolean toolLoop) {
		List<ToolCallback> tools = offer.withoutSession(parameters().text(SessionParameters.AGENT), tools(), toolLoop,
				keptParameters());
		return ChatClientRequest.builder()
			.prompt(new Prompt(this.request.prompt().getInstructions(), options(tools)))
			.context(this.request.context())
			.context(SessionParameters.PASSED, offer)
			.build();
	}

	/**
	 * Returns the request with the turn and its messages: the system text, then the
	 * history and the input, or the messages that a merge made of these two.
	 */
	ChatClientRequest with(TurnCall call) {
		List<Message> messages = new ArrayList<>();
		this.request.prompt().getInstructions().stream().filter(SystemMessage.class::isInstance).forEach(messages::add);
		messages.addAll(call.turn().messages());
		return ChatClientRequest.builder()
			.prompt(new Prompt(messages, options(call.tools())))
			.context(this.request.context())
			.context(SessionParameters.OPEN_CALL, call)
			.build();
	}

	/**
	 * Returns the advisor parameters without those of SessionKit, which may give access
	 * to the store.
	 */
	private Map<String, Object> keptParameters() {
		Map<String, Object> parameters = new HashMap<>(this.request.context());
		parameters.keySet().removeIf(Names::isOwn);
		parameters.values().removeIf(Objects::isNull);
		return parameters;
	}

	/**
	 * Returns the request that the call makes.
	 * @param timeToLive how long the turn that answers it is remembered
	 * @return the request; null if its client cannot tell it from others
	 */
	@Nullable Request made(TurnRequest asking, Duration timeToLive) {
		Object name = this.request.context().get(SessionParameters.IDEMPOTENCY_KEY);
		if (name == null) {
			return null;
		}
		if (name instanceof String text && !text.isBlank()) {
			return Request.of(text, ContentDigest.of(asking), timeToLive);
		}
		throw new IllegalStateException("The advisor parameter " + SessionParameters.IDEMPOTENCY_KEY
				+ " must be a String that is not blank. Use .advisors(SessionAdvisor.idempotencyKey(..)).");
	}

	/**
	 * Lets a stream that can be resumed know the session of the call.
	 * @param ofAll the hooks of all calls
	 */
	void beginStream(TurnRequest asking, List<SessionHook> ofAll) {
		if (this.request.context().get(SessionParameters.STREAM) instanceof StreamStart stream) {
			boolean edited = SavingHooks.areAmong(ofAll) || SavingHooks.areAmong(asking.extensions().hooks());
			stream.opening(new StreamStart.Opening(asking.key(), asking.isStored(), edited, asking.mayBegin(),
					asking.endsWithTurn(), parameters().text(SessionParameters.IDEMPOTENCY_KEY)));
		}
	}

	/** Returns who reads the events of the call. */
	TurnWait reader() {
		return (this.request.context().get(SessionParameters.READER) instanceof TurnWait reader) ? reader
				: TurnWait.NONE;
	}

	/**
	 * Lets those who read the events of the call know that it is not its turn yet.
	 * @param ofAll the hooks of all calls
	 */
	void waits(TurnRequest asking, List<SessionHook> ofAll, Arrival arrival) {
		if (!arrival.isRepeating()) {
			beginStream(asking, ofAll);
			reader().waits(arrival::leaveOrThrow);
		}
		else if (this.request.context().get(SessionParameters.STREAM) instanceof StreamStart stream) {
			stream.repeating(asking.key(),
					Objects.requireNonNull(parameters().text(SessionParameters.IDEMPOTENCY_KEY)));
		}
	}

	/**
	 * Refuses a call without a session that says something of its session.
	 */
	void checkNeedsNoSession() {
		SessionlessCheck.check(this.request.context(), isWithoutSession());
	}

}
