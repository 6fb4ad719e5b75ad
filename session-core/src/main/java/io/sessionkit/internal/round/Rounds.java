package io.sessionkit.internal.round;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import io.sessionkit.Round;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.message.Replies;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Records what is said in one turn after its input, round by round: runs the hooks on
 * each reply, records the reply and notifies the listeners. Safe for use by many threads;
 * no lock is held while a hook runs.
 */
public final class Rounds implements OpenRound.Recorder {

	/**
	 * The key of the mark of a turn that was given up, in the metadata of its last tool
	 * message: without a reply, it looks like one whose results were returned directly.
	 */
	public static final String GIVEN_UP = "sessionkit.given-up";

	/**
	 * A reply that hooks and the gate have checked.
	 *
	 * @param reply the reply
	 * @param instead the response that the tool loop gets instead; null for the reply
	 */
	private record Checked(AssistantMessage reply, @Nullable ChatResponse instead) {
	}

	private final SessionKey key;

	private final Transcript transcript;

	private final HookRun hooks;

	private final TurnEvents events;

	private final Consumer<TokenUsage> usages;

	private final RoundGate gate;

	/** Null until a stream hands something to the caller. */
	private @Nullable Delivered delivered;

	/** The reply of the model in the newest round; null once it is recorded. */
	private @Nullable ReplyAggregator reply;

	/** The round in which a model call is in progress; null if there is none. */
	private @Nullable OpenRound open;

	private boolean frozen;

	/** The messages that the caller has queued while the turn waited. */
	private List<Message> queued = List.of();

	private boolean queuedTaken;

	/** The number of times that the loop has begun. */
	private int runs;

	/**
	 * Creates the rounds of a turn.
	 * @param usages receives the usage of each reply, and must not block
	 */
	public Rounds(SessionKey key, Transcript transcript, HookRun hooks, TurnEvents events,
			Consumer<TokenUsage> usages) {
		this.key = key;
		this.transcript = transcript;
		this.hooks = hooks;
		this.events = events;
		this.usages = usages;
		this.gate = new RoundGate(events);
	}

	/**
	 * Returns the gate, which is asked outside of the lock of these rounds.
	 */
	public RoundGate gate() {
		return this.gate;
	}

	/**
	 * Returns whether a hook or gate that may block has to approve replies.
	 */
	public boolean mayWait() {
		return this.gate.isRegistered() || !this.hooks.isEmpty();
	}

	/**
	 * Sets the messages that follow the next tool results.
	 */
	public synchronized void queue(List<Message> messages) {
		this.queued = List.copyOf(messages);
	}

	/**
	 * Returns how often the loop has begun. What was added in an earlier run of it is no
	 * longer part of the turn.
	 */
	public synchronized int runs() {
		return this.runs;
	}

	/**
	 * Returns whether messages can be added before the model is called: tool results come
	 * last, and no call is unanswered.
	 */
	public synchronized boolean canAdd() {
		return !this.frozen && !this.transcript.isEmpty() && !this.transcript.awaitsResults()
				&& !this.transcript.isAnswered();
	}

	/**
	 * Reports messages that were added. It is called without a lock, since listeners and
	 * readers of the call may wait for the end of the turn.
	 * @param joined those that are new in the turn, of other calls
	 */
	public void added(List<Message> joined) {
		tellNews();
		this.events.joined(joined);
	}

	/**
	 * Adds messages behind the tool results, of which nobody hears before {@link #added}.
	 * @throws IllegalStateException if the turn is over
	 */
	public synchronized void add(List<Message> messages) {
		checkRunning();
		this.transcript.asked(messages);
	}

	/**
	 * Returns the whole request for the messages that the tool advisor forwards.
	 */
	public synchronized List<Message> whole(List<Message> forwarded) {
		return this.transcript.whole(forwarded);
	}

	/**
	 * Records what a request contains before the model is called with it.
	 * @param forwarded the messages that the tool advisor forwards
	 * @return the whole request, including the messages of the turn
	 * @throws IllegalStateException if the turn is over
	 */
	public List<Message> record(List<Message> forwarded) {
		List<Message> whole;
		synchronized (this) {
			checkRunning();
			whole = this.transcript.beforeRound(forwarded);
			this.runs += this.transcript.isEmpty() ? 1 : 0;
			if (takeQueued()) {
				whole = this.transcript.whole(forwarded);
			}
		}
		tellNews();
		return whole;
	}

	/**
	 * Returns the gate's substitute for the model's reply.
	 * @return the substitute; null to call the model
	 */
	public @Nullable ChatResponse instead() {
		return this.gate.beforeRequest(isEmpty());
	}

