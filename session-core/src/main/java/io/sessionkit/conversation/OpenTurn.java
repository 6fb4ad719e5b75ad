package io.sessionkit.conversation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.CommitFailedException;
import io.sessionkit.InvalidSequenceException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.TokenUsage;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.RunningTurn;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * A turn between its question and its end. It is written once, by the first of
 * {@link #complete}, {@link #fail} and {@link #cancel}; a later one does nothing.
 * <p>
 * Safe for use by many threads, as a stream needs: what comes after {@link #freeze} or
 * after the end is ignored or refused.
 */
public final class OpenTurn {

	private static final Log logger = LogFactory.getLog(OpenTurn.class);

	private final TurnRequest request;

	private final StoreOptions options;

	private final String id;

	private final Instant startedAt;

	private final @Nullable Session base;

	private final History history;

	private final ViewTrimmer trimmer;

	private final RequestView requestView;

	private final SnapshotTaker snapshots;

	private final Calibration calibration;

	private final Transcript transcript;

	private final HookRun hooks;

	private final TurnEvents events;

	private final TurnState state;

	private final TurnKeeper keeper;

	private final TurnViews views;

	private final Delivered delivered = new Delivered();

	private final @Nullable HistoryMerge merge;

	private List<Message> input;

	/** What is sent; null if it is the history and the input behind it. */
	private @Nullable Merged merged;

	private @Nullable ChatResponse answer;

	/** What the model says in this round; null once it is recorded. */
	private @Nullable ReplyAggregator reply;

	private boolean roundOpen;

	private boolean frozen;

	private boolean closed;

	OpenTurn(TurnRequest request, SessionStore store, TurnRules rules, TurnViews views) {
		this.views = views;
		this.request = request;
		this.input = request.input();
		this.merge = rules.merge(request);
		this.options = store.options();
		KeptInputs inputs = KeptInputs.of(request, rules.inputs(), this.options.codec());
		this.id = this.options.turnIds().get();
		this.hooks = new HookRun(request.key(), rules.hooks(request), this::running);
		this.events = new TurnEvents(request.key(), this.id, rules.listeners(request), this.hooks.checksReplies());
		this.startedAt = this.options.now();
		TurnViews.Opened opened = views.open(request);
		this.base = opened.header();
		List<ViewLine> lines = new ToolPruner(rules.prune(), this.options.tokens())
			.prune(ViewLine.of(opened.view(), this.options));
		this.history = History.of(ReplayedInputs.show(lines, rules.inputs(), this.options.tokens()),
				(this.base != null) ? this.base.checkpoint() : 0, rules.trim(), request.limit());
		RequestSize size = new RequestSize(this.history.lines(), this.options.tokens(),
				() -> views.memory().factor(request.key()));
		this.trimmer = new ViewTrimmer(this.history, rules.trim(), size);
		this.calibration = new Calibration(request.key(), views.memory(), size, this.options.tokens(),
				views.countsTokens());
		this.snapshots = new SnapshotTaker(lines,
				new VerbatimMessages(request.key(), (this.base != null) ? this.base.head() : 0, this.options.codec()),
				rules.keepsSystemText());
		this.requestView = new RequestView(request.key(), this.trimmer, rules.guard());
		this.transcript = new Transcript(this.options::now, this.options.codec()::storable);
		this.state = new TurnState(new Attributes(request.key(), this.options.codec(), rules.maxState()),
				(this.base != null) ? this.base.state() : Map.of());
		this.keeper = new TurnKeeper(request.key(), this.hooks, this.events, this.state,
				new TurnWriter(store, request, this.id, this.startedAt, this.base, this.snapshots, inputs));
		if (opened.made() != null) {
			this.events.compacted(opened.made());
		}
	}

	private HookContext context() {
		return new HookContext(key(), this.id, this.request.agent(), Copies.lazy(this.history.messages()),
				Copies.values(this.state.values()), this.request.parameters());
	}

	private RunningTurn running(Phase phase) {
		return new BoundTurn(this::context, this.state, phase == Phase.BEFORE_SAVE);
	}

	/**
	 * Asks the hooks about the input. Where they do not let it pass, nothing of it is
	 * kept.
	 */
	void begin() {
		if (this.hooks.isEmpty()) {
			return;
		}
		try {
			HookRun.Passed<List<Message>> passed = this.hooks.beforeTurn(this.input);
			if (passed.replaced()) {
				passed.value().forEach((message) -> this.options.codec().encode(key(), message));
				this.input = passed.value();
			}
			if (passed.answer() != null) {
				this.answer = answered(passed.answer());
			}
		}
		catch (Throwable ex) {
			this.input = List.of();
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Asks the merge what is sent, unless nothing is. Where it fails, the input is kept
	 * as it was.
	 */
	void merge() {
		if (this.merge == null || this.answer != null) {
			return;
		}
		try {
			Merged result = Merged.of(key(), this.merge, this.history.messages(), this.input);
			if (!result.isPlain(this.history.messages(), this.input)) {
				result.input().forEach((message) -> this.options.codec().encode(key(), message));
				this.input = result.input();
				this.merged = result;
			}
		}
		catch (Throwable ex) {
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Which session the turn is on.
	 * @return its key
	 */
	public SessionKey key() {
		return this.request.key();
	}

	/**
	 * The turn as its tools find it.
	 * @return what to bind to them
	 */
	public RunningTurn running() {
		return new BoundTurn(this::context, this.state, false);
	}

	/**
	 * The history that goes before the turn's input.
	 * @return the messages, oldest first, within the limits
	 */
	public List<Message> history() {
		return this.history.messages();
	}

	/**
	 * What goes behind the system text when the turn begins.
	 * @return the history and the input, or what a merge has made of them
	 */
	public List<Message> messages() {
		if (this.merged != null) {
			return this.merged.messages();
		}
		List<Message> messages = new ArrayList<>(this.history.messages());
		messages.addAll(this.input);
		return messages;
	}

	/**
	 * What the caller says in this turn, as hooks and the merge have left it.
	 * @return the messages, without system text
	 */
	public List<Message> input() {
		return this.input;
	}

	/**
	 * What a hook answered before the tool loop was entered; it need not be entered then.
	 * @return the answer; null if there is none
	 */
	public @Nullable ChatResponse answer() {
		return this.answer;
	}

	/**
	 * Whether hooks are asked in this turn. They may take their time.
	 * @return true if there are any
	 */
	public boolean hasHooks() {
		return !this.hooks.isEmpty();
	}

	/**
	 * Whether a hook may withhold a reply or change it. Then nothing that the model says
	 * may be handed out before the turn is stored.
	 * @return true if streams have to wait
	 */
	public boolean holdsReplies() {
		return this.hooks.checksReplies();
	}

	/**
	 * Whether a model call is under way.
	 * @return true between {@link #beforeRound} and the end of that round
	 */
	public synchronized boolean isRoundOpen() {
		return this.roundOpen;
	}

	/**
	 * Takes what the tool advisor forwards and gives what the model is to get.
	 * @param forwarded the messages, system text included
	 * @return a valid sequence within the limits, or the answer of a hook
	 * @throws IllegalStateException if the turn is over
	 * @throws SessionRefusedException if a hook refuses; what a hook throws is thrown as
	 * it is
	 * @throws InvalidSequenceException if the guard is strict and repairs are needed, or
	 * if nothing that the model could answer is left
	 */
	public RoundRequest beforeRound(List<Message> forwarded) {
		List<Message> whole = record(forwarded);
		HookRun.Passed<List<Message>> passed = this.hooks
			.beforeModel(this.hooks.isEmpty() ? whole : this.requestView.beforeHooks(whole, first(), length()));
		if (passed.answer() != null) {
			return new RoundRequest(List.of(), answered(passed.answer()));
		}
		List<Message> sent = begin(whole, passed);
		this.events.modelCalled(sent.size());
		return new RoundRequest(sent, null);
	}

	private List<Message> record(List<Message> forwarded) {
		List<Message> whole;
		synchronized (this) {
			checkOpen();
			whole = this.transcript.beforeRound(forwarded);
		}
		tellNews();
		return whole;
	}

	private synchronized List<Message> begin(List<Message> whole, HookRun.Passed<List<Message>> passed) {
		checkOpen();
		List<Message> sent = (passed.replaced() || this.merged != null)
				? this.requestView.ofChanged(passed.value(), whole, first(), length())
				: this.requestView.of(whole, first(), length());
		this.reply = new ReplyAggregator();
		this.roundOpen = true;
		return sent;
	}

	private @Nullable Message first() {
		return this.input.isEmpty() ? null : this.input.get(0);
	}

	/**
	 * How many messages the turn has so far.
	 */
	private synchronized int length() {
		int opening = (this.merged != null) ? this.merged.length() : this.input.size();
		return opening + this.transcript.size();
	}

	/**
	 * Takes what really leaves for the model, after all advisors. It may be told twice of
	 * one call.
	 * @param prompt messages and options, system text and tools included
	 */
	public synchronized void sent(Prompt prompt) {
		if (this.frozen || this.closed) {
			return;
		}
		this.calibration.sent(prompt);
		if (this.snapshots.taken() == null) {
			List<Message> own = new ArrayList<>(this.input);
			this.transcript.entries().forEach((entry) -> own.add(entry.message()));
			this.snapshots.take(prompt.getInstructions(), own);
		}
	}

	private ChatResponse answered(String text) {
		AssistantMessage message = new AssistantMessage(text);
		synchronized (this) {
			this.transcript.answer(message);
		}
		tellNews();
		return Replies.answer(message);
	}

	private void checkOpen() {
		if (this.frozen || this.closed) {
			throw new IllegalStateException("The turn on session " + key() + " is over: the call was cancelled.");
		}
	}

	/**
	 * Takes a chunk of a streamed reply.
	 * @param chunk the chunk
	 */
	public synchronized void chunk(ChatResponse chunk) {
		if (!this.frozen && this.reply != null) {
			this.reply.add(chunk);
		}
	}

	/**
	 * The streamed reply is whole: asks the hooks and records it, before its tools are
	 * called.
	 * @return what is to be handed on if replies are held; none if the chunks were handed
	 * on as they came
	 * @throws SessionRefusedException if a hook refuses or throws
	 */
	public List<ChatResponse> afterStreamedRound() {
		ReplyAggregator whole;
		synchronized (this) {
			this.roundOpen = false;
			whole = this.frozen ? null : this.reply;
			if (whole != null && this.hooks.isEmpty()) {
				recordReply();
			}
		}
		if (whole == null || this.hooks.isEmpty()) {
			tellNews();
			return List.of();
		}
		AssistantMessage message = whole.isEmpty() ? null : checked(whole.message(), whole.model(), whole.usage());
		synchronized (this) {
			this.reply = null;
		}
		return holdsReplies() ? whole.responses(message) : List.of();
	}

	/**
	 * Asks the hooks about a reply that came as a whole and records it, before its tools
	 * are called.
	 * @param response what the model returned; null and no generations are no reply
	 * @return what is to be handed on
	 * @throws SessionRefusedException if a hook refuses or throws
	 */
	public @Nullable ChatResponse afterRound(@Nullable ChatResponse response) {
		synchronized (this) {
			this.roundOpen = false;
			this.reply = null;
		}
		Generation chosen = (response != null) ? Replies.chosen(response) : null;
		if (response == null || chosen == null) {
			return response;
		}
		AssistantMessage message = checked(chosen.getOutput(), response.getMetadata().getModel(),
				Replies.usage(response.getMetadata().getUsage()));
		return holdsReplies() ? Replies.with(response, new Generation(message, chosen.getMetadata())) : response;
	}

	private AssistantMessage checked(AssistantMessage reply, @Nullable String model, TokenUsage usage) {
		AssistantMessage message;
		try {
			message = this.hooks.afterModel(reply);
		}
		catch (SessionRefusedException ex) {
			synchronized (this) {
				this.transcript.withheld(model, usage);
				this.reply = null;
			}
			throw ex;
		}
		synchronized (this) {
			if (!this.frozen) {
				this.calibration.answered(usage);
				this.transcript.afterRound(message, model, usage);
			}
		}
		tellNews();
		return message;
	}

	/**
	 * The model call has failed; another may follow in the same turn.
	 */
	public synchronized void afterFailedRound() {
		this.roundOpen = false;
	}

	/**
	 * Takes what a stream hands to the caller.
	 * @param chunk the chunk
	 */
	public synchronized void delivered(ChatResponse chunk) {
		if (!this.frozen) {
			this.delivered.add(chunk);
		}
	}

	/**
	 * The tool loop of a stream is over: records what it ended with, if no model call
	 * came after it.
	 * @return the whole answer; null if there was none
	 */
	public synchronized @Nullable ChatResponse afterStreamedLoop() {
		afterLoop(this.delivered.generations());
		return this.delivered.response();
	}

	/**
	 * The tool loop is over: records what it ended with, if no model call came after it.
	 * @param generations what the loop returned
	 */
	public void afterLoop(List<Generation> generations) {
		synchronized (this) {
			if (!this.frozen) {
				this.transcript.afterLoop(generations);
			}
		}
		tellNews();
	}

	/**
	 * Records nothing more: the caller has gone, and what comes now are the effects of
	 * that.
	 */
	public synchronized void freeze() {
		this.frozen = true;
		this.state.endRunning();
	}

	/**
	 * Stores the turn as history; without an answer, as failed.
	 * @param answer what the caller is about to get
	 * @return the turn as it was stored
	 * @throws SessionConflictException if somebody else wrote to the session; the turn is
	 * kept beside the history, and the exception carries the answer
	 * @throws CommitFailedException if the store failed; it carries the answer
	 * @throws SessionRefusedException if a hook refused what is to be kept, or threw; the
	 * turn is kept beside the history, without the answer
	 */
	public TurnResult complete(@Nullable ChatResponse answer) {
		if (!close()) {
			throw new IllegalStateException("The turn on session " + key() + " is over already.");
		}
		TurnResult result = this.keeper.complete(recorded(), answer);
		if (result.turn().status() == TurnStatus.COMPLETED) {
			this.views.committed(this.base, result.turn(), this.events::compacted);
		}
		return result;
	}

	/**
	 * Keeps the turn as failed, or as refused if that is what ended it, with what there
	 * was. It is not history, so a retry sends the question once.
	 * @param cause what ended the turn; what goes wrong here is added to it as suppressed
	 */
	public void fail(Throwable cause) {
		if (close()) {
			keepPartialReply();
			this.keeper.fail(recorded(), cause);
		}
	}

	/**
	 * Keeps the turn of a caller that has gone: completed if the answer was whole, else
	 * as cancelled with what there was. Where replies are held the caller has seen
	 * nothing yet, so it is cancelled in any case. There is nobody to tell of an error;
	 * it is logged.
	 */
	public void cancel() {
		freeze();
		if (!close()) {
			return;
		}
		try {
			if (holdsReplies() || !isAnswerWhole() || !this.keeper.completeUnseen(recorded())) {
				keepPartialReply();
				this.keeper.cancel(recorded());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The cancelled turn on session " + key() + " could not be stored: " + ex.getClass().getName());
		}
	}

	private synchronized boolean close() {
		boolean first = !this.closed;
		this.closed = true;
		this.state.endRunning();
		return first;
	}

	private synchronized boolean isAnswerWhole() {
		if (this.reply != null && this.reply.isFinalAnswer()) {
			recordReply();
		}
		return this.transcript.isAnswered();
	}

	/**
	 * Keeps what was said before the end came, unless nobody has checked it.
	 */
	private synchronized void keepPartialReply() {
		if (this.reply != null && !holdsReplies()) {
			this.transcript.partial(this.reply.partial());
		}
		this.reply = null;
	}

	private void recordReply() {
		if (this.reply != null && !this.reply.isEmpty()) {
			this.calibration.answered(this.reply.usage());
			this.transcript.afterRound(this.reply.message(), this.reply.model(), this.reply.usage());
			this.reply = null;
		}
	}

	private synchronized TurnKeeper.Recorded recorded() {
		List<Transcript.Entry> asked = this.input.stream()
			.map((message) -> new Transcript.Entry(message, this.startedAt))
			.toList();
		return new TurnKeeper.Recorded(asked, this.transcript.entries(), this.transcript.rounds(),
				this.transcript.isAnswered(), this.trimmer.isOverLimit());
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
