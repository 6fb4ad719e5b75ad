package io.sessionkit.store.jdbc;

import java.util.concurrent.CompletableFuture;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

class SqliteTransactionTests extends JdbcTransactionContract {

	private static final TestDatabase DATABASE = TestDatabase.sqlite().created();

	@Override
	TestDatabase database() {
		return DATABASE;
	}

	@Override
	String oneWriterAtATime() {
		return "a SQLite file has one writer at a time, so a record cannot be stored apart while the caller writes";
	}

	@Test
	void writerThatCannotGoOnInTheTransactionOfTheCallerIsAConflict() {
		SessionStore store = storeOn(DATABASE.direct());
		SessionKey key = SessionKey.of("owner", "waits");
		store.add(key, messages("first"));
		SessionStore kept = storeOn(new WithSetting(DATABASE.direct(), "pragma busy_timeout = 50"));
		transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
			store.add(key, messages("second"));
			assertThat(CompletableFuture.runAsync(() -> kept.add(key, messages("kept out")))).failsWithin(10, SECONDS)
				.withThrowableThat()
				.withCauseInstanceOf(SessionConflictException.class);
		});
		kept.add(key, messages("third"));
		assertThat(store.messages(key)).hasSize(3);
	}

}
