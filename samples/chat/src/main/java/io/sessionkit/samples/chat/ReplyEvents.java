package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.store.Tail;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.http.ProblemDetail;
import org.springframework.http.codec.ServerSentEvent;

/**
 * The events of one reply. It listens to this one call only, so it never meets the tools
 * of another window. What the model says and what the listener hears go into one queue,
 * in the order in which they happen; a slow reader blocks neither. The queue belongs to
 * the reader and is gone with it.
 */
final class ReplyEvents extends BaseSubscriber<ChatResponse> implements SessionListener, SessionHook {

	/** After so long without a word the reader is told that the question waits. */
	private static final Duration PATIENCE = Duration.ofMillis(500);

	private static final Log logger = LogFactory.getLog(ReplyEvents.class);

	private final FluxSink<ServerSentEvent<Object>> reader;

	private final Conversation thread;

	private volatile @Nullable String turnId;

	private volatile boolean ended;

	private volatile boolean begun;

	private volatile boolean waits;

	/** How many messages have joined the turn. */
	private volatile int joined;

	/** What a model that repeats its reasoning in each chunk has thought so far. */
	private String reasoning = "";

	private ReplyEvents(FluxSink<ServerSentEvent<Object>> reader, Conversation thread) {
		this.reader = reader;
		this.thread = thread;
	}

	/**
	 * Asks the model when the events are subscribed to, and cancels when the reader goes
	 * away.
	 */
	static Flux<ServerSentEvent<Object>> of(Supplier<ChatClientRequestSpec> call, Conversation thread) {
		return Flux.create((reader) -> {
			ReplyEvents events = new ReplyEvents(reader, thread);
			reader.onDispose(Disposables.composite(events, Schedulers.parallel()
				.schedule(events::sayThatItWaits, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)));
			call.get()
				.advisors(SessionAdvisor.session(thread.key()))
				.advisors(SessionAdvisor.listener(events))
				.advisors(SessionAdvisor.hook(events))
				.stream()
				.chatResponse()
				.subscribe(events);
		});
	}

	@Override
	public Context currentContext() {
		return Context.of(this.reader.contextView());
	}

	/**
	 * Nothing but another call on the thread keeps the model from being called for so
	 * long.
	 */
	private synchronized void sayThatItWaits() {
		if (!this.begun) {
			this.waits = true;
			send("waiting", Map.of());
		}
	}

	@Override
	public void modelCalled(SessionEvent.ModelCalled event) {
		this.turnId = event.turnId();
		begin();
	}

	/**
	 * Tells of what the user has said since the last call of the model.
	 */
	@Override
	public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
		List<Message> said = request.turn()
			.stream()
			.filter(UserMessage.class::isInstance)
			.skip(1L + this.joined)
			.toList();
		said.forEach((message) -> send("joined", new Text(Objects.requireNonNullElse(message.getText(), ""))));
		this.joined += said.size();
		return HookResult.keep();
	}

	private synchronized void begin() {
		if (this.waits && !this.begun) {
			send("begun", Map.of());
		}
		this.begun = true;
	}

	@Override
	public void toolCalled(SessionEvent.ToolCalled event) {
		this.turnId = event.turnId();
		send("tool", new Tool(State.CALLED, event.call().id(), event.call().name(), event.call().arguments()));
	}

	@Override
	public void toolReturned(SessionEvent.ToolReturned event) {
		this.turnId = event.turnId();
		send("tool", new Tool(State.RETURNED, event.response().id(), event.response().name(),
				event.response().responseData()));
	}

	@Override
	public void failed(SessionEvent.Failed event) {
		this.turnId = event.turnId();
	}

	@Override
	protected void hookOnNext(ChatResponse response) {
		boolean steered = SessionAdvisor.isSteered(response);
		TurnResult result = SessionAdvisor.turn(response).orElse(null);
		if (!steered) {
			begin();
		}
		if (result != null) {
			this.ended = true;
			send(steered ? "steered" : "turn", TurnView.of(result.turn(), result.items()));
			return;
		}
		Generation generation = response.getResult();
		if (generation != null && !steered && !SessionAdvisor.isRepeated(response)) {
			said(generation.getOutput());
		}
	}

	private void said(AssistantMessage chunk) {
		String reasoning = newReasoning(chunk);
		if (!reasoning.isEmpty()) {
			send("reasoning", new Text(reasoning));
		}
		String text = Reasoning.textOf(chunk);
		if (text != null && !text.isEmpty()) {
			send("text", new Text(text));
		}
	}

	private String newReasoning(AssistantMessage chunk) {
		String reasoning = Objects.requireNonNullElse(Reasoning.of(chunk), "");
		if (reasoning.isEmpty() || !Reasoning.isAllSoFar(chunk)) {
			return reasoning;
		}
		String before = this.reasoning;
		this.reasoning = reasoning;
		return reasoning.startsWith(before) ? reasoning.substring(before.length()) : reasoning;
	}

	@Override
	protected void hookOnComplete() {
		if (!this.ended) {
			send("problem", withTurn(Problems.noReply()));
		}
		this.reader.complete();
	}

	@Override
	protected void hookOnError(Throwable ex) {
		logger.warn("The turn failed.", ex);
		send("problem", withTurn(Problems.of(ex)));
		this.reader.complete();
	}

	private ProblemDetail withTurn(ProblemDetail problem) {
		stored().ifPresent((turn) -> problem.setProperty("turn", turn.number()));
		return problem;
	}

	/**
	 * Returns the turn if it is stored. A store that is away must not hide the problem.
	 */
	private Optional<Turn> stored() {
		String id = this.turnId;
		if (id == null) {
			return Optional.empty();
		}
		try {
			return this.thread.turns(Tail.newest(10)).stream().filter((turn) -> turn.id().equals(id)).findFirst();
		}
		catch (RuntimeException ex) {
			logger.warn("The turn could not be looked up: " + ex.getClass().getName());
			return Optional.empty();
		}
	}

	private void send(String name, Object data) {
		this.reader.next(ServerSentEvent.builder(data).event(name).build());
	}

	enum State {

		CALLED, RETURNED

	}

	/**
	 * @param data the arguments of a call, or its result
	 */
	record Tool(State state, String id, String name, String data) {
	}

	record Text(String text) {
	}

}
