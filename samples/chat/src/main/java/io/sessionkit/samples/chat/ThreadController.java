package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Approvals;
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

	/** The number of threads or turns that are read at once, if the page does not say. */
	private static final String PAGE = "50";

	private static final int LARGEST_PAGE = 100;

	private static final int LONGEST_TITLE = 120;

	private final SessionStore store;

	private final Conversations conversations;

	private final Approvals approvals;

	private final Titles titles;

	private final long summaryFrom;

	/**
	 * @param summaryFrom the number of messages from which older turns are summarized; 0
	 * if they never are
	 */
	ThreadController(SessionStore store, Conversations conversations, Approvals approvals, Titles titles,
			@Value("${sessionkit.summarize.trigger-messages:0}") long summaryFrom) {
		this.store = store;
		this.conversations = conversations;
		this.approvals = approvals;
		this.titles = titles;
		this.summaryFrom = summaryFrom;
	}

	/**
	 * Lists threads, last written first.
	 */
	@GetMapping
	ThreadPage list(@RequestParam(defaultValue = "0") int offset, @RequestParam(defaultValue = PAGE) int limit) {
		checkPage(offset, limit);
		List<Session> sessions = this.store.list("", new Page(offset, limit + 1));
		return new ThreadPage(sessions.stream().limit(limit).map(this::view).toList(), sessions.size() > limit);
	}

	/**
	 * Returns a thread with its newest turns.
	 * @param before only turns with smaller numbers are returned
	 */
	@GetMapping("/{id}")
	ThreadWithTurns read(@PathVariable String id, @RequestParam(defaultValue = "" + Long.MAX_VALUE) long before,
			@RequestParam(defaultValue = PAGE) int limit) {
		checkPage(0, limit);
		Conversation conversation = this.conversations.get(id);
		Session session = existing(conversation);
		List<TurnView> turns = turns(conversation, new Tail(before, limit));
		return new ThreadWithTurns(view(session), turns, summaries(conversation, session), session.attributes(),
				turns.isEmpty() ? 0 : turns.get(0).number() - 1);
	}

	/**
	 * Returns what tells whether something has changed, for a page that looks every few
	 * seconds.
	 */
	@GetMapping("/{id}/head")
	ThreadView head(@PathVariable String id) {
		return view(existing(this.conversations.get(id)));
	}

	private static Session existing(Conversation conversation) {
		return conversation.session()
			.orElseThrow(() -> new SessionNotFoundException("There is no thread " + conversation.key() + "."));
	}

	private static void checkPage(int offset, int limit) {
		if (offset < 0 || limit < 1 || limit > LARGEST_PAGE) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A page has 1 to " + LARGEST_PAGE
					+ " entries and begins at 0 or later; this one has " + limit + " from " + offset + ".");
		}
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
	 * Returns turns, whatever became of them. The log holds the completed ones and is
	 * read at once; the others are beside the history, but a person wants to see them
	 * too.
	 */
	private static List<TurnView> turns(Conversation conversation, Tail tail) {
		List<Turn> turns = conversation.turns(tail);
		Map<Long, List<SessionItem>> log = log(conversation, turns, tail);
		return turns.stream()
			.map((turn) -> TurnView.of(turn,
					log.containsKey(turn.number()) ? log.get(turn.number()) : conversation.items(turn.number())))
			.toList();
	}

	private static Map<Long, List<SessionItem>> log(Conversation conversation, List<Turn> turns, Tail tail) {
		int items = turns.stream().filter((turn) -> turn.status() == TurnStatus.COMPLETED).mapToInt(Turn::items).sum();
		long end = (tail.before() == Long.MAX_VALUE) ? Long.MAX_VALUE
				: conversation.items(tail.before()).stream().mapToLong(SessionItem::sequence).min().orElse(0);
		if (items == 0 || end == 0) {
			return Map.of();
		}
		long first = turns.get(0).number();
		return conversation.items(new Tail(end, items))
			.stream()
			.filter((item) -> item.turn() >= first)
			.collect(Collectors.groupingBy(SessionItem::turn));
	}

	private static List<SummaryView> summaries(Conversation conversation, Session session) {
		return conversation.summaries()
			.stream()
			.map((summary) -> SummaryView.of(summary, summary.id().equals(session.summaryId())))
			.toList();
	}

	private ThreadView view(Session session) {
		return new ThreadView(session.key().id(), this.titles.of(session), session.turns(), session.createdAt(),
				session.updatedAt(), waiting(session), session.openTurn(),
				new Unsummarized(session.summaryTurn(), session.totals().items(), this.summaryFrom));
	}

	private int waiting(Session session) {
		return (session.openTurn() == 0) ? 0
				: (int) this.approvals.pending(session.key())
					.stream()
					.filter((call) -> call.status().isPending())
					.count();
	}

	/**
	 * @param more whether there are older ones
	 */
	record ThreadPage(List<ThreadView> threads, boolean more) {
	}

	/**
	 * @param waiting the number of tool calls on which a person has to decide
	 * @param open the turn that is not over; 0 if there is none
	 */
	record ThreadView(String id, String title, long turns, Instant createdAt, Instant updatedAt, int waiting, long open,
			Unsummarized unsummarized) {
	}

	/**
	 * @param summaries the summaries, earliest turns first
	 * @param attributes the attributes of the session
	 * @param earlier the number of turns before the first of these
	 */
	record ThreadWithTurns(ThreadView thread, List<TurnView> turns, List<SummaryView> summaries,
			Map<String, Object> attributes, long earlier) {
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
