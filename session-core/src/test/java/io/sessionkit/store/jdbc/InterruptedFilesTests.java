package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.InterruptedCalls;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Interrupted threads and real files: an interrupt closes a file that is written through
 * a channel, for everybody.
 */
class InterruptedFilesTests {

	@TempDir
	private Path directory;

	@ParameterizedTest
	@CsvSource({ "h2, jdbc:h2:file:", "h2, jdbc:h2:file:;WRITE_DELAY=0", "h2, jdbc:h2:;WRITE_DELAY=0;CACHE_SIZE=0",
			"h2, jdbc:h2:async:;WRITE_DELAY=0", "hsqldb, jdbc:hsqldb:file:;hsqldb.tx=mvcc",
			"hsqldb, jdbc:hsqldb:file:;hsqldb.write_delay=false", "sqlite, jdbc:sqlite:?journal_mode=WAL",
			"sqlite, jdbc:sqlite:?journal_mode=DELETE" })
	void interruptDoesNotCloseTheDatabase(String kind, String url) throws Exception {
		String file = this.directory.resolve("sessions").toAbsolutePath().toString();
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(url.replaceFirst("^([^;?]*)", "$1" + file));
			pool.setUsername("sa");
			pool.setPassword("");
			pool.setMaximumPoolSize(6);
			TestDatabase.runScript(kind, pool);
			InterruptedCalls.check(new JdbcSessionStore(pool, StoreOptions.of(JsonMessageCodec.create())));
		}
	}

	/** The contract was green with a store like this one. */
	@Test
	void contractFindsAStoreWhoseFileAnInterruptCloses() throws IOException {
		Path journal = this.directory.resolve("journal");
		try (FileChannel channel = FileChannel.open(journal, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
			ObservedStore store = new ObservedStore(
					new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));
			store.beforeCommit(() -> append(channel));
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> InterruptedCalls.check((SessionStore) store));
		}
		Files.delete(journal);
	}

	private static void append(FileChannel channel) {
		try {
			channel.write(ByteBuffer.wrap(new byte[1000]));
		}
		catch (IOException ex) {
			throw new StoreUnavailableException("The journal cannot be written.", ex);
		}
	}

}
