package io.sessionkit.docs;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;

class SimpleSessionStoreTests extends SessionStoreContract {

	private static final SimpleSessionStore STORE = new SimpleSessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return STORE;
	}

	@Override
	protected boolean corrupt(SessionKey key, long sequence) {
		String item = "\"sequence\":\\{\"\\$t\":\"long\",\"v\":\"" + sequence + "\"}.*?\"message\":\"";
		STORE.texts.computeIfPresent(key, (same, text) -> text.replaceFirst(item, "$0spoilt"));
		return true;
	}

}
