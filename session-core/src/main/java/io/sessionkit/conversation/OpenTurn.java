package io.sessionkit.conversation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.CommitFailedException;
import io.sessionkit.InvalidSequenceException;
import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.hook.SequenceGuard;
import io.sessionkit.hook.Trim;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * A turn between its question and its end. It is written once, by the first of
 * {@link #complete}, {@link #fail} and {@link #cancel}; a later one does nothing.
 * <p>
 * Safe for use by many threads, as a stream needs: what comes after {@link #freeze} or
 * after the end is ignored or refused.
 */
public final class OpenTurn {

	private static final Log logger = LogFactory.getLog(OpenTurn.class);

	private static final String NO_REPLY = "no reply";

	/** How often a commit is tried on a header that changes without its history. */
	private static final int ATTEMPTS = 5;

	private final TurnRequest request;

	private final SessionStore store;

	private final StoreOptions options;

	private final String id;

	private final Instant startedAt;

	private final @Nullable Session base;

	private final ViewTrimmer trimmer;

	private final SequenceGuard guard;

	private final Transcript transcript;

	/** What the model says in this round; null once it is recorded. */
	private @Nullable ReplyAggregator reply;

	private final Delivered delivered = new Delivered();

	private boolean roundOpen;

	private boolean frozen;

	private boolean closed;

	OpenTurn(TurnRequest request, SessionStore store, Trim trim, SequenceGuard guard) {
		this.request = request;
		this.store = store;
		this.options = store.options();
		this.id = this.options.turnIds().get();
		this.startedAt = this.options.now();
		Optional<SessionView> view = store.open(request.key(), window(trim, request));
		this.base = view.map(SessionView::session).orElse(null);
		this.trimmer = new ViewTrimmer(view.map(SessionView::items).orElse(List.of()), trim);
		this.guard = guard;
		this.transcript = new Transcript(this.options::now, this.options.codec()::storable);
	}

	private static Window window(Trim trim, TurnRequest request) {
		int room = (trim.maxMessages() == Integer.MAX_VALUE) ? Integer.MAX_VALUE
				: Math.max(0, trim.maxMessages() - request.input().size());
		return new Window(trim.maxTurns(), room).and(Window.items(request.limit()));
	}

	/**
	 * Which session the turn is on.
	 * @return its key
	 */
	public SessionKey key() {
		return this.request.key();
	}

	/**
	 * The history that goes before the turn's input.
	 * @return the messages, oldest first, within the limits
	 */
	public List<Message> history() {
		return List.copyOf(this.trimmer.history());
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
	 * @return a valid sequence within the limits
	 * @throws IllegalStateException if the turn is over
	 * @throws InvalidSequenceException if the guard is strict and repairs are needed, or
	 * if nothing that the model could answer is left
	 */
	public synchronized List<Message> beforeRound(List<Message> forwarded) {
		if (this.frozen || this.closed) {
			throw new IllegalStateException("The turn on session " + key() + " is over: the call was cancelled.");
		}
		List<Message> whole = this.transcript.beforeRound(forwarded);
		List<Message> sent = this.trimmer.fit(whole, this.guard::apply);
		if (sent.stream().allMatch(SystemMessage.class::isInstance)) {
			throw new InvalidSequenceException("Nothing is left of the request on session " + key()
					+ ": it has only tool results whose calls are not in the history. Send them to the session whose"
					+ " last reply has the calls, or add a user message.");
		}
		this.reply = new ReplyAggregator();
		this.roundOpen = true;
		return sent;
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
	 * The streamed reply is whole: records it, before its tools are called.
	 */
	public synchronized void afterStreamedRound() {
		this.roundOpen = false;
		if (!this.frozen) {
			recordReply();
		}
	}

	/**
	 * Records a reply that came as a whole, before its tools are called.
	 * @param response what the model returned; null and no generations are no reply
	 */
	public synchronized void afterRound(@Nullable ChatResponse response) {
		this.roundOpen = false;
		this.reply = null;
		AssistantMessage chosen = (response != null) ? Replies.chosen(response) : null;
		if (response != null && chosen != null) {
			this.transcript.afterRound(chosen, response.getMetadata().getModel(),
					Replies.usage(response.getMetadata().getUsage()));
		}
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
	public synchronized void afterLoop(List<Generation> generations) {
		if (!this.frozen) {
			this.transcript.afterLoop(generations);
		}
	}

	/**
	 * Records nothing more: the caller has gone, and what comes now are the effects of
	 * that.
	 */
	public synchronized void freeze() {
		this.frozen = true;
	}

	/**
	 * Stores the turn as history; without an answer, as failed.
	 * @param answer what the caller is about to get
	 * @return the turn as it was stored
	 * @throws SessionConflictException if somebody else wrote to the session; the turn is
	 * kept beside the history, and the exception carries the answer
	 * @throws CommitFailedException if the store failed; it carries the answer
	 */
	public TurnResult complete(@Nullable ChatResponse answer) {
		if (!close()) {
			throw new IllegalStateException("The turn on session " + key() + " is over already.");
		}
		TurnResult result;
		try {
			if (!this.transcript.isAnswered()) {
				return keepAside(TurnStatus.FAILED, NO_REPLY);
			}
			result = commit();
		}
		catch (RuntimeException ex) {
			throw new CommitFailedException("The turn on session " + key() + " is over, but it could not be stored: "
					+ ex.getClass().getSimpleName() + ". A reply that there is is in this exception; the thread"
					+ " is as it was, or has the whole turn.", answer, ex);
		}
		if (result == null) {
			throw conflict(answer);
		}
		return result;
	}

	private SessionConflictException conflict(@Nullable ChatResponse answer) {
		boolean erased = isErased();
		SessionConflictException conflict = new SessionConflictException(erased
				? "Session " + key() + " was erased or has expired while this turn was open. The reply is in this"
						+ " exception, and nothing of the turn was stored."
				: "Session " + key() + " moved on from version " + ((this.base != null) ? this.base.version() : 0)
						+ " while this turn was open. The reply is in this exception and the turn is kept beside the"
						+ " history; call again to continue from what is there now.",
				answer);
		try {
			keepAside(TurnStatus.FAILED, SessionConflictException.class.getName());
		}
		catch (RuntimeException ex) {
			conflict.addSuppressed(ex);
		}
		return conflict;
	}

	/**
	 * Keeps the turn as failed, with what there was. It is not history, so a retry sends
	 * the question once.
	 * @param cause what ended the turn; what goes wrong here is added to it as suppressed
	 */
	public void fail(Throwable cause) {
		if (!close()) {
			return;
		}
		try {
			keepPartialReply();
			keepAside(TurnStatus.FAILED, cause.getClass().getName());
		}
		catch (RuntimeException ex) {
			cause.addSuppressed(ex);
		}
	}

	/**
	 * Keeps the turn of a caller that has gone: completed if the answer was whole, else
	 * as cancelled with what there was. There is nobody to tell of an error; it is
	 * logged.
	 */
	public void cancel() {
		freeze();
		if (!close()) {
			return;
		}
		try {
			if (isAnswerWhole() && commit() != null) {
				return;
			}
			keepPartialReply();
			keepAside(TurnStatus.CANCELLED, null);
		}
		catch (RuntimeException ex) {
			logger.warn("The cancelled turn on session " + key() + " could not be stored: " + ex.getClass().getName());
		}
	}

	private synchronized boolean close() {
		boolean first = !this.closed;
		this.closed = true;
		return first;
	}

	private synchronized boolean isAnswerWhole() {
		if (this.reply != null && this.reply.isFinalAnswer()) {
			recordReply();
		}
		return this.transcript.isAnswered();
	}

	private synchronized void keepPartialReply() {
		if (this.reply != null) {
			this.transcript.partial(this.reply.partial());
			this.reply = null;
		}
	}

	private void recordReply() {
		if (this.reply != null && !this.reply.isEmpty()) {
			this.transcript.afterRound(this.reply.message(), this.reply.model(), this.reply.usage());
			this.reply = null;
		}
	}

	/**
	 * @return null if somebody else was first
	 */
	private @Nullable TurnResult commit() {
		TurnWrite write = turnWrite(TurnStatus.COMPLETED, null);
		Session expected = this.base;
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Commit commit = (expected != null) ? Commit.on(expected) : Commit.first(key());
			CommitResult result = this.store.commit(commit.turn(write));
			if (result.isStored()) {
				return result(write, result);
			}
			expected = this.store.find(key()).filter(this::hasSameHistory).orElse(null);
			if (expected == null) {
				return null;
			}
		}
		return null;
	}

	/**
	 * Whether only the title or the like has changed since the turn was opened: renaming
	 * a thread must not cost the turn that runs on it. All that takes away or adds moves
	 * the head or the totals.
	 */
	private boolean hasSameHistory(Session now) {
		Session opened = this.base;
		return opened != null && now.createdAt().equals(opened.createdAt()) && now.head() == opened.head()
				&& now.branch().equals(opened.branch()) && now.checkpoint() == opened.checkpoint()
				&& now.totals().equals(opened.totals()) && now.state().equals(opened.state());
	}

	/**
	 * Stores the turn beside the history, unless the session was erased in the meantime:
	 * nothing of it may come back then.
	 */
	private TurnResult keepAside(TurnStatus status, @Nullable String failure) {
		TurnWrite write = turnWrite(status, failure);
		if (isErased()) {
			return new TurnResult(key(), write.turn(), List.of(), this.trimmer.isOverLimit());
		}
		return result(write, this.store.commit(Commit.any(key()).turn(write)));
	}

	private boolean isErased() {
		Session opened = this.base;
		return opened != null
				&& this.store.find(key()).filter((session) -> session.createdAt().equals(opened.createdAt())).isEmpty();
	}

	private synchronized TurnWrite turnWrite(TurnStatus status, @Nullable String failure) {
		List<NewItem> items = new ArrayList<>();
		this.request.input().forEach((message) -> items.add(item(message, this.startedAt)));
		this.transcript.entries().forEach((entry) -> items.add(item(entry.message(), entry.at())));
		List<Round> rounds = this.transcript.rounds();
		String model = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1).model();
		Turn turn = new Turn(this.id, 0, (this.base != null) ? this.base.head() : 0,
				(this.base != null) ? this.base.branch() : Session.MAIN, status, this.request.agent(),
				(model != null && !model.isEmpty()) ? model : this.request.model(), this.startedAt, this.options.now(),
				rounds, Map.copyOf(this.request.tools()), failure, 0, 0);
		return new TurnWrite(turn, 0, items);
	}

	private NewItem item(Message message, Instant at) {
		return new NewItem(message, at, this.options.tokens().applyAsInt(message));
	}

	private TurnResult result(TurnWrite write, CommitResult stored) {
		List<SessionItem> items = (stored.outcome() == Outcome.COMMITTED) ? items(write, stored)
				: this.store.items(key(), stored.turn());
		int tokens = items.stream().mapToInt(SessionItem::tokens).sum();
		Turn turn = write.turn();
		return new TurnResult(key(), turn.stored(stored.turn(), turn.parent(), turn.branch(), items.size(), tokens),
				items, this.trimmer.isOverLimit());
	}

	private static List<SessionItem> items(TurnWrite write, CommitResult stored) {
		List<SessionItem> items = new ArrayList<>();
		for (NewItem item : write.items()) {
			items.add(new SessionItem(stored.firstItem() + items.size(), stored.turn(), item.at(), item.tokens(),
					item.message()));
		}
		return items;
	}

}
