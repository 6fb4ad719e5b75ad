package io.sessionkit.observation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Calls the observers of one stage of a stream, none of which can disturb the others or
 * the stream. Each finds what those around it have added to the context.
 */
final class SafeStream implements ObservedStream {

	private final List<ObservedStream> outsideIn = new ArrayList<>();

	private final AtomicBoolean over = new AtomicBoolean();

	private Context context;

	/**
	 * Begins to observe a stage.
	 * @param calls the observers of the call, the outermost first
	 * @param outer the context of the subscriber
	 */
	SafeStream(List<ObservedCall> calls, CallStage stage, ContextView outer) {
		this.context = Context.of(outer);
		calls.forEach((call) -> SafeObserver.tellOne(call, (each) -> begin(each, stage)));
	}

	private void begin(ObservedCall call, CallStage stage) {
		ObservedStream stream = SafeObserver.returned(call, call.observeStream(stage, this.context),
				ObservedStream.NONE);
		this.outsideIn.add(stream);
		this.context = this.context.putAll(stream.context());
	}

	@Override
	public ContextView context() {
		return this.context;
	}

	@Override
	public void completed() {
		end(ObservedStream::completed);
	}

	@Override
	public void failed(Throwable failure) {
		end((stream) -> stream.failed(failure));
	}

	@Override
	public void cancelled() {
		end(ObservedStream::cancelled);
	}

	/** A subscriber may cancel what has just ended. */
	private void end(Consumer<ObservedStream> news) {
		if (this.over.compareAndSet(false, true)) {
			SafeObserver.reversed(this.outsideIn).forEach((stream) -> SafeObserver.tellOne(stream, news));
		}
	}

}
