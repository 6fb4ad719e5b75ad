package io.sessionkit.stream;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.sessionkit.SessionException;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.Thrown;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.call.TurnWait;
import io.sessionkit.internal.call.UnreadErrors;
import io.sessionkit.internal.message.Replies;
import io.sessionkit.internal.round.CallWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.util.context.Context;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Reads one call and passes its events on, in the order in which they happen. It listens
 * to this call alone. Safe for use by many threads: tools may end on any.
 */
final class CallReader extends BaseSubscriber<ChatResponse> implements CallWatch, TurnWait {

	private static final Log logger = LogFactory.getLog(CallReader.class);

	/** The code of a failure whose exception is none of SessionKit. */
	static final String ERROR = "error";

	/** The codes of failures after which nobody knows, unless an event has said it. */
	private static final Set<String> UNKNOWN = Set.of("store-unavailable", "conflict", ERROR);

	private final FluxSink<CallEvent> sink;

	private final ToolResults results = new ToolResults();

	private volatile @Nullable String turnId;

	/** What is kept of a turn that has failed; null as long as nothing says it. */
	private volatile SessionEvent.@Nullable Kept kept;

	/** Leaves the line in which the call waits; null if it has not waited. */
	private volatile @Nullable BooleanSupplier leaving;

	/** True if there has been an event. */
	private volatile boolean begun;

	/** True if there has been an event of the turn. */
	private volatile boolean works;

	private volatile boolean stopped;

	/**
	 * True if the turn of the call is being opened, or is open: then there will be an end
	 * of it. Guarded by this.
	 */
	private boolean opens;

	/** The turn that is the result of a call that works on none; null for none. */
	private volatile @Nullable Turn answering;

	/** The end of the turn as it is stored; null as long as it is not. */
	private volatile CallEvent.@Nullable Ended stored;

	/** True once a turn of the call is history, also if the call was made again since. */
	private volatile boolean history;

	private boolean ended;

	/** The turn as it is stored; null as long as it is not. */
	private volatile @Nullable TurnResult result;

	/** The exception of a call that has failed after its first event. */
	private volatile @Nullable Throwable failure;

	private final WholeCharacters texts = new WholeCharacters();

	private final Reasoning thoughts = new Reasoning();

	/**
	 * Set if the texts are those of a turn that is stored, since a hook checks replies,
	 * or another call has worked.
	 */
	private volatile boolean isStored;

	CallReader(FluxSink<CallEvent> sink) {
		this.sink = sink;
	}

	/**
	 * Returns the events that a reader passes on. Whoever stops a call and whoever stores
	 * its turn may both end them, each on a thread of its own, and a tool may end at the
	 * same time: nothing comes behind the first end.
	 * @param reading makes the call
	 */
	static Flux<CallEvent> events(Consumer<CallReader> reading) {
		return Flux.defer(() -> {
			AtomicBoolean ended = new AtomicBoolean();
			return Flux.<CallEvent>create((sink) -> reading.accept(new CallReader(sink)))
				.filter((event) -> !(isLast(event) ? ended.getAndSet(true) : ended.get()));
		});
	}

	/** Returns whether an event is the end of its call. */
	static boolean isLast(CallEvent event) {
		return event instanceof CallEvent.Ended || event instanceof CallEvent.Failed || event instanceof CallEvent.Lost;
	}

	/** Makes the call, and cancels it when its events are no longer read. */
	void read(ChatClientRequestSpec call) {
		this.sink.onDispose(this);
		UnreadErrors
			.loggedByClass(call.advisors(SessionAdvisor.listener(this))
				.advisors((advisors) -> advisors.param(SessionParameters.READER, this))
				.stream()
				.chatResponse())
			.subscribe(this);
	}

	/**
	 * Cancels the call. Its events end when the turn is stored.
	 * @return whether there will be an end: false if no turn has been opened yet
	 */
	boolean stop() {
		this.stopped = true;
		dispose();
		CallEvent.Ended known = this.stored;
		if (known != null) {
			end(known);
		}
		return this.turnId != null;
	}

	/**
	 * Ends the events of a call that was stopped and has no end of its own. If its
	 * message has joined the turn of another call, it stays there, and unless that turn
	 * is stored, nobody knows yet what becomes of it. If its turn is being opened, it
	 * ends when that is known, since nothing interrupts it. May block.
	 */
	void stopped() {
		synchronized (this) {
			if (this.opens) {
				return;
			}
		}
		try {
			stopped(this.leaving, this.answering);
		}
		catch (RuntimeException ex) {
			// nobody knows whether the turn of another call has the message
			lost();
		}
	}

