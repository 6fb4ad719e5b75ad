package io.sessionkit.advisor;

import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionRefusedException;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.internal.CarriedError;
import io.sessionkit.internal.round.ToolWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.FluxSink;
import reactor.util.context.Context;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Reads one call and passes its events on, in the order in which they happen. It listens
 * to this call alone. Safe for use by many threads: tools may end on any.
 */
final class CallReader extends BaseSubscriber<ChatResponse> implements ToolWatch {

	private static final Log logger = LogFactory.getLog(CallReader.class);

	private final FluxSink<CallEvent> sink;

	private final ToolResults results = new ToolResults();

	private volatile @Nullable String turn;

	private volatile TurnStatus failed = TurnStatus.FAILED;

	private volatile boolean begun;

	private volatile boolean stopped;

	/** The end of the turn as it is stored; null as long as it is not. */
	private volatile CallEvent.@Nullable Ended stored;

	private boolean ended;

	/** The first half of a character of which the second one has not come yet. */
	private String half = "";

	CallReader(FluxSink<CallEvent> sink) {
		this.sink = sink;
	}

	/** Makes the call, and cancels it when its events are no longer read. */
	void read(ChatClientRequestSpec call) {
		this.sink.onDispose(this);
		call.advisors(SessionAdvisor.listener(this)).stream().chatResponse().subscribe(this);
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
		return this.turn != null;
	}

	/** Ends the events of a call that was stopped and has no end of its own. */
	void stopped() {
		end(new CallEvent.Ended(this.turn, 0, TurnStatus.CANCELLED));
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

	/** A call that continues a turn runs its tools first. */
	private void begin(String turnId) {
		this.turn = turnId;
		if (!this.begun) {
			send(new CallEvent.Begun(turnId));
		}
	}

	@Override
	public void toolCalled(SessionEvent.ToolCalled event) {
		begin(event.turnId());
		this.results.called(event.call());
		send(new CallEvent.ToolCalled(orEmpty(event.call().id()), event.call().name(),
				orEmpty(event.call().arguments())));
	}

	@Override
	public void toolEnded(String tool, String arguments, String result) {
		ToolCall call = this.results.ended(tool, arguments, orEmpty(result));
		if (call != null) {
			send(new CallEvent.ToolReturned(orEmpty(call.id()), tool, orEmpty(result)));
		}
	}

	/** Models and tools may leave out what is not to be absent. */
	private static String orEmpty(@Nullable String text) {
		return Objects.requireNonNullElse(text, "");
	}

	@Override
	public void toolReturned(SessionEvent.ToolReturned event) {
		if (!this.results.isKnown(event.response())) {
			send(new CallEvent.ToolReturned(orEmpty(event.response().id()), event.response().name(),
					orEmpty(event.response().responseData())));
		}
	}

	@Override
	public void failed(SessionEvent.Failed event) {
		this.turn = event.turnId();
		this.failed = event.status();
		stored(new CallEvent.Ended(event.turnId(), 0, event.status()));
	}

	@Override
	public void committed(SessionEvent.Committed event) {
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
		if (result == null) {
			said(response.getResult());
			return;
		}
		List<ToolApproval> pending = SessionAdvisor.pending(response);
		if (!pending.isEmpty()) {
			send(new CallEvent.Waiting(pending.stream().map(CallReader::waiting).toList()));
		}
		last(ended(result.turn()));
	}

	private static CallEvent.WaitingCall waiting(ToolApproval call) {
		return new CallEvent.WaitingCall(call.id(), call.tool(), call.arguments(), call.description());
	}

	private void said(@Nullable Generation generation) {
		String text = (generation != null) ? generation.getOutput().getText() : null;
		if (text == null || text.isEmpty()) {
			return;
		}
		String whole = this.half + text;
		int end = Character.isHighSurrogate(whole.charAt(whole.length() - 1)) ? whole.length() - 1 : whole.length();
		this.half = whole.substring(end);
		if (end > 0) {
			send(new CallEvent.Text(whole.substring(0, end)));
		}
	}

	@Override
	protected void hookOnComplete() {
		if (!this.ended) {
			last(new CallEvent.Ended(this.turn, 0, TurnStatus.COMPLETED));
		}
		this.sink.complete();
	}

	private void last(CallEvent.Ended event) {
		if (!this.half.isEmpty()) {
			send(new CallEvent.Text("\uFFFD"));
			this.half = "";
		}
		this.ended = true;
		send(event);
	}

	@Override
	protected void hookOnError(Throwable ex) {
		Throwable cause = CarriedError.original(ex);
		if (!this.begun) {
			this.sink.error(cause);
			return;
		}
		logger.warn("A call whose events are read has failed: " + cause.getClass().getName());
		TurnStatus status = (cause instanceof SessionRefusedException) ? TurnStatus.REFUSED : this.failed;
		end(new CallEvent.Failed(this.turn, status, cause.getClass().getSimpleName()));
	}

	private void end(CallEvent last) {
		send(last);
		this.sink.complete();
	}

	private void send(CallEvent event) {
		this.begun = true;
		this.sink.next(event);
	}

}
