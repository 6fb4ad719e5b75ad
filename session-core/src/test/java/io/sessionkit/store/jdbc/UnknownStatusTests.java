package io.sessionkit.store.jdbc;

import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Turns of a status that only a newer version knows, as an older instance finds them
 * during an upgrade.
 */
class UnknownStatusTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	enum Kind {

		H2, POSTGRES, MARIADB;

		TestDatabase database() {
			return switch (this) {
				case H2 -> TestDatabase.h2();
				case POSTGRES -> TestDatabase.postgres();
				case MARIADB -> TestDatabase.mariaDb();
			};
		}

	}

	@ParameterizedTest
	@EnumSource
	void turnOfAnUnknownStatusIsUnreadable(Kind kind) {
		TestDatabase database = kind.database().created();
		SessionStore store = JdbcTransactionContract.storeOn(database.direct());
		TurnWrite turn = JdbcTransactionContract.turn("question");
		store.commit(Commit.any(KEY).turn(turn));
		database.sql().update("update SESSIONKIT_TURN set status = 'POSTPONED'");
		assertUnreadable(() -> store.turns(KEY, Tail.ALL));
		assertUnreadable(() -> store.turn(KEY, 1, Set.of()));
		assertUnreadable(() -> store.path(KEY, PathQuery.to(Point.HEAD).turns(Tail.ALL)));
		assertUnreadable(() -> store.commit(Commit.any(KEY).turn(turn)));
	}

	private static void assertUnreadable(ThrowingCallable reading) {
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(reading)
			.withMessageContaining("" + KEY)
			.withMessageContaining("POSTPONED");
	}

}
