package io.sessionkit.migration;

import java.util.HashMap;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The progress of the import of a conversation. It is one record of the session, written
 * in each commit of the import, so an import that is repeated writes nothing twice.
 *
 * @param source the name of the source
 * @param conversation the id of the conversation in the source
 * @param position the position of the last message that is imported or left out
 * @param turns the number of the newest turn of the session after the last commit
 * @param archived whether the turns so far are archived in the source
 * @param done whether the import is complete
 * @param revision the revision of the record; 0 if there is none
 * @param version the version of the session after the last commit; 0 if it is not known
 */
record ImportRecord(String source, String conversation, long position, long turns, boolean archived, boolean done,
		long revision, long version) {

	/** The kind of the record. A session has one at most. */
	static final String KIND = "import";

	/** The id of the record. */
	static final String ID = "source";

	private static final long VERSION = 1;

	private static final long FIRST = 1;

	static ImportRecord begin(String source, SourceConversation conversation) {
		return new ImportRecord(source, conversation.id(), Long.MIN_VALUE, 0, false, false, 0, 0);
	}

	boolean isOf(String source, SourceConversation conversation) {
		return this.source.equals(source) && this.conversation.equals(conversation.id());
	}

	/**
	 * Returns whether nobody but the import has changed a session.
	 */
	boolean isUntouched(Session session) {
		return session.version() == this.version && session.head() == this.turns && session.openTurn() == 0;
	}

	ImportRecord position(long position) {
		return new ImportRecord(this.source, this.conversation, position, this.turns, this.archived, this.done,
				this.revision, this.version);
	}

	ImportRecord turns(long turns) {
		return new ImportRecord(this.source, this.conversation, this.position, turns, this.archived, this.done,
				this.revision, this.version);
	}

	ImportRecord archived(boolean archived) {
		return new ImportRecord(this.source, this.conversation, this.position, this.turns, archived, this.done,
				this.revision, this.version);
	}

	ImportRecord finished() {
		return new ImportRecord(this.source, this.conversation, this.position, this.turns, this.archived, true,
				this.revision, this.version);
	}

	/**
	 * Returns this progress after a commit.
	 * @param revision the revision of the record
	 * @param version the version of the session
	 */
	ImportRecord committed(long revision, long version) {
		return new ImportRecord(this.source, this.conversation, this.position, this.turns, this.archived, this.done,
				revision, version);
	}

	RecordWrite write(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("source", this.source);
		values.put("conversation", this.conversation);
		values.put("position", this.position);
		values.put("turns", this.turns);
		values.put("archived", this.archived);
		values.put("done", this.done);
		return new RecordWrite(KIND, ID, this.revision, codec.encodeValues(key, values), null, FIRST);
	}

	static ImportRecord read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("version") instanceof Long version && version > VERSION) {
			throw new UnsupportedVersionException("The import of session " + record.key() + " was written in version "
					+ version + "; this one reads " + VERSION + ".");
		}
		if (values.get("source") instanceof String source && values.get("conversation") instanceof String conversation
				&& values.get("position") instanceof Long position && values.get("turns") instanceof Long turns
				&& values.get("archived") instanceof Boolean archived && values.get("done") instanceof Boolean done) {
			return new ImportRecord(source, conversation, position, turns, archived, done, record.revision(), 0);
		}
		throw new UnreadablePayloadException("The import of session " + record.key() + " is not complete.", null);
	}

}
