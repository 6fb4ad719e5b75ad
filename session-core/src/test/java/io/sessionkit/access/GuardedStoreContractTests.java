package io.sessionkit.access;

import java.time.Clock;
import java.util.Optional;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;

/**
 * The store that callers reach is a store as any other, for one who reaches all sessions.
 */
class GuardedStoreContractTests extends SessionStoreContract {

	private static final MessageCodec CODEC = JsonMessageCodec.create();

	private static final SessionStore STORE = guarded(StoreOptions.of(CODEC));

	private static SessionStore guarded(StoreOptions options) {
		return SessionAccess.of(() -> Optional.of(Caller.server())).guard(new InMemorySessionStore(options));
	}

	@Override
	protected SessionStore store() {
		return STORE;
	}

	@Override
	protected SessionStore storeOn(Clock clock) {
		return guarded(StoreOptions.of(CODEC).clock(clock));
	}

	@Override
	protected int histories() {
		return 5;
	}

}
