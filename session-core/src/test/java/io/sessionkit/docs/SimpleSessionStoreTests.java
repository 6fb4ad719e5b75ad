package io.sessionkit.docs;

import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.docs.SessionDocument.Item;
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
		SessionDocument document = Objects.requireNonNull(STORE.documents.get(key));
		document.turns.replaceAll((turn) -> turn.with(turn.items()
			.stream()
			.map((item) -> (item.sequence() == sequence)
					? new Item(sequence, item.turn(), item.at(), item.tokens(), "spoilt") : item)
			.toList()));
		return true;
	}

}
