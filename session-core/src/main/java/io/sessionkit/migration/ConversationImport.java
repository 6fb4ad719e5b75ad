package io.sessionkit.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import io.sessionkit.TurnOpenException;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;
import io.sessionkit.migration.SourceMessage.Mark;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;

/**
 * Imports one conversation, some turns at a time. Each commit says in the record of the
 * import how far it is, and expects the session as the one before has left it. Used once,
 * by one thread.
 */
final class ConversationImport {

	private static final int PAGE = 500;

	/** A commit has about so many messages. */
	private static final int BATCH = 200;

	private final SessionStore store;

	private final SessionKey key;

	private final SourceConversation conversation;

	private final SourceReader source;

	private final ReportCounts counts;

	private boolean dryRun;

	private ImportRecord record;

	private boolean imported;

	/** A summary that was read, until its place is known; null for none. */
	private @Nullable SourceMessage summary;

	/**
	 * Creates an import.
	 * @param name the name of the source
	 */
	ConversationImport(SessionStore store, SessionKey key, SourceConversation conversation, String name,
			SourceReader source, ReportCounts counts) {
		this.store = store;
		this.key = key;
		this.conversation = conversation;
		this.source = source;
		this.counts = counts;
		this.record = ImportRecord.begin(name, conversation);
	}

	Outcome run() {
		return run(Set.of());
	}

	/**
	 * Writes nothing, and returns what a run would.
	 * @param planned the keys of the sessions that would be there by now; changed
	 */
	Outcome dryRun(Set<SessionKey> planned) {
		this.dryRun = true;
		Outcome outcome = run(planned);
		if (outcome == Outcome.IMPORTED) {
			planned.add(this.key);
		}
		return outcome;
	}

	private Outcome run(Set<SessionKey> planned) {
		Outcome refusal = this.source.refusal(this.conversation, options().now());
		Outcome known = (refusal != null) ? refusal : known(planned);
		if (known != null) {
			return known;
		}
		try {
			importRest();
		}
		catch (OthersWriteException | TurnOpenException ex) {
			return Outcome.CHANGED;
		}
		return this.imported ? Outcome.IMPORTED : Outcome.EMPTY;
	}

	/** Returns what the session says of an import before; null if this one is to run. */
	private @Nullable Outcome known(Set<SessionKey> planned) {
		if (planned.contains(this.key)) {
			return Outcome.EXISTS;
		}
		Session session = this.store.find(this.key).orElse(null);
		if (session == null) {
			return null;
		}
		SessionRecord before = this.store.record(this.key, ImportRecord.KIND, ImportRecord.ID).orElse(null);
		ImportRecord read = (before != null) ? ImportRecord.read(before, options().codec()) : null;
		if (before == null || read == null || !read.isOf(this.record.source(), this.conversation)) {
			return Outcome.EXISTS;
		}
		if (read.done()) {
			return Outcome.ALREADY_IMPORTED;
		}
		this.record = read.committed(before.revision(), version(session, before));
		this.imported = true;
		return this.record.isUntouched(session) ? null : Outcome.CHANGED;
	}

	/**
	 * Returns the version that the last commit of an import has left; 0 if others have
	 * written since. That commit has written session and record at one time.
	 */
	private static long version(Session session, SessionRecord record) {
		return session.updatedAt().equals(record.writtenAt()) ? session.version() : 0;
	}

	private void importRest() {
		TurnCollector collector = new TurnCollector(this.key, this.conversation, options().codec(), this.counts,
				this.imported, this.record.position());
		long after = this.record.position();
		List<SourceMessage> page;
		do {
			page = this.source.messages(this.conversation, after, PAGE);
			page.forEach((message) -> add(message, collector));
			after = page.isEmpty() ? after : page.get(page.size() - 1).position();
		}
		while (page.size() == PAGE);
		collector.end();
		if (this.record.archived()) {
			endArchive(collector);
		}
		finish(collector);
	}

