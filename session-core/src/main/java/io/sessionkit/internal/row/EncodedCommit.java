package io.sessionkit.internal.row;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.RandomNumbers;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * A commit whose texts have passed the codec, before a connection is taken for it.
 *
 * @param commit the commit
 * @param key the hashes of its key
 * @param incarnation the incarnation of the session that it is based on, or else of the
 * session that it creates
 * @param earlier the turns before its turn
 * @param turn its turn; null for none
 * @param header the changes of the header
 * @param firstTimeToLive the time to live of a session that is created, in microseconds;
 * null if it never expires
 * @param stamp the stamp of the header that it writes; never 0
 * @param step by how much it raises the version of a session that is there
 */
public record EncodedCommit(Commit commit, KeyHash key, String incarnation, List<EncodedTurn> earlier,
		@Nullable EncodedTurn turn, EncodedHeader header, @Nullable Long firstTimeToLive, long stamp, long step) {

	/**
	 * Encoded changes of the header.
	 *
	 * @param title the new title; null leaves it
	 * @param tags the new tags; null leaves them
	 * @param settings the new settings; null leaves them
	 * @param attributes the new attributes; null leaves them
	 * @param timeToLive the new time to live in microseconds, 0 if the session never
	 * expires; null leaves it
	 */
	public record EncodedHeader(@Nullable String title, @Nullable String tags, @Nullable String settings,
			@Nullable String attributes, @Nullable Long timeToLive) {

		public static EncodedHeader of(SessionKey key, HeaderChange change, MessageCodec codec) {
			return new EncodedHeader(
					(change.title() != null) ? ProvenPayload.of(key, Map.of("title", change.title()), codec) : null,
					(change.tags() != null)
							? ProvenPayload.of(key, Map.of("tags", List.copyOf(new TreeSet<>(change.tags()))), codec)
							: null,
					(change.settings() != null) ? SettingsText.write(key, change.settings(), codec) : null,
					(change.attributes() != null) ? ProvenPayload.of(key, change.attributes(), codec) : null,
					micros(change.timeToLive()));
		}

	}

	/**
	 * An encoded turn.
	 *
	 * @param write the turn as it is written
	 * @param origin agent, tools, snapshot and kept parameters, encoded, as the first
	 * part wrote them; null if there are none
	 * @param outcome model, rounds, failure and verdicts, encoded, as of the newest part
	 * @param bodies the messages of the part, encoded
	 * @param tokens the tokens of these messages
	 * @param attributes the attributes that it leaves, encoded; null if those of the turn
	 * that it follows
	 */
	public record EncodedTurn(TurnWrite write, @Nullable String origin, String outcome, List<String> bodies, int tokens,
			@Nullable String attributes) {

		public static EncodedTurn of(SessionKey key, TurnWrite write, MessageCodec codec) {
			return new EncodedTurn(write, TurnPayload.origin(key, write.turn(), codec),
					TurnPayload.outcome(key, write.turn(), codec),
					write.items().stream().map((item) -> ProvenPayload.of(key, item.message(), codec)).toList(),
					write.items().stream().mapToInt(NewItem::tokens).sum(),
					(write.attributes() != null) ? ProvenPayload.of(key, write.attributes(), codec) : null);
		}

		/**
		 * Checks that agent, kept parameters, failure and verdicts of a turn pass the
		 * codec. A turn without such values is not encoded.
		 * @throws io.sessionkit.codec.UnstorableMessageException if it does not
		 */
		public static void check(SessionKey key, Turn turn, MessageCodec codec) {
			if (turn.agent() != null || !turn.parameters().isEmpty()) {
				TurnPayload.origin(key, turn, codec);
			}
			if (turn.failure() != null || !turn.verdicts().isEmpty()) {
				TurnPayload.outcome(key, turn, codec);
			}
		}

		public Turn turn() {
			return this.write.turn();
		}

		/** Returns the number of the part. */
		public int part() {
			return this.write.part();
		}

		/** Returns the messages of the part. */
		public List<NewItem> items() {
			return this.write.items();
		}

		/**
		 * Returns the row of the turn when its first part has just been added.
		 */
		public TurnRow begun(HeaderRow.Path path, long parent, String branch) {
			return new TurnRow(turn().id(), parent, path, branch, turn().status(), 1, items().size(), this.tokens,
					Micros.of(turn().startedAt()), Micros.ofNullable(turn().endedAt()), null, this.origin,
					this.outcome);
		}

		/** Returns whether it is kept beside the history although it is completed. */
		public boolean beside() {
			return this.write.beside();
		}

		public boolean isCompleted() {
			return turn().status() == TurnStatus.COMPLETED;
		}

		/** Returns whether it becomes the head. */
		public boolean becomesHead() {
			return isCompleted() && !beside();
		}

	}

	public static EncodedCommit of(Commit commit, StoreOptions options) {
		SessionKey key = commit.key();
		MessageCodec codec = options.codec();
		TurnWrite turn = commit.turn();
		EncodedHeader header = EncodedHeader.of(key, commit.header(), codec);
		Long first = (header.timeToLive() != null) ? header.timeToLive() : micros(options.timeToLive());
		Session base = commit.base();
		return new EncodedCommit(commit, KeyHash.of(key),
				(base != null) ? base.incarnation() : Session.newIncarnation(),
				commit.earlier().stream().map((each) -> EncodedTurn.of(key, each, codec)).toList(),
				(turn != null) ? EncodedTurn.of(key, turn, codec) : null, header,
				(first != null && first > 0) ? first : null, RandomNumbers.upTo(Long.MAX_VALUE),
				Session.newVersionStep());
	}

	private static @Nullable Long micros(@Nullable Duration duration) {
		return (duration != null) ? Micros.of(duration) : null;
	}

	/**
	 * Returns whether it only appends one completed turn.
	 */
	public boolean isPlain() {
		return this.commit.isPlainTurn() && this.turn != null && this.turn.isCompleted();
	}

	public EncodedTurn plainTurn() {
		if (this.turn == null) {
			throw new IllegalStateException("The commit has no turn.");
		}
		return this.turn;
	}

}
