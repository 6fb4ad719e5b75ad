package io.sessionkit.migration;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.store.SessionStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Imports conversations into a store, each as a session of completed turns. Only valid
 * sequences are written: messages that can be part of no turn are left out, and the
 * report names them. The source is only read.
 * <p>
 * An import may be run again. A conversation that was imported before is not written
 * again, and one whose import was stopped in the middle is continued. A session that did
 * not come from the conversation is never changed. Stop the application that writes to
 * the source meanwhile: messages that it adds to a conversation after that was imported
 * are not imported, and a window that moves while its conversation is read is read twice
 * or not at all, also in the middle. Run it outside of a transaction: the source is read
 * on connections of its own.
 * <p>
 * Conversations are read in parts, if the source can, and written in parts, so a large
 * source needs little memory. Safe for use by many threads; two imports of the same
 * source at the same time write nothing twice, and the one that comes second to a session
 * reports it as changed.
 */
public final class SessionImport {

	private static final Log logger = LogFactory.getLog(SessionImport.class);

	private static final int PAGE = 500;

	private final SessionStore store;

	private final Function<SourceConversation, ? extends @Nullable SessionKey> keys;

	private final boolean dryRun;

	private SessionImport(SessionStore store, Function<SourceConversation, ? extends @Nullable SessionKey> keys,
			boolean dryRun) {
		this.store = Objects.requireNonNull(store, "store");
		this.keys = Objects.requireNonNull(keys, "keys");
		this.dryRun = dryRun;
	}

	/**
	 * Creates an import.
	 * @param store the store to write to
	 * @param keys returns the key of the session for a conversation, with its owner. If
	 * it returns null or throws an exception, that conversation is not imported. The
	 * class of the first exception is logged as a warning, and a null at level DEBUG
	 * @return the import
	 */
	public static SessionImport into(SessionStore store,
			Function<SourceConversation, ? extends @Nullable SessionKey> keys) {
		return new SessionImport(store, keys, false);
	}

	/**
	 * Returns an import that reads and reports, but writes nothing.
	 * @return the import
	 */
	public SessionImport dryRun() {
		return new SessionImport(this.store, this.keys, true);
	}

	/**
	 * Imports all conversations of a source.
	 * @param source the source
	 * @return what was imported and what was not
	 * @throws IllegalStateException if a table cannot be read, or its database gives no
	 * connection; what was written before stays, and another run continues. A repository
	 * that lists no conversations any more throws an exception of its own, in the same
	 * way
	 * @throws io.sessionkit.store.StoreUnavailableException if the store cannot be
	 * reached; in the same way
	 */
	public ImportReport run(ImportSource source) {
		ReportCounts counts = new ReportCounts();
		Set<SessionKey> planned = new HashSet<>();
		SourceReader reader = source.reader();
		SourceConversation last = null;
		List<SourceConversation> page;
		do {
			page = reader.conversations(last, PAGE);
			for (SourceConversation conversation : page) {
				counts.ended(conversation, run(conversation, source.name(reader), reader, counts, planned));
				last = conversation;
			}
		}
		while (page.size() == PAGE);
		return counts.report(this.dryRun);
	}

	private Outcome run(SourceConversation conversation, String source, SourceReader reader, ReportCounts counts,
			Set<SessionKey> planned) {
		SessionKey key = key(conversation, counts);
		if (key == null) {
			return Outcome.KEY_REFUSED;
		}
		ConversationImport conversationImport = new ConversationImport(this.store, key, conversation, source, reader,
				counts);
		try {
			return this.dryRun ? conversationImport.dryRun(planned) : conversationImport.run();
		}
		catch (UnreadablePayloadException | UnsupportedVersionException ex) {
			warnOfFirst(Outcome.UNREADABLE, "A conversation, or the session with its key, cannot be read: "
					+ ex.getMessage() + " The conversation", counts);
			return Outcome.UNREADABLE;
		}
	}

	/** Returns null if there is no key. */
	private @Nullable SessionKey key(SourceConversation conversation, ReportCounts counts) {
		try {
			SessionKey key = this.keys.apply(conversation);
			if (key == null && counts.isFirst(Outcome.KEY_REFUSED)) {
				// it may do so to leave a conversation out
				logger.debug("The function that chooses keys has returned null for a conversation.");
			}
			return key;
		}
		catch (RuntimeException ex) {
			warnOfFirst(Outcome.KEY_REFUSED, "The function that chooses keys has thrown " + ex.getClass().getName()
					+ " for a conversation, which", counts);
			return null;
		}
	}

	private static void warnOfFirst(Outcome outcome, String what, ReportCounts counts) {
		if (counts.isFirstWarning(outcome)) {
			logger.warn(what + " is not imported. The report counts all of them as " + outcome + ".");
		}
	}

}
