package io.sessionkit.internal.round;

import java.util.List;

import io.sessionkit.HookFailedException;
import io.sessionkit.Round;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.TokenUsage;
import io.sessionkit.internal.message.Replies;
import io.sessionkit.internal.view.Calibration;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * What is said in one turn after its input, round by round: asks the hooks about each
 * reply, writes it down and tells the listeners. Safe for use by many threads; no lock is
 * held while a hook thinks.
 */
public final class Rounds {

	/**
	 * A reply that hooks and gate have seen.
	 *
	 * @param reply the reply
	 * @param instead what the tool loop gets in its place; null for the reply
	 */
	private record Checked(AssistantMessage reply, @Nullable ChatResponse instead) {
	}

	private final SessionKey key;

	private final Transcript transcript;

	private final HookRun hooks;

	private final TurnEvents events;

	private final Calibration calibration;

	private final Delivered delivered = new Delivered();

	/** What the model says in this round; null once it is recorded. */
	private @Nullable ReplyAggregator reply;

	private boolean open;

	private boolean frozen;

	private @Nullable TurnGate gate;

	/** What the caller has said while the turn waited. */
	private List<Message> queued = List.of();

	private boolean queuedTaken;

	public Rounds(SessionKey key, Transcript transcript, HookRun hooks, TurnEvents events, Calibration calibration) {
		this.key = key;
		this.transcript = transcript;
		this.hooks = hooks;
		this.events = events;
		this.calibration = calibration;
	}

	/**
	 * Has it asked before tools are called.
	 */
	public synchronized void gate(TurnGate gate) {
		this.gate = gate;
	}

	/**
	 * Whether somebody is asked about replies who may take his time.
	 */
	public synchronized boolean mayWait() {
		return this.gate != null || !this.hooks.isEmpty();
	}

	/**
	 * What goes behind the next results.
	 */
	public synchronized void queue(List<Message> messages) {
		this.queued = List.copyOf(messages);
	}

	/**
	 * A model call is about to be made.
	 * @param forwarded what the tool advisor forwards
	 * @return the whole request, the turn's own messages included
	 * @throws IllegalStateException if the turn is over
	 */
	public List<Message> record(List<Message> forwarded) {
		List<Message> whole;
		synchronized (this) {
			checkRunning();
			whole = this.transcript.beforeRound(forwarded);
			if (takeQueued()) {
				whole = this.transcript.whole(forwarded);
			}
		}
		tellNews();
		return whole;
	}

	/**
	 * What the gate has the tool loop get in the place of the model's reply.
	 * @return null to ask the model
	 */
	public @Nullable ChatResponse instead() {
		TurnGate asked = asked();
		return (asked != null) ? asked.beforeRequest(isEmpty()) : null;
	}

	/**
	 * What the tool loop ends with if the turn waits.
	 */
	public @Nullable ChatResponse pause() {
		TurnGate asked = asked();
		return (asked != null) ? asked.pause() : null;
	}

	/**
	 * Whether what has ended the call ends a turn too of which a part is stored.
	 */
	public boolean endsTurn(Throwable cause) {
		TurnGate asked = asked();
		return asked != null && asked.endsTurn(cause);
	}

	/**
	 * The call ends and writes nothing of the turn.
	 */
	public void ending() {
		TurnGate asked = asked();
		if (asked != null) {
			asked.ending();
		}
	}

	private synchronized @Nullable TurnGate asked() {
		return this.gate;
	}

	/**
	 * A reply that was held back becomes part of the turn now: its tools are called.
	 */
	public void released(AssistantMessage reply) {
		synchronized (this) {
			checkRunning();
			this.transcript.said(reply);
		}
		tellNews();
	}

	/**
	 * The calls of the newest reply are answered without the loop.
	 */
	public void answered(List<ToolResponse> results) {
		synchronized (this) {
			this.transcript.answered(results);
			takeQueued();
		}
		tellNews();
	}

	/**
	 * What the caller has said meanwhile follows the results, whether the model is asked
	 * again or not: it is not lost.
	 */
	private boolean takeQueued() {
		if (this.transcript.isEmpty()) {
			// the loop begins, perhaps again
			this.queuedTaken = false;
			return false;
		}
		if (this.queued.isEmpty() || this.queuedTaken || this.transcript.awaitsResults()) {
			return false;
		}
		this.transcript.asked(this.queued);
		this.queuedTaken = true;
		return true;
	}

	/**
	 * Whether nothing has been said in this run of the loop.
	 */
	synchronized boolean isEmpty() {
		return this.transcript.isEmpty();
	}

	/**
	 * The model is called now.
	 * @throws IllegalStateException if the turn is over
	 */
	public synchronized void begin() {
		checkRunning();
		this.reply = new ReplyAggregator();
		this.open = true;
	}

	/** Whether a model call is under way. */
	public synchronized boolean isOpen() {
		return this.open;
	}

	public synchronized boolean isFrozen() {
		return this.frozen;
	}

	/** A hook has answered in the place of the model. */
	public ChatResponse answer(String text) {
		AssistantMessage message = new AssistantMessage(text);
		synchronized (this) {
			this.transcript.answer(message);
		}
		tellNews();
		return Replies.answer(message);
	}

	public synchronized void chunk(ChatResponse chunk) {
		if (!this.frozen && this.reply != null) {
			this.reply.add(chunk);
		}
	}