	private void stopped(@Nullable BooleanSupplier leaving, @Nullable Turn result) {
		boolean joined = leaving != null && leaving.getAsBoolean();
		if (joined) {
			send(new CallEvent.Steered());
		}
		if (result != null) {
			end(ended(result));
		}
		else {
			end(joined ? new CallEvent.Lost() : new CallEvent.Ended(this.turnId, 0, TurnStatus.CANCELLED));
		}
	}

	@Override
	public synchronized void opens() {
		this.opens = true;
	}

	@Override
	public void opened(@Nullable Turn result) {
		synchronized (this) {
			this.answering = result;
			this.opens = false;
		}
		if (this.stopped) {
			stopped();
		}
	}

	/**
	 * Ends the events of a call that was stopped, and whose turn is not stored in time.
	 */
	void lost() {
		end(new CallEvent.Lost());
	}

	/**
	 * Tells the readers that they will see no more of the call, which goes on.
	 */
	void breakOff() {
		send(new CallEvent.Lost());
	}

	private void stored(CallEvent.Ended end) {
		this.stored = end;
		if (this.stopped) {
			end(end);
		}
	}

	@Override
	public Context currentContext() {
		return Context.of(this.sink.contextView());
	}

	@Override
	public void modelCalled(SessionEvent.ModelCalled event) {
		begin(event.turnId());
	}

	@Override
	public void waits(BooleanSupplier leaving) {
		this.leaving = leaving;
		if (!this.begun) {
			send(new CallEvent.InLine());
		}
	}

	/**
	 * A call that continues a turn runs its tools first. If an advisor outside of the
	 * session has made it again, what has ended before is another turn.
	 */
	private void begin(String turnId) {
		if (!turnId.equals(this.turnId)) {
			this.stored = null;
			this.kept = null;
		}
		this.turnId = turnId;
		if (!this.works) {
			send(new CallEvent.Begun(turnId));
		}
	}

	@Override
	public void toolCalled(SessionEvent.ToolCalled event) {
		begin(event.turnId());
		this.results.called(event.call());
		sayRest();
		send(new CallEvent.ToolCalled(whole(event.call().id()), whole(event.call().name()),
				whole(event.call().arguments())));
	}

	@Override
	public void toolEnded(String tool, String arguments, String result) {
		ToolCall call = this.results.ended(tool, arguments, orEmpty(result));
		if (call != null) {
			send(new CallEvent.ToolReturned(whole(call.id()), whole(tool), whole(result)));
		}
	}

	/** Models and tools may leave out what is not to be absent. */
	private static String orEmpty(@Nullable String text) {
		return Objects.requireNonNullElse(text, "");
	}

	/**
	 * They may also cut a text within a character, which no store keeps, so that those
	 * who read it here would get another text than those who come back.
	 */
	private static String whole(@Nullable String text) {
		return LoneSurrogates.replaced(orEmpty(text));
	}

	@Override
	public void joined(List<Message> messages) {
		messages.forEach((message) -> send(new CallEvent.Joined(whole(message.getText()))));
	}

	@Override
	public void checked() {
		this.isStored = true;
	}

	@Override
	public void toolReturned(SessionEvent.ToolReturned event) {
		if (!this.results.isKnown(event.response())) {
			send(new CallEvent.ToolReturned(whole(event.response().id()), whole(event.response().name()),
					whole(event.response().responseData())));
		}
	}

	@Override
	public void failed(SessionEvent.Failed event) {
		this.turnId = event.turnId();
		this.kept = event.kept();
		TurnStatus status = event.status();
		if (status != null) {
			stored(new CallEvent.Ended(event.turnId(), 0, status));
			return;
		}
		this.stored = null;
		if (this.stopped) {
			lost();
		}
	}

	@Override
	public void refused(SessionEvent.Refused event) {
		this.turnId = event.turnId();
		stored(new CallEvent.Ended(event.turnId(), 0, TurnStatus.REFUSED));
	}

	@Override
	public void committed(SessionEvent.Committed event) {
		this.history |= event.turn().status() == TurnStatus.COMPLETED;
		stored(ended(event.turn()));
	}

	@Override
	public void paused(SessionEvent.Paused event) {
		stored(ended(event.turn()));
	}

	private static CallEvent.Ended ended(Turn turn) {
		return new CallEvent.Ended(turn.id(), turn.number(), turn.status());
	}

