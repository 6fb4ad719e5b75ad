package io.sessionkit.samples.chat;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import io.sessionkit.SessionException;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.StreamEvent;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.http.ProblemDetail;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.http.codec.ServerSentEvent.Builder;

/**
 * The events of one reply in the words of the page: the last one has the whole turn as it
 * is stored, or a problem that a person can read.
 */
final class ReplyEvents {

	private static final Log logger = LogFactory.getLog(ReplyEvents.class);

	private final Conversation thread;

	/** True if the question has joined the turn of another call. */
	private boolean steered;

	/** True if the turn was stored before, so that the page gets its text with it. */
	private boolean isStored;

	private ReplyEvents(Conversation thread) {
		this.thread = thread;
	}

	/**
	 * Returns the events of a reply. A failure is one of them, since the answer has begun
	 * by then. They end without a turn if the question was taken back, or if the process
	 * that answered is gone: the page asks again then.
	 */
	static Flux<ServerSentEvent<Object>> of(Flux<StreamEvent> events, Conversation thread) {
		return Flux.defer(() -> {
			ReplyEvents reply = new ReplyEvents(thread);
			return events.concatMap((each) -> reply.shown(each.event()).map((shown) -> shown.id(each.id()).build()))
				.onErrorResume((ex) -> ex instanceof SessionException known && isTakenOver(known.code()) ? Mono.empty()
						: Mono.just(event("problem", problem(ex)).build()));
		});
	}

	/**
	 * Returns whether the page is to ask again, since another process takes it from here.
	 */
	private static boolean isTakenOver(String code) {
		return code.equals("shutting-down") || code.equals("handed-over");
	}

	private static ProblemDetail problem(Throwable ex) {
		logger.warn("The turn failed.", ex);
		return Problems.of(ex);
	}

	private Mono<Builder<Object>> shown(CallEvent event) {
		if (event instanceof CallEvent.Ended ended) {
			return reading(() -> end(ended));
		}
		if (event instanceof CallEvent.Failed failed) {
			return isTakenOver(failed.code()) ? Mono.empty()
					: reading(() -> Optional.of(event("problem", withTurn(problem(failed), failed.turnId()))));
		}
		if (event instanceof CallEvent.Lost) {
			return reading(() -> isDeleted() ? Optional.of(event("problem", Problems.deleted())) : Optional.empty());
		}
		this.steered |= event instanceof CallEvent.Steered;
		this.isStored |= this.steered || event instanceof CallEvent.Repeated;
		return Mono.justOrEmpty(this.isStored ? null : work(event));
	}

	private static @Nullable Builder<Object> work(CallEvent event) {
		if (event instanceof CallEvent.Text said) {
			return event("text", new Text(said.text()));
		}
		if (event instanceof CallEvent.Reasoning thought) {
			return event("reasoning", new Text(thought.text()));
		}
		if (event instanceof CallEvent.Joined joined) {
			return event("joined", new Text(joined.text()));
		}
		if (event instanceof CallEvent.ToolCalled call) {
			return event("tool", new Tool(State.CALLED, call.callId(), call.tool(), call.arguments()));
		}
		if (event instanceof CallEvent.ToolReturned call) {
			return event("tool", new Tool(State.RETURNED, call.callId(), call.tool(), call.result()));
		}
		if (event instanceof CallEvent.InLine) {
			return event("waiting", Map.of());
		}
		return (event instanceof CallEvent.Begun) ? event("begun", Map.of()) : null;
	}

	/** The store is read on a thread that may wait. */
	private static Mono<Builder<Object>> reading(Callable<Optional<Builder<Object>>> work) {
		return Mono.fromCallable(work).subscribeOn(Schedulers.boundedElastic()).flatMap(Mono::justOrEmpty);
	}

	/**
	 * Returns the last event. There is none for a request that was taken back while it
	 * waited, and none if the store is away: the page asks again, and gets the turn.
	 */
	private Optional<Builder<Object>> end(CallEvent.Ended ended) {
		Optional<TurnView> turn;
		try {
			turn = stored(ended).map((stored) -> TurnView.of(stored, this.thread.items(stored.number())));
		}
		catch (RuntimeException ex) {
			logger.warn("The turn could not be read: " + ex.getClass().getName());
			return Optional.empty();
		}
		if (turn.isPresent()) {
			return turn.map((stored) -> event(this.steered ? "steered" : "turn", stored));
		}
		if (ended.turnId() != null && isDeleted()) {
			return Optional.of(event("problem", Problems.deleted()));
		}
		return (ended.status() == TurnStatus.CANCELLED) ? Optional.empty()
				: Optional.of(event("problem", Problems.noReply()));
	}

	/** A conflict may mean that another window has deleted the thread. */
	private ProblemDetail problem(CallEvent.Failed failed) {
		return (failed.code().equals("conflict") && isDeleted()) ? Problems.deleted() : Problems.of(failed);
	}

	private boolean isDeleted() {
		try {
			return this.thread.session().isEmpty();
		}
		catch (RuntimeException ex) {
			logger.warn("The thread could not be looked up: " + ex.getClass().getName());
			return false;
		}
	}

	/** A store that is away must not hide the problem. */
	private ProblemDetail withTurn(ProblemDetail problem, @Nullable String turnId) {
		try {
			stored(turnId).ifPresent((stored) -> problem.setProperty("turn", stored.number()));
		}
		catch (RuntimeException ex) {
			logger.warn("The turn could not be looked up: " + ex.getClass().getName());
		}
		return problem;
	}

	/** A request that is repeated may be that of a turn long ago. */
	private Optional<Turn> stored(CallEvent.Ended ended) {
		return (ended.turn() == 0) ? stored(ended.turnId())
				: this.thread.turns(Tail.newest(1).before(ended.turn() + 1))
					.stream()
					.filter((turn) -> turn.id().equals(ended.turnId()))
					.findFirst();
	}

	private Optional<Turn> stored(@Nullable String turnId) {
		return this.thread.turns(Tail.newest(20)).stream().filter((turn) -> turn.id().equals(turnId)).findFirst();
	}

	private static Builder<Object> event(String name, Object data) {
		return ServerSentEvent.builder(data).event(name);
	}

	enum State {

		CALLED, RETURNED

	}

	/**
	 * @param callId the id that the model gave the call
	 * @param data the arguments of the call, or its result
	 */
	record Tool(State state, String callId, String name, String data) {
	}

	record Text(String text) {
	}

}
