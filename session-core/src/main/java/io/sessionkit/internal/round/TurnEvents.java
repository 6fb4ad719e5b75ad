package io.sessionkit.internal.round;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.Told;
import io.sessionkit.internal.binding.ActingCaller;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.ObservedCall;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * Notifies the listeners of one turn of what happens in it, and its observer of how it
 * ends. Safe for use by many threads.
 */
public final class TurnEvents {

	/** Nobody is notified, so all turns without listeners and observer share it. */
	public static final TurnEvents NONE = new TurnEvents(new TurnSession("none", SessionKey.of("none")), "none",
			List.of(), false, ObservedCall.NONE);

	private static final Log logger = LogFactory.getLog(TurnEvents.class);

	private final SessionKey key;

	private final String turnId;

	private final List<SessionListener> listeners;

	private final boolean holdTexts;

	private final ObservedCall observed;

	private final AtomicBoolean ended = new AtomicBoolean();

	/** The sessions whose turns wait for the listeners at this moment. */
	private volatile Set<TurnSession> waiting;

	/** Those that still wait when this turn has ended: it may be inside of theirs. */
	private final Set<TurnSession> waitingAfter = TurnBinding.sessions();

	private final List<String> heldTexts = new ArrayList<>();

	/** What listeners are told when the call has given back what it holds. */
	private final Queue<Runnable> afterUse = new ConcurrentLinkedQueue<>();

	/**
	 * Creates the events of a turn.
	 * @param holdTexts whether a text may be withheld until the turn is stored
	 * @param observed observes the call
	 */
	public TurnEvents(TurnSession session, String turnId, List<SessionListener> listeners, boolean holdTexts,
			ObservedCall observed) {
		this.key = session.key();
		this.turnId = turnId;
		this.listeners = listeners;
		this.holdTexts = holdTexts;
		this.observed = observed;
		this.waiting = TurnBinding.sessions(session);
	}

	boolean hasListeners() {
		return !this.listeners.isEmpty();
	}

	public void modelCalled(int messages) {
		if (this.holdTexts) {
			watches(CallWatch::checked);
		}
		tell(SessionListener::modelCalled, new SessionEvent.ModelCalled(this.key, this.turnId, messages));
	}

	/**
	 * Reports messages that have become part of the turn.
	 */
	void recorded(List<Message> messages) {
		for (Message message : messages) {
			if (message instanceof AssistantMessage reply) {
				said(reply.getText());
				reply.getToolCalls().forEach(this::called);
			}
			if (message instanceof ToolResponseMessage results) {
				results.getResponses().forEach(this::returned);
			}
		}
	}

	private void called(ToolCall call) {
		SessionEvent.ToolCalled event = new SessionEvent.ToolCalled(this.key, this.turnId, call);
		tell((listener, each) -> listener.toolCalled(hidesFrom(listener) ? new SessionEvent.ToolCalled(this.key,
				this.turnId, new ToolCall(call.id(), call.type(), call.name(), "")) : each), event);
	}

	private void returned(ToolResponse response) {
		SessionEvent.ToolReturned event = new SessionEvent.ToolReturned(this.key, this.turnId, response);
		tell((listener, each) -> listener.toolReturned(hidesFrom(listener) ? new SessionEvent.ToolReturned(this.key,
				this.turnId, new ToolResponse(response.id(), response.name(), "")) : each), event);
	}

	/**
	 * Returns whether a listener passes on what it is told, and hooks may take something
	 * out of it: they have not seen arguments and results as they are kept.
	 */
	private boolean hidesFrom(SessionListener listener) {
		return this.holdTexts && listener instanceof CallWatch;
	}

	/**
	 * Reports the result of a tool as soon as it is known, unless a hook may take
	 * something out of it later.
	 */
	public void toolEnded(String tool, String arguments, String result) {
		if (this.holdTexts) {
			return;
		}
		watches((watch) -> watch.toolEnded(tool, arguments, result));
	}

	/**
	 * Reports messages of other calls that have become part of the turn.
	 */
	void joined(List<Message> messages) {
		watches((watch) -> watch.joined(messages));
	}

	private void watches(Consumer<CallWatch> event) {
		for (SessionListener listener : this.listeners) {
			if (listener instanceof CallWatch watch) {
				notify(watch, () -> event.accept(watch));
			}
		}
	}

	public void committed(Turn turn) {
		ended(CallOutcome.COMPLETED, null);
		if (!hasListeners()) {
			return;
		}
		heldTexts().forEach(this::complete);
		tell(SessionListener::committed, new SessionEvent.Committed(this.key, this.turnId, turn));
	}

	/**
	 * Reports the texts of a turn that is not stored.
	 */
	public void answered() {
		ended(CallOutcome.UNSTORED, null);
		heldTexts().forEach(this::complete);
	}

