package io.sessionkit.internal.retention;

import io.sessionkit.SessionKey;
import io.sessionkit.context.Retention;
import io.sessionkit.store.SessionStore;

/**
 * Makes the deletion that a turn of another process would make after it.
 */
public final class RetentionOnce {

	private RetentionOnce() {
	}

	public static void run(SessionStore store, Retention retention, SessionKey key, long turn) {
		new Retentions(store, retention).look(retention, key, turn);
	}

}