	/**
	 * @see io.sessionkit.internal.turn.OpenTurn#afterStreamedRound()
	 */
	public @Nullable List<ChatResponse> afterStreamed() {
		ReplyAggregator whole;
		boolean waits = mayWait();
		synchronized (this) {
			this.open = false;
			whole = this.frozen ? null : this.reply;
			if (whole != null && !waits) {
				recordReply();
			}
		}
		if (whole == null || !waits) {
			tellNews();
			return null;
		}
		Checked checked = whole.isEmpty() ? null : checked(whole.message(), whole.model(), whole.usage());
		synchronized (this) {
			this.reply = null;
		}
		if (checked != null && checked.instead() != null) {
			return whole.as(checked.instead(), this.hooks.checksReplies() ? checked.reply() : null);
		}
		return this.hooks.checksReplies() ? whole.responses((checked != null) ? checked.reply() : null) : null;
	}

	/**
	 * @see io.sessionkit.internal.turn.OpenTurn#afterRound(ChatResponse)
	 */
	public @Nullable ChatResponse afterWhole(@Nullable ChatResponse response) {
		synchronized (this) {
			this.open = false;
			this.reply = null;
		}
		Generation chosen = (response != null) ? Replies.chosen(response) : null;
		if (response == null || chosen == null) {
			return response;
		}
		Checked checked = checked(chosen.getOutput(), response.getMetadata().getModel(),
				Replies.usage(response.getMetadata().getUsage()));
		if (checked.instead() != null) {
			return Replies.with(response, checked.instead().getResults().get(0));
		}
		return this.hooks.checksReplies()
				? Replies.with(response, new Generation(checked.reply(), chosen.getMetadata())) : response;
	}

	private Checked checked(AssistantMessage said, @Nullable String model, TokenUsage usage) {
		AssistantMessage message;
		try {
			message = this.hooks.afterModel(said);
		}
		catch (SessionRefusedException | HookFailedException ex) {
			synchronized (this) {
				this.transcript.round(model, usage);
				this.reply = null;
			}
			throw ex;
		}
		TurnGate asked;
		synchronized (this) {
			if (this.frozen) {
				return new Checked(message, null);
			}
			this.calibration.answered(usage);
			this.transcript.round(model, usage);
			asked = message.hasToolCalls() ? this.gate : null;
		}
		ChatResponse instead = (asked != null) ? asked.afterReply(message) : null;
		synchronized (this) {
			if (instead == null && !this.frozen) {
				this.transcript.said(message);
			}
		}
		tellNews();
		return new Checked(message, instead);
	}

	/**
	 * The model has answered, and nothing of that is used.
	 */
	public synchronized void unused(ChatResponse response) {
		TokenUsage usage = Replies.usage(response.getMetadata().getUsage());
		if (!usage.equals(TokenUsage.NONE)) {
			this.transcript.round(response.getMetadata().getModel(), usage);
		}
	}

	/** The model call has failed; another may follow in the same turn. */
	public synchronized void afterFailed() {
		this.open = false;
	}

	/** Takes what a stream hands to the caller. */
	public synchronized void delivered(ChatResponse chunk) {
		if (!this.frozen) {
			this.delivered.add(chunk);
		}
	}

	/**
	 * The tool loop of a stream is over.
	 * @return the whole answer; null if there was none
	 */
	public synchronized @Nullable ChatResponse afterStreamedLoop() {
		afterLoop(this.delivered.generations());
		return this.delivered.response();
	}

	/**
	 * The tool loop is over.
	 * @param generations what it returned
	 */
	public void afterLoop(List<Generation> generations) {
		synchronized (this) {
			if (!this.frozen) {
				this.transcript.afterLoop(generations);
				takeQueued();
			}
		}
		tellNews();
	}

	/** Records nothing more, but what is asked for. */
	public synchronized void freeze() {
		this.frozen = true;
	}

	/** Whether the answer is there, although nobody has said that it is the last. */
	public synchronized boolean isAnswerWhole() {
		if (this.reply != null && this.reply.isFinalAnswer()) {
			recordReply();
		}
		return this.transcript.isAnswered();
	}

	/**
	 * Keeps what was said before the end came, unless nobody has checked it.
	 */
	public synchronized void keepPartialReply() {
		if (this.reply != null && !this.hooks.checksReplies()) {
			this.transcript.partial(this.reply.partial());
		}
		this.reply = null;
	}

	public synchronized List<Transcript.Entry> entries() {
		return this.transcript.entries();
	}

	public synchronized List<Round> rounds() {
		return this.transcript.rounds();
	}

	public synchronized boolean isAnswered() {
		return this.transcript.isAnswered();
	}

	/** The message that the turn is answered with; null if there is none. */
	public synchronized @Nullable Message reply() {
		return this.transcript.reply();
	}

	private void checkRunning() {
		if (this.frozen) {
			throw new IllegalStateException("The turn on session " + this.key + " is over: the call was cancelled.");
		}
	}

	private void recordReply() {
		if (this.reply != null && !this.reply.isEmpty()) {
			this.calibration.answered(this.reply.usage());
			this.transcript.afterRound(this.reply.message(), this.reply.model(), this.reply.usage());
			this.reply = null;
		}
	}

	private void tellNews() {
		if (this.events.hasListeners()) {
			List<Message> news;
			synchronized (this) {
				news = this.transcript.drainNews();
			}
			this.events.recorded(news);
		}
	}

}