	private void add(SourceMessage message, TurnCollector collector) {
		if (message.mark() == Mark.SYNTHETIC && this.record.archived()) {
			addSummary(message, collector);
			return;
		}
		if (message.mark() != Mark.ARCHIVED && this.record.archived()) {
			collector.end();
			endArchive(collector);
		}
		collector.add(message);
		if (message.mark() == Mark.ARCHIVED) {
			this.record = this.record.archived(true);
		}
		if (collector.size() >= BATCH) {
			write(collector);
		}
	}

	/**
	 * Remembers a summary until all messages before the next question were read. The
	 * turns that it stands for are written first, so that an import that is continued
	 * reads it again.
	 */
	private void addSummary(SourceMessage message, TurnCollector collector) {
		collector.end();
		write(collector);
		collector.skip(message);
		this.summary = textOf(message).isBlank() ? this.summary : message;
	}

	private static String textOf(@Nullable SourceMessage summary) {
		String text = (summary != null && summary.message() instanceof AssistantMessage reply) ? reply.getText() : null;
		return (text != null) ? text : "";
	}

	/** Writes the archived turns, and makes the view start behind them. */
	private void endArchive(TurnCollector collector) {
		write(collector);
		this.record = this.record.archived(false).position(collector.position());
		if (this.imported) {
			placeSummary();
			this.counts.summary();
		}
		else if (this.summary != null) {
			this.counts.leftOut(this.conversation, this.summary, Reason.NO_QUESTION);
		}
		this.summary = null;
	}

	private void placeSummary() {
		if (this.dryRun) {
			return;
		}
		Session session = untouched(this.store.find(this.key).orElseThrow(OthersWriteException::new));
		String text = textOf(this.summary);
		Summary summary = text.isEmpty() ? Summaries.reset(session, List.of(), options())
				: new Summary(options().turnIds().get(), session.head(), session.summaryTurn(), session.totals(), text,
						List.of(), new Summary.Origin(null, TokenUsage.NONE, options().now()));
		commit(session, Commit.on(session).header(HeaderChange.NONE.summary(summary.turn(), summary.id())),
				List.of(Summaries.write(this.key, summary, options().codec())));
	}

	private void finish(TurnCollector collector) {
		if (collector.size() == 0 && !this.imported) {
			return;
		}
		this.record = this.record.finished();
		write(collector);
	}

	private void write(TurnCollector collector) {
		List<SourceTurn> turns = collector.take();
		if (turns.isEmpty() && !this.record.done()) {
			return;
		}
		Session session = this.dryRun ? null : this.store.find(this.key).map(this::untouched).orElse(null);
		this.record = this.record.position(collector.position()).turns(this.record.turns() + turns.size());
		if (!this.dryRun) {
			Commit commit = (session != null) ? Commit.on(session) : Commit.first(this.key);
			commit(session, turns.isEmpty() ? commit
					: commit.turns(turns.stream().map((turn) -> turn.write(options())).toList()), List.of());
		}
		this.counts.imported(turns);
		this.imported |= !turns.isEmpty();
	}

	private Session untouched(Session session) {
		if (!this.record.isUntouched(session)) {
			throw new OthersWriteException();
		}
		return session;
	}

	/** Commits with the record of the import, if the session is as the import left it. */
	private void commit(@Nullable Session session, Commit commit, List<RecordWrite> records) {
		boolean begins = this.record.revision() == 0;
		if (begins != (session == null)) {
			throw new OthersWriteException();
		}
		RecordWrite record = this.record.write(this.key, options().codec());
		List<RecordWrite> all = new ArrayList<>(records);
		all.add(record);
		CommitResult result = this.store.commit(commit.records(all));
		long newest = (commit.turn() != null) ? result.turn() : Objects.requireNonNull(session).turns();
		if (!result.isStored() || newest != this.record.turns()) {
			throw new OthersWriteException();
		}
		this.record = this.record.committed(record.next(), result.version());
	}

	private StoreOptions options() {
		return this.store.options();
	}

	/** Somebody else has written to the session. */
	private static final class OthersWriteException extends RuntimeException {

		OthersWriteException() {
			super(null, null, false, false);
		}

	}

}
