package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.Session;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.StreamEvent;
import io.sessionkit.stream.StreamNotFoundException;
import io.sessionkit.stream.TurnStreams;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Lists, shows and changes threads. A new one needs no call: the page picks an id, and
 * the first turn creates the session.
 */
@RestController
@RequestMapping("/api/threads")
final class ThreadController {

	private static final int MOST = 100;

	private static final int LONGEST_TITLE = 120;

	/** An answer that is being written has an event by now. */
	private static final Duration MOMENT = Duration.ofMillis(500);

	private final SessionStore store;

	private final Conversations conversations;

	private final TurnStreams streams;

	private final ThreadViews views;

	ThreadController(SessionStore store, Conversations conversations, TurnStreams streams, ThreadViews views) {
		this.store = store;
		this.conversations = conversations;
		this.streams = streams;
		this.views = views;
	}

	@GetMapping
	ThreadList list(@RequestParam(defaultValue = "0") int offset, @RequestParam(defaultValue = "50") int limit) {
		checkLimit(limit);
		if (offset < 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"An offset must not be negative, as " + offset + " is. Use 0 for the newest threads.");
		}
		List<Session> sessions = this.store.list("", new Page(offset, limit + 1));
		return new ThreadList(this.views.of(sessions.stream().limit(limit).toList()), sessions.size() > limit);
	}

	/**
	 * Returns the newest turns that are shown, or those before a number.
	 */
	@GetMapping("/{id}")
	ThreadWithTurns read(@PathVariable String id, @RequestParam(required = false) @Nullable Long before,
			@RequestParam(defaultValue = "50") int limit) {
		checkLimit(limit);
		Conversation conversation = this.conversations.get(id);
		Session session = session(conversation);
		ShownTurns shown = ShownTurns.of(conversation, session);
		List<Turn> page = shown.page(new Tail((before != null) ? before : Long.MAX_VALUE, limit));
		return new ThreadWithTurns(this.views.of(session), TurnPages.read(conversation, page),
				summaries(conversation, session, shown), session.attributes(),
				page.isEmpty() ? 0 : shown.before(page.get(0).number()).size(), shown.deleted(),
				conversation.siblings(), shown.tree(conversation.branches()), forkedFrom(conversation));
	}

	/**
	 * Returns what a page asks for again and again, to notice what other windows do.
	 */
	@GetMapping("/{id}/head")
	ThreadView head(@PathVariable String id) {
		return this.views.of(session(this.conversations.get(id)));
	}

	@PutMapping("/{id}/title")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void rename(@PathVariable String id, @RequestBody Title title) {
		this.conversations.get(id).title(title.checked());
	}

	/**
	 * Deletes the thread, and ends the answer that is being written in it, which may be
	 * the first one of a thread that is not stored yet.
	 */
	@DeleteMapping("/{id}")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void delete(@PathVariable String id) {
		Conversation thread = this.conversations.get(id);
		Optional<String> running = running(thread.key());
		boolean erased = thread.clear();
		running.ifPresent((event) -> stop(thread.key(), event));
		if (!erased && running.isEmpty()) {
			throw notFound(thread);
		}
	}

	private void stop(SessionKey key, String event) {
		try {
			this.streams.stop(key, event);
		}
		catch (StreamNotFoundException ex) {
			// it is over, or at work in another process, which cannot store it any more
		}
	}

	/**
	 * Finds an event of the answer that is being written. Nobody will read that answer,
	 * so the model can stop.
	 */
	private Optional<String> running(SessionKey key) {
		return this.streams.running(key)
			.map(StreamEvent::id)
			.filter((event) -> !event.isEmpty())
			.next()
			.timeout(MOMENT, Mono.empty())
			.blockOptional();
	}

	private static Session session(Conversation conversation) {
		return conversation.session().orElseThrow(() -> notFound(conversation));
	}

	private static SessionNotFoundException notFound(Conversation conversation) {
		return new SessionNotFoundException("There is no thread " + conversation.key() + ".");
	}

	private static void checkLimit(int limit) {
		if (limit < 1 || limit > MOST) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"A limit must be from 1 to " + MOST + ", not " + limit + ".");
		}
	}

	/** Leaves out those of turns that were left, or are on another branch. */
	private static List<SummaryView> summaries(Conversation conversation, Session session, ShownTurns shown) {
		return conversation.summaries()
			.stream()
			.filter((summary) -> shown.hasInHistory(summary.turn()))
			.map((summary) -> SummaryView.of(summary, summary.id().equals(session.summaryId())))
			.toList();
	}

	private @Nullable ForkView forkedFrom(Conversation conversation) {
		return conversation.forkedFrom()
			.map((key) -> new ForkView(key.id(), this.store.find(key).map(this.views::title).orElse(null)))
			.orElse(null);
	}

	@ExceptionHandler
	ProblemDetail session(SessionException ex) {
		return Problems.ofMove(ex);
	}

	/**
	 * @param more whether there are further ones behind these
	 */
	record ThreadList(List<ThreadView> threads, boolean more) {
	}

	/**
	 * @param summaries the summaries, earliest turns first
	 * @param attributes the attributes of the session
	 * @param earlier the number of turns that are shown before the first of these
	 * @param deleted the number of the turn up to which all were deleted; 0 for none
	 * @param siblings the turns that were left, by the number of the turn that they
	 * follow
	 * @param branches the branches, the oldest first
	 * @param forkedFrom the thread that this one was forked from; null for none
	 */
	record ThreadWithTurns(ThreadView thread, List<TurnView> turns, List<SummaryView> summaries,
			Map<String, Object> attributes, long earlier, long deleted, Map<Long, List<Long>> siblings,
			List<BranchView> branches, @Nullable ForkView forkedFrom) {
	}

	/**
	 * @param title the new title; an empty one brings back the first question
	 */
	record Title(@Nullable String title) {

		String checked() {
			if (this.title == null) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
						"There is no \"title\". Write an empty one to bring back the first question.");
			}
			String checked = this.title.strip();
			if (checked.length() > LONGEST_TITLE) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A title may have at most " + LONGEST_TITLE
						+ " characters; this one has " + checked.length() + ".");
			}
			return checked;
		}

	}

}
