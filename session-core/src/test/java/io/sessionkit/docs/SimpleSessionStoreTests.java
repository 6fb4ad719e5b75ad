package io.sessionkit.docs;

import java.time.Clock;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;

class SimpleSessionStoreTests extends SessionStoreContract {

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static final SimpleSessionStore STORE = new SimpleSessionStore(OPTIONS);

	@Override
	protected SessionStore store() {
		return STORE;
	}

	@Override
	protected SessionStore storeOn(Clock clock) {
		return new SimpleSessionStore(OPTIONS.clock(clock));
	}

	@Override
	protected boolean corrupt(SessionKey key, long sequence) {
		String item = "\"sequence\":\\{\"\\$t\":\"long\",\"v\":\"" + sequence + "\"}.*?\"message\":\"";
		STORE.texts.computeIfPresent(key, (same, text) -> text.replaceFirst(item, "$0spoilt"));
		return true;
	}

	@Override
	protected boolean spoil(SessionKey key) {
		STORE.texts.replace(key, "spoilt");
		return true;
	}

	@Override
	protected long leftOf(SessionKey key) {
		return STORE.texts.containsKey(key) ? 1 : 0;
	}

	@Override
	protected boolean listsRecordsOfAllOwners() {
		return false;
	}

}