	/**
	 * Reports a summary that was made or tried.
	 */
	public void summarized(SummaryResult made) {
		if (made.status() == SummaryResult.Status.SUMMARIZED && made.summary() != null) {
			tell(SessionListener::summarized,
					new SessionEvent.Summarized(this.key, this.turnId, made.summary(), made.turns()));
		}
		if (made.failure() != null) {
			tell(SessionListener::summaryFailed, new SessionEvent.SummaryFailed(this.key, this.turnId, made.failure()));
		}
	}

	public void refused(Verdict verdict) {
		ended(CallOutcome.REFUSED, null);
		tellAfterUse(SessionListener::refused, new SessionEvent.Refused(this.key, this.turnId, verdict));
	}

	public void paused(Turn turn) {
		ended(CallOutcome.AWAITING_APPROVAL, null);
		if (!hasListeners()) {
			return;
		}
		heldTexts().forEach(this::complete);
		tell(SessionListener::paused, new SessionEvent.Paused(this.key, this.turnId, turn));
	}

	/**
	 * Says what the store has of a turn whose call has failed.
	 *
	 * @param kept whether the turn is kept
	 * @param status how it is kept; null unless it is
	 */
	public record Left(SessionEvent.Kept kept, @Nullable TurnStatus status) {

		/** Nothing of the turn is stored. */
		public static final Left NOTHING = new Left(SessionEvent.Kept.NOTHING, null);

		/** The store has not said what became of the turn. */
		public static final Left UNKNOWN = new Left(SessionEvent.Kept.UNKNOWN, null);

		/**
		 * Returns what is left of a turn.
		 * @param status the status in which it is stored; null if nothing of it is
		 */
		public static Left of(@Nullable TurnStatus status) {
			return (status != null) ? new Left(SessionEvent.Kept.TURN, status) : NOTHING;
		}

	}

	/**
	 * @param status how the call has ended
	 * @param left what the store has of its turn
	 * @param failure the class name of the exception; null if there is none
	 */
	public void failed(TurnStatus status, Left left, @Nullable String failure) {
		ended(switch (status) {
			case CANCELLED -> CallOutcome.CANCELLED;
			case INCOMPLETE -> CallOutcome.HANDED_OVER;
			default -> CallOutcome.FAILED;
		}, failure);
		tellAfterUse(SessionListener::failed,
				new SessionEvent.Failed(this.key, this.turnId, left.kept(), left.status(), failure));
	}

	private <E extends SessionEvent> void tellAfterUse(BiConsumer<SessionListener, E> method, E event) {
		if (hasListeners()) {
			this.afterUse.add(() -> tell(method, event));
		}
	}

	/**
	 * Notifies the listeners of an end of the turn that is not stored as history. The
	 * call holds neither a place in line nor a lease any more: a listener that called the
	 * session would wait for them.
	 */
	public void afterUse() {
		for (Runnable each = this.afterUse.poll(); each != null; each = this.afterUse.poll()) {
			each.run();
		}
	}

	/**
	 * Reports to the observer that the call of a caller who has disconnected is over, if
	 * the store has failed and nothing else was reported.
	 */
	public void over() {
		ended(CallOutcome.CANCELLED, null);
	}

	private void ended(CallOutcome outcome, @Nullable String failure) {
		if (hasListeners()) {
			this.waiting = this.waitingAfter;
		}
		if (this.observed != ObservedCall.NONE && this.ended.compareAndSet(false, true)) {
			this.observed.ended(outcome, failure);
		}
	}

	private void said(@Nullable String text) {
		if (text == null || text.isBlank() || !hasListeners()) {
			return;
		}
		if (!this.holdTexts) {
			complete(text);
			return;
		}
		synchronized (this.heldTexts) {
			this.heldTexts.add(text);
		}
	}

	private List<String> heldTexts() {
		synchronized (this.heldTexts) {
			return List.copyOf(this.heldTexts);
		}
	}

	private void complete(String text) {
		tell(SessionListener::textComplete, new SessionEvent.TextComplete(this.key, this.turnId, text));
	}

	private <E extends SessionEvent> void tell(BiConsumer<SessionListener, E> method, E event) {
		for (SessionListener listener : this.listeners) {
			notify(listener, () -> method.accept(listener, event));
		}
	}

	private void notify(SessionListener listener, Runnable notice) {
		boolean isReader = listener instanceof CallWatch;
		try (TurnBinding hidden = TurnBinding.listening(isReader ? Set.of() : this.waiting)) {
			if (isReader) {
				// whoever reads the call gets its other events from the stream
				notice.run();
				return;
			}
			ActingCaller.asOwner(this.key, () -> {
				notice.run();
				return this.key;
			});
		}
		catch (Throwable ex) {
			Interrupts.keep(ex);
			logger.warn("The listener " + listener.getClass().getName() + " of session " + this.key + " threw "
					+ Told.of(ex));
		}
	}

}
