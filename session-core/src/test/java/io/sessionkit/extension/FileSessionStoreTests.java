package io.sessionkit.extension;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

class FileSessionStoreTests extends SessionStoreContract {

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	@TempDir
	private static Path directory;

	@Override
	protected SessionStore store() {
		return new FileSessionStore(directory, OPTIONS);
	}

	@Override
	protected SessionStore storeOn(Clock clock) {
		return new FileSessionStore(directory, OPTIONS.clock(clock));
	}

	@Override
	protected boolean corrupt(SessionKey key, long sequence) {
		String item = "\"sequence\":\\{\"\\$t\":\"long\",\"v\":\"" + sequence + "\"}.*?\"message\":\"";
		write(key, read(key).replaceFirst(item, "$0spoilt"));
		return true;
	}

	@Override
	protected boolean spoil(SessionKey key) {
		write(key, "spoilt");
		return true;
	}

	@Override
	protected SessionStore restarted() {
		return store();
	}

	@Override
	protected int histories() {
		return 15;
	}

	@Override
	protected long leftOf(SessionKey key) {
		return Files.exists(file(key)) ? 1 : 0;
	}

	@Test
	void whatAKilledWriterHasLeftGoesWithTheSession() throws IOException {
		SessionKey key = SessionKey.of("killed", "t1");
		store().add(key, List.of(new UserMessage("q")));
		Path left = file(key).resolveSibling(file(key).getFileName() + ".new");
		Files.writeString(left, "half of it");
		assertThat(store().messages(key)).hasSize(1);
		store().erase(key);
		assertThat(file(key).getParent()).isEmptyDirectory();
	}

	private static Path file(SessionKey key) {
		return new FileSessionStore(directory, OPTIONS).file(key);
	}

	private static String read(SessionKey key) {
		try {
			return Files.readString(file(key));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void write(SessionKey key, String text) {
		try {
			Files.writeString(file(key), text);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	protected boolean listsRecordsOfAllOwners() {
		return false;
	}

}
