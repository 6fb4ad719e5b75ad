package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
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

	/** The number of threads that the sidebar lists, and of turns that the page shows. */
	private static final int NEWEST = 100;

	private static final int LONGEST_TITLE = 120;

	private static final int SHORT_TITLE = 48;

	private final SessionStore store;

	private final Conversations conversations;

	private final long summaryFrom;

	/**
	 * @param summaryFrom the number of messages from which older turns are summarized; 0
	 * if they never are
	 */
	ThreadController(SessionStore store, Conversations conversations,
			@Value("${sessionkit.summarize.trigger-messages:0}") long summaryFrom) {
		this.store = store;
		this.conversations = conversations;
		this.summaryFrom = summaryFrom;
	}

	@GetMapping
	List<ThreadView> list() {
		return this.store.list("", Page.first(NEWEST)).stream().map(this::view).toList();
	}

	@GetMapping("/{id}")
	ThreadWithTurns read(@PathVariable String id) {
		Conversation conversation = this.conversations.get(id);
		Session session = conversation.session()
			.orElseThrow(() -> new SessionNotFoundException("There is no thread " + conversation.key() + "."));
		return new ThreadWithTurns(view(session), turns(conversation), summaries(conversation, session));
	}

	@PutMapping("/{id}/title")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void rename(@PathVariable String id, @RequestBody Title title) {
		this.conversations.get(id).rename(title.checked());
	}

	@DeleteMapping("/{id}")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void delete(@PathVariable String id) {
		this.conversations.get(id).clear();
	}

	/**
	 * Returns all turns. The log holds the completed ones; the others are beside the
	 * history, but a person wants to see them too.
	 */
	private static List<TurnView> turns(Conversation conversation) {
		Map<Long, List<SessionItem>> log = conversation.items(Tail.ALL)
			.stream()
			.collect(Collectors.groupingBy(SessionItem::turn));
		return conversation.turns(Tail.newest(NEWEST))
			.stream()
			.map((turn) -> TurnView.of(turn, items(conversation, turn, log)))
			.toList();
	}

	private static List<SessionItem> items(Conversation conversation, Turn turn, Map<Long, List<SessionItem>> log) {
		return (turn.status() == TurnStatus.COMPLETED) ? log.getOrDefault(turn.number(), List.of())
				: conversation.items(turn.number());
	}

	private static List<SummaryView> summaries(Conversation conversation, Session session) {
		return conversation.summaries()
			.stream()
			.map((summary) -> SummaryView.of(summary, summary.id().equals(session.summaryId())))
			.toList();
	}

	private ThreadView view(Session session) {
		return new ThreadView(session.key().id(), title(session), session.turns(), session.updatedAt(),
				new Unsummarized(session.summaryTurn(), session.totals().items(), this.summaryFrom));
	}

	private String title(Session session) {
		if (session.title() != null) {
			return session.title();
		}
		return firstItem(session).map((item) -> item.message().getText())
			.map(ThreadController::shortened)
			.orElse("New thread");
	}

	/**
	 * Returns the first item. If the first turn of a thread waits, the log has nothing
	 * yet.
	 */
	private Optional<SessionItem> firstItem(Session session) {
		return this.store.items(session.key(), 1)
			.stream()
			.findFirst()
			.or(() -> this.conversations.get(session.key()).items(session.openTurn()).stream().findFirst());
	}

	private static String shortened(String text) {
		String line = text.strip().replaceAll("\\s+", " ");
		int end = line.offsetByCodePoints(0, Math.min(SHORT_TITLE, line.codePointCount(0, line.length())));
		return (end < line.length()) ? line.substring(0, end).strip() + "…" : line;
	}

	record ThreadView(String id, String title, long turns, Instant updatedAt, Unsummarized unsummarized) {
	}

	/**
	 * @param summaries the summaries, earliest turns first
	 */
	record ThreadWithTurns(ThreadView thread, List<TurnView> turns, List<SummaryView> summaries) {
	}

	/**
	 * The history that no summary covers.
	 *
	 * @param since the last turn that a summary covers; 0 for none
	 * @param messages the number of its messages
	 * @param limit the number of messages at which the older ones are summarized; 0 for
	 * never
	 */
	record Unsummarized(long since, long messages, long limit) {
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
