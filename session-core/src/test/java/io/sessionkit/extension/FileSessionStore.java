package io.sessionkit.extension;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import io.sessionkit.store.memory.SessionDocument;
import io.sessionkit.store.memory.SessionDocument.Changed;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each session in a file of its own: owner and id, then the document. The files of
 * an owner are in one directory. Who writes holds a lock on a file beside them, which
 * holds off other threads and other processes; who reads needs none, since a file is
 * replaced as a whole.
 */
public final class FileSessionStore implements SessionStore {

	/** A lock on a file does not hold off the threads of the process that has it. */
	private static final Map<Path, Lock> LOCKS = new ConcurrentHashMap<>();

	private static final int STRIPES = 64;

	private final Path directory;

	private final StoreOptions options;

	public FileSessionStore(Path directory, StoreOptions options) {
		this.directory = directory.toAbsolutePath().normalize();
		this.options = options;
	}

	@Override
	public StoreOptions options() {
		return this.options;
	}

	@Override
	public boolean mayRollBack() {
		return false;
	}

	@Override
	public CommitResult commit(Commit commit) {
		return locked(file(commit.key()), (file) -> {
			Changed changed = document(commit.key()).commit(commit);
			if (changed.result().outcome() == Outcome.COMMITTED) {
				write(file, changed.document());
			}
			return changed.result();
		});
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		return locked(file(key), (file) -> {
			Optional<SessionDocument> changed = document(key).put(record);
			if (changed.isPresent()) {
				write(file, changed.get());
			}
			return changed.isPresent();
		});
	}

	@Override
	public boolean erase(SessionKey key) {
		return locked(file(key), (file) -> {
			boolean expired = hasExpired(file);
			return delete(file) && !expired;
		});
	}

	@Override
	public int deleteExpired(int limit) {
		if (limit < 0) {
			throw new IllegalArgumentException("The limit must not be negative: " + limit);
		}
		int deleted = 0;
		for (Path owner : children(this.directory)) {
			for (Path file : children(owner)) {
				if (deleted < limit && hasExpired(file) && locked(file, this::deleteIfExpired)) {
					deleted++;
				}
			}
		}
		return deleted;
	}

	private boolean deleteIfExpired(Path file) throws IOException {
		return hasExpired(file) && delete(file);
	}

	/**
	 * A session that cannot be read stays, and must not stop the others.
	 */
	private boolean hasExpired(Path file) {
		try {
			return document(file).map((document) -> document.session().isEmpty()).orElse(false);
		}
		catch (StoreUnavailableException ex) {
			throw ex;
		}
		catch (SessionException ex) {
			return false;
		}
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		return document(key).path(query);
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return document(key).open(window);
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return document(key).items(tail);
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return document(key).items(turn);
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return document(key).turns(tail);
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		return document(key).turn(number, kinds);
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return document(key).records(kind);
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return of(owner).flatMap((document) -> document.session().stream())
			.sorted(Comparator.comparing(Session::updatedAt).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		return of(owner).flatMap((document) -> document.records(kind).stream())
			.sorted(Comparator.comparing(SessionRecord::writtenAt).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	private Stream<SessionDocument> of(String owner) {
		return children(directory(owner)).stream().flatMap((file) -> document(file).stream());
	}

	private SessionDocument document(SessionKey key) {
		String kept = read(file(key));
		if (kept == null) {
			return document(key, null);
		}
		try {
			return document(key, new Kept(kept).text());
		}
		catch (UnreadablePayloadException ex) {
			throw new UnreadablePayloadException("The file of session " + key + " cannot be read.", ex);
		}
	}

	/**
	 * The session in a file that was found in its directory; empty if it has gone since.
	 */
	private Optional<SessionDocument> document(Path file) {
		return Optional.ofNullable(read(file)).map(Kept::new).map((kept) -> document(kept.key(), kept.text()));
	}

	private SessionDocument document(SessionKey key, @Nullable String text) {
		return SessionDocument.fromText(key, text, this.options.now(), this.options);
	}

	Path file(SessionKey key) {
		return directory(key.owner()).resolve(digest(key.id()));
	}

	private Path directory(String owner) {
		return this.directory.resolve(digest(owner));
	}

	/**
	 * Names may be longer than those of files, and differ in case alone.
	 */
	private static String digest(String name) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			return HexFormat.of().formatHex(digest.digest(name.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void write(Path file, SessionDocument document) throws IOException {
		Path other = other(file);
		Files.writeString(other, new Kept(document).whole());
		Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
	}

	/**
	 * A writer that was killed may have left its file.
	 */
	private static boolean delete(Path file) throws IOException {
		Files.deleteIfExists(other(file));
		return Files.deleteIfExists(file);
	}

	private static Path other(Path file) {
		return file.resolveSibling(file.getFileName() + ".new");
	}

	private static @Nullable String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (NoSuchFileException ex) {
			return null;
		}
		catch (IOException ex) {
			throw unavailable(file, ex);
		}
	}

	private static List<Path> children(Path directory) {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter((file) -> !file.getFileName().toString().contains(".")).toList();
		}
		catch (NoSuchFileException | NotDirectoryException ex) {
			return List.of();
		}
		catch (IOException ex) {
			throw unavailable(directory, ex);
		}
	}

	private <T> T locked(Path file, Work<T> work) {
		Path locked = this.directory.resolve(Math.floorMod(file.hashCode(), STRIPES) + ".lock");
		Lock lock = LOCKS.computeIfAbsent(locked, (same) -> new ReentrantLock());
		lock.lock();
		try {
			Files.createDirectories(file.getParent());
			try (FileChannel channel = FileChannel.open(locked, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
				channel.lock();
				return work.on(file);
			}
		}
		catch (IOException ex) {
			throw unavailable(file, ex);
		}
		finally {
			lock.unlock();
		}
	}

	private static StoreUnavailableException unavailable(Path file, IOException ex) {
		return new StoreUnavailableException("The session file " + file + " cannot be reached.", ex);
	}

	/**
	 * Work to do while the file of a session is locked.
	 *
	 * @param <T> what comes of it
	 */
	private interface Work<T> {

		T on(Path file) throws IOException;

	}

	/**
	 * The content of a file: two lines with the names of the session, and its text.
	 *
	 * @param lines owner, id, text
	 */
	private record Kept(List<String> lines) {

		Kept(String whole) {
			this(List.of(whole.split("\n", 3)));
			if (this.lines.size() < 3) {
				throw new UnreadablePayloadException("A session file has no lines with its names.", null);
			}
		}

		Kept(SessionDocument document) {
			this(List.of(document.key().owner(), document.key().id(), document.toText()));
		}

		SessionKey key() {
			return SessionKey.of(this.lines.get(0), this.lines.get(1));
		}

		String text() {
			return this.lines.get(2);
		}

		String whole() {
			return String.join("\n", this.lines);
		}

	}

}
