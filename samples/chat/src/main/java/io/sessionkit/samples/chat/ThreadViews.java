package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Makes the {@link ThreadView} of a session with as few calls of the store as possible,
 * since the page asks for it every few seconds. Safe for use by many threads.
 */
@Component
final class ThreadViews {

	private static final int SHORT_TITLE = 48;

	private static final int MOST_TITLES = 1_000;

	/** The number of waiting calls over all threads that a list counts. */
	private static final int MOST_WAITING = 1_000;

	private final SessionStore store;

	private final Approvals approvals;

	private final long summaryFrom;

	private final int maxTurns;

	private final Duration maxAge;

	/** The shortened first questions, by incarnation: they do not change. */
	private final Map<String, String> firstQuestions = new LinkedHashMap<>(16, 0.75f, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
			return size() > MOST_TITLES;
		}

	};

	/**
	 * @param summaryFrom the number of messages from which older turns are summarized; 0
	 * if they never are
	 * @param maxTurns the number of turns that a thread keeps, unless its settings say
	 * otherwise; the largest one for all
	 * @param maxAge for how long, likewise; zero for ever
	 */
	ThreadViews(SessionStore store, Approvals approvals,
			@Value("${sessionkit.summarize.trigger-messages:0}") long summaryFrom,
			@Value("${sessionkit.retention.max-turns:" + Integer.MAX_VALUE + "}") int maxTurns,
			@Value("${sessionkit.retention.max-age:0s}") Duration maxAge) {
		this.store = store;
		this.approvals = approvals;
		this.summaryFrom = summaryFrom;
		this.maxTurns = maxTurns;
		this.maxAge = maxAge;
	}

	ThreadView of(Session session) {
		return of(session, (session.openTurn() != 0) ? waiting(this.approvals.pending(session.key())) : 0);
	}

	/**
	 * Returns the views of a list. All approvals are read with one call, and only if a
	 * turn is open.
	 */
	List<ThreadView> of(List<Session> sessions) {
		boolean anyOpen = sessions.stream().anyMatch((session) -> session.openTurn() != 0);
		Map<SessionKey, List<ToolApproval>> pending = anyOpen ? this.approvals.pendingOf("", Page.first(MOST_WAITING))
			.stream()
			.collect(Collectors.groupingBy(ToolApproval::key)) : Map.of();
		return sessions.stream()
			.map((session) -> of(session, waiting(pending.getOrDefault(session.key(), List.of()))))
			.toList();
	}

	String title(Session session) {
		return (session.title() != null) ? session.title() : firstQuestion(session).orElse("New thread");
	}

	private ThreadView of(Session session, int waiting) {
		return new ThreadView(session.key().id(), title(session), session.turns(), session.head(), session.branch(),
				session.openTurn(), waiting, RewindController.begun(session), session.createdAt(), session.updatedAt(),
				new ThreadView.Unsummarized(session.summaryTurn(), session.totals().items(), this.summaryFrom),
				KeptView.of(session.settings().retention(), this.maxTurns, this.maxAge));
	}

	private static int waiting(List<ToolApproval> calls) {
		return (int) calls.stream().filter((call) -> call.status().isPending()).count();
	}

	private Optional<String> firstQuestion(Session session) {
		synchronized (this.firstQuestions) {
			String known = this.firstQuestions.get(session.incarnation());
			if (known != null) {
				return Optional.of(known);
			}
		}
		Optional<String> read = firstItem(session).map((item) -> item.message().getText()).map(ThreadViews::shortened);
		synchronized (this.firstQuestions) {
			read.ifPresent((question) -> this.firstQuestions.put(session.incarnation(), question));
		}
		return read;
	}

	/**
	 * Returns the first item. If the first turn of a thread was deleted, it is the first
	 * one that is left.
	 */
	private Optional<SessionItem> firstItem(Session session) {
		return this.store.items(session.key(), 1)
			.stream()
			.findFirst()
			.or(() -> this.store.turns(session.key(), Tail.ALL)
				.stream()
				.filter((turn) -> turn.items() > 0)
				.findFirst()
				.map(Turn::number)
				.flatMap((number) -> this.store.items(session.key(), number).stream().findFirst()))
			.or(() -> this.store.items(session.key(), session.openTurn()).stream().findFirst());
	}

	private static String shortened(String text) {
		String line = text.strip().replaceAll("\\s+", " ");
		int end = line.offsetByCodePoints(0, Math.min(SHORT_TITLE, line.codePointCount(0, line.length())));
		return (end < line.length()) ? line.substring(0, end).strip() + "…" : line;
	}

}
