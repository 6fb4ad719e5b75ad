package io.sessionkit.stream;

import java.util.concurrent.atomic.AtomicBoolean;

import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;

/**
 * Streams a call as events: the text, each tool call and its result as it ends, what
 * waits for an approval, and the end of the turn.
 *
 * <pre>{@code
 * Flux<CallEvent> events = CallEvents.of(chat.prompt().user(text).advisors(SessionAdvisor.session("t1")));
 * }</pre>
 *
 * Subscribing does not wait for the store: a call on a session asks it, hooks and
 * listeners on threads that may wait. Safe for use by many threads.
 */
public final class CallEvents {

	private CallEvents() {
	}

	/**
	 * Returns the events of a call, which is made when they are subscribed to. A
	 * subscriber who cancels cancels the call, as with any stream. One who reads slowly
	 * delays neither the model nor the tools: events that are not read yet are kept in
	 * memory.
	 * <p>
	 * A failure before the first event is the error of the {@code Flux}, so that an HTTP
	 * answer gets its status. A later one is the event {@link CallEvent.Failed}, after
	 * which the {@code Flux} completes; the class of the exception is logged, and
	 * listeners and observers are told of it as ever.
	 * <p>
	 * A call without a session has the texts and the end alone.
	 * @param call the call, not executed yet
	 * @return the events, for one subscriber; a second one gets an
	 * {@link IllegalStateException}
	 */
	public static Flux<CallEvent> of(ChatClientRequestSpec call) {
		AtomicBoolean used = new AtomicBoolean();
		return CallReader.events((reader) -> {
			if (!used.compareAndSet(false, true)) {
				throw usedTwice();
			}
			reader.read(call);
		});
	}

	static IllegalStateException usedTwice() {
		return new IllegalStateException("The events of this call have a subscriber already. Start with"
				+ " prompt() again for another call; for several subscribers, share the events of one, with"
				+ " Flux.publish() or replay().");
	}

}
