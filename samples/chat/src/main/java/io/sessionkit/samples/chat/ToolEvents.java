package io.sessionkit.samples.chat;

import java.time.Duration;

import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionListener;
import reactor.core.publisher.Sinks;

/**
 * Tells the reader of one reply which tools it calls, and what they return. If the reader
 * is gone, nobody is told.
 */
final class ToolEvents implements SessionListener {

	/** Two threads rarely tell at once, and never for long. */
	private static final Sinks.EmitFailureHandler PATIENCE = Sinks.EmitFailureHandler
		.busyLooping(Duration.ofSeconds(1));

	private final Sinks.Many<ToolEvent> reader;

	ToolEvents(Sinks.Many<ToolEvent> reader) {
		this.reader = reader;
	}

	@Override
	public void toolCalled(SessionEvent.ToolCalled event) {
		tell(new ToolEvent(ToolEvent.State.CALLED, event.call().id(), event.call().name(), event.call().arguments()));
	}

	@Override
	public void toolReturned(SessionEvent.ToolReturned event) {
		tell(new ToolEvent(ToolEvent.State.RETURNED, event.response().id(), event.response().name(),
				event.response().responseData()));
	}

	private void tell(ToolEvent event) {
		if (this.reader.currentSubscriberCount() > 0) {
			this.reader.emitNext(event, (signal, result) -> result == Sinks.EmitResult.FAIL_NON_SERIALIZED
					&& PATIENCE.onEmitFailure(signal, result));
		}
	}

}