	@Override
	protected void hookOnNext(ChatResponse response) {
		TurnResult result = SessionAdvisor.turn(response).orElse(null);
		if (!this.works) {
			sayWhoseAnswerItIs(response);
		}
		if (result == null) {
			said(response);
			return;
		}
		this.result = result;
		List<ToolApproval> pending = SessionAdvisor.pending(response);
		if (!pending.isEmpty()) {
			send(new CallEvent.Waiting(pending.stream().map(CallReader::waiting).toList()));
		}
		last(ended(result.turn()));
	}

	private void sayWhoseAnswerItIs(ChatResponse response) {
		boolean steered = SessionAdvisor.isSteered(response);
		if (steered || SessionAdvisor.isRepeated(response)) {
			this.isStored = true;
			send(steered ? new CallEvent.Steered() : new CallEvent.Repeated());
		}
	}

	private static CallEvent.WaitingCall waiting(ToolApproval call) {
		String description = call.description();
		return new CallEvent.WaitingCall(call.id(), whole(call.callId()), whole(call.tool()), whole(call.arguments()),
				(description != null) ? whole(description) : null, call.asShown());
	}

	/**
	 * Passes on what a chunk has of the reply. Some models send their thoughts as
	 * generations in front of it.
	 */
	private void said(ChatResponse chunk) {
		Generation chosen = Replies.chosen(chunk);
		for (Generation generation : chunk.getResults()) {
			if (generation == chosen || Replies.isThought(generation.getOutput())) {
				thought(generation.getOutput());
			}
		}
		if (chosen != null && !Replies.isThought(chosen.getOutput())) {
			text(chosen.getOutput());
		}
	}

	private void thought(AssistantMessage message) {
		String thought = this.isStored ? "" : whole(this.thoughts.add(message));
		if (!thought.isEmpty()) {
			send(new CallEvent.Reasoning(thought));
		}
	}

	private void text(AssistantMessage message) {
		String text = whole(this.texts.add(orEmpty(message.getText())));
		if (!text.isEmpty()) {
			send(new CallEvent.Text(text));
		}
	}

	@Override
	protected void hookOnComplete() {
		if (!this.ended) {
			last(new CallEvent.Ended(this.turnId, 0, TurnStatus.COMPLETED));
		}
		this.sink.complete();
	}

	private void last(CallEvent.Ended event) {
		sayRest();
		this.ended = true;
		send(event);
	}

	/** A text that ends within a character is not continued by that of the next reply. */
	private void sayRest() {
		String rest = this.texts.end();
		if (!rest.isEmpty()) {
			send(new CallEvent.Text(rest));
		}
	}

	@Override
	protected void hookOnError(Throwable ex) {
		Throwable cause = Thrown.cause(ex);
		if (!this.begun) {
			this.sink.error(cause);
			return;
		}
		this.failure = cause;
		logger.warn("A call whose events are read has failed: " + cause.getClass().getName());
		CallEvent.Ended known = this.stored;
		TurnStatus status = (known != null) ? known.status() : null;
		end(new CallEvent.Failed(this.turnId, status, code(cause), messageKept(cause, status)));
	}

	/**
	 * Returns whether the message of the call is known to be kept, or known not to be;
	 * null if nobody knows.
	 */
	private @Nullable Boolean messageKept(Throwable cause, @Nullable TurnStatus status) {
		if (SessionException.isMessageKept(cause) || this.history) {
			return true;
		}
		if (status != null) {
			return status.isOpen() || status == TurnStatus.COMPLETED;
		}
		return isKeptUnknown(cause) ? null : Boolean.FALSE;
	}

	/**
	 * Without an event, a turn that has begun has not ended yet, as if an advisor outside
	 * of the session has given it up.
	 */
	private boolean isKeptUnknown(Throwable cause) {
		SessionEvent.Kept known = this.kept;
		return (known != null) ? known == SessionEvent.Kept.UNKNOWN
				: this.turnId != null || UNKNOWN.contains(code(cause));
	}

	private static String code(Throwable cause) {
		return (cause instanceof SessionException thrown) ? thrown.code() : ERROR;
	}

	/** Returns the turn as it is stored; null as long as it is not. */
	@Nullable TurnResult result() {
		return this.result;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

	private void end(CallEvent last) {
		send(last);
		this.sink.complete();
	}

	private void send(CallEvent event) {
		this.begun = true;
		this.works |= !(event instanceof CallEvent.InLine);
		this.sink.next(event);
	}

}
