package io.sessionkit.autoconfigure.observation;

import java.time.Clock;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;

/**
 * The store that counts is a store as any other.
 */
class CountedStoreContractTests extends SessionStoreContract {

	private static final MessageCodec CODEC = JsonMessageCodec.create();

	private static final SessionStore STORE = counted(StoreOptions.of(CODEC));

	private static SessionStore counted(StoreOptions options) {
		return new CountedStore(new InMemorySessionStore(options), new SimpleMeterRegistry());
	}

	@Override
	protected SessionStore store() {
		return STORE;
	}

	@Override
	protected SessionStore storeOn(Clock clock) {
		return counted(StoreOptions.of(CODEC).clock(clock));
	}

	@Override
	protected int histories() {
		return 5;
	}

}