	/**
	 * Makes a reply that was held back part of the turn. Its tools run next.
	 */
	public void released(AssistantMessage reply) {
		synchronized (this) {
			checkRunning();
			this.transcript.said(reply);
		}
		tellNews();
	}

	/**
	 * Records the answers to the calls of the newest reply of a turn that is given up,
	 * without the tool loop.
	 */
	public void givenUp(List<ToolResponse> results) {
		synchronized (this) {
			this.transcript.answered(results, Map.of(GIVEN_UP, true));
			takeQueued();
		}
		tellNews();
	}

	/**
	 * Records the queued messages after the tool results and returns whether it did. They
	 * are recorded whether or not the model is called again, so that they are not lost.
	 */
	private boolean takeQueued() {
		if (this.transcript.isEmpty()) {
			// the loop begins, perhaps for a second time
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
	 * Returns whether nothing has been said in this run of the loop.
	 */
	synchronized boolean isEmpty() {
		return this.transcript.isEmpty();
	}

	/**
	 * Begins a round: the model is called next. A round that was still in progress, such
	 * as that of a stream that a retry has left, records nothing more.
	 * @param inputCheck returns when the input has passed
	 * @return the round, which the caller ends
	 * @throws IllegalStateException if the turn is over
	 */
	public synchronized OpenRound begin(Runnable inputCheck) {
		checkRunning();
		OpenRound round = new OpenRound(this, inputCheck);
		this.reply = round.reply();
		this.open = round;
		if (this.delivered != null) {
			this.delivered.begin();
		}
		return round;
	}

	/** Returns whether a model call is in progress. */
	public synchronized boolean isOpen() {
		return this.open != null;
	}

	public synchronized boolean isFrozen() {
		return this.frozen;
	}

	/** Records the answer that a hook gave instead of the model. */
	public ChatResponse answer(String text) {
		AssistantMessage message = new AssistantMessage(text);
		synchronized (this) {
			this.transcript.answer(message);
		}
		tellNews();
		return Replies.answer(message);
	}

	@Override
	public synchronized void chunk(OpenRound round, ChatResponse chunk) {
		if (!this.frozen && this.reply == round.reply()) {
			this.reply.add(chunk);
		}
	}

	/**
	 * Ends a round with a streamed reply.
	 */
	@Override
	public Optional<List<ChatResponse>> afterStreamed(OpenRound round) {
		Optional<ReplyAggregator> unchecked = ended(round, mayWait());
		if (unchecked.isEmpty()) {
			tellNews();
		}
		return unchecked.flatMap((whole) -> instead(whole, checked(whole)));
	}

	/**
	 * Ends a round, and records its streamed reply unless that is checked first.
	 * @return the reply to check
	 */
	private synchronized Optional<ReplyAggregator> ended(OpenRound round, boolean checks) {
		end(round);
		if (checks && !this.frozen) {
			return Optional.ofNullable(this.reply);
		}
		if (!this.frozen) {
			recordReply();
		}
		return Optional.empty();
	}

	/** Returns null if the model has said nothing. */
	private @Nullable Checked checked(ReplyAggregator whole) {
		Checked checked = whole.isEmpty() ? null : checked(whole.message(), whole.model(), whole.usage());
		synchronized (this) {
			this.reply = null;
		}
		return checked;
	}

	/** Returns what is handed on instead of the chunks of a reply, if anything is. */
	private Optional<List<ChatResponse>> instead(ReplyAggregator whole, @Nullable Checked checked) {
		AssistantMessage reply = (checked != null) ? checked.reply() : null;
		ChatResponse instead = (checked != null) ? checked.instead() : null;
		if (instead != null) {
			return Optional.of(whole.as(instead, this.hooks.checksReplies() ? reply : null));
		}
		return this.hooks.checksReplies() ? Optional.of(whole.responses(reply)) : Optional.empty();
	}

	/**
	 * Ends a round with a reply that arrived as a whole.
	 */
	@Override
	public @Nullable ChatResponse afterWhole(OpenRound round, @Nullable ChatResponse response) {
		synchronized (this) {
			end(round);
			this.reply = null;
		}
		Generation chosen = (response != null) ? Replies.chosen(response) : null;
		if (response == null || chosen == null) {
			return response;
		}
		Checked checked = checked(Replies.said(chosen.getOutput()), response.getMetadata().getModel(),
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
		synchronized (this) {
			if (this.frozen) {
				return new Checked(message, null);
			}
			this.usages.accept(usage);
			this.transcript.round(model, usage);
			if (!message.hasToolCalls()) {
				said(message);
			}
		}
		ChatResponse instead = message.hasToolCalls() ? gated(message) : null;
		tellNews();
		return new Checked(message, instead);
	}

	/** Returns what the gate gives the tool loop instead of a reply that calls tools. */
	private @Nullable ChatResponse gated(AssistantMessage calling) {
		ChatResponse instead = this.gate.afterReply(calling);
		synchronized (this) {
			if (instead == null && !this.frozen) {
				said(calling);
			}
		}
		return instead;
	}

	/** A thread that cancels the turn must not record the reply once more. */
	private void said(AssistantMessage checked) {
		this.transcript.said(checked);
		this.reply = null;
	}

	/**
	 * Records the cost of an answer of the model that is not used.
	 */
	public synchronized void unused(ChatResponse response) {
		TokenUsage usage = Replies.usage(response.getMetadata().getUsage());
		if (!usage.equals(TokenUsage.NONE)) {
			this.transcript.round(response.getMetadata().getModel(), usage);
		}
	}

	/**
	 * Ends a round whose model call has failed, if it is still in progress.
	 */
	@Override
	public synchronized void afterFailed(OpenRound round) {
		if (this.open == round) {
			this.open = null;
		}
	}

	private void end(OpenRound round) {
		if (this.open != round) {
			throw new IllegalStateException("A model call of the turn on session " + this.key
					+ " has ended twice, or after another one had begun.");
		}
		this.open = null;
	}

	/** Records a chunk that a stream hands to the caller. */
	public synchronized void delivered(ChatResponse chunk) {
		if (!this.frozen) {
			stream().add(chunk);
		}
	}

	/**
	 * Ends the tool loop of a stream.
	 * @return the whole answer; null if there was none
	 */
	public @Nullable ChatResponse afterStreamedLoop() {
		List<Generation> generations;
		synchronized (this) {
			generations = stream().generations();
		}
		afterLoop(generations);
		synchronized (this) {
			return stream().response();
		}
	}

	private Delivered stream() {
		Delivered known = this.delivered;
		if (known == null) {
			known = new Delivered();
			this.delivered = known;
		}
		return known;
	}

	/**
	 * Ends the tool loop.
	 * @param generations what the loop returned
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

	/**
	 * Stops recording what arrives. Only {@link #isAnswerWhole},
	 * {@link #answerWithDelivered} and {@link #keepPartialReply} still add messages to
	 * the turn.
	 */
	public synchronized void freeze() {
		this.frozen = true;
	}

	/**
	 * Returns whether the answer is complete. A reply that is finished but not recorded
	 * yet is recorded first.
	 */
	public synchronized boolean isAnswerWhole() {
		if (this.reply != null && this.reply.isFinalAnswer()) {
			recordReply();
		}
		return this.transcript.isAnswered();
	}

	/**
	 * Makes the text that was handed to the caller so far the answer, marked as cut
	 * short. It is the text alone, since the state that a provider sends with a reply may
	 * be incomplete.
	 * @return false if that is not possible, and nothing has changed: no text of the
	 * newest reply was handed out, it calls tools, or calls of an earlier one are
	 * unanswered
	 */
	public synchronized boolean answerWithDelivered() {
		ReplyAggregator broken = this.reply;
		String text = (this.delivered != null) ? this.delivered.newestText() : "";
		if (broken == null || broken.callsTools() || text.isBlank() || this.transcript.isAnswered()
				|| this.transcript.awaitsResults()) {
			return false;
		}
		this.transcript.round(broken.model(), broken.usage());
		this.transcript.answer((AssistantMessage) new MessageContent(MessageType.ASSISTANT, text,
				Map.of(Turn.CUT_SHORT, true), List.of(), List.of(), List.of())
			.message());
		this.reply = null;
		return true;
	}

	/**
	 * Records what was said before the turn ended, unless hooks would have to check it
	 * first.
	 */
	public synchronized void keepPartialReply() {
		ReplyAggregator broken = this.reply;
		this.reply = null;
		if (broken != null && !this.hooks.checksReplies()) {
			this.transcript.partial(broken.partial());
		}
	}

	public synchronized List<Transcript.Entry> entries() {
		return this.transcript.entries();
	}

	/**
	 * Returns what was recorded so far.
	 */
	public synchronized Transcript.Recording recording() {
		return this.transcript.recording();
	}

	public synchronized List<Round> rounds() {
		return this.transcript.rounds();
	}

	private void checkRunning() {
		if (this.frozen) {
			throw new IllegalStateException("The turn on session " + this.key + " is over: the call was cancelled.");
		}
	}

	private void recordReply() {
		if (this.reply != null && !this.reply.isEmpty()) {
			this.usages.accept(this.reply.usage());
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
