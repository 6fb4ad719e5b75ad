package io.sessionkit.codec;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Counts the parts of replies that were not stored unchanged. Logs each pair of part and
 * class once, never a value. Safe for use by many threads.
 */
final class LeftOut {

	private static final Log logger = LogFactory.getLog(LeftOut.class);

	// Keys may come from a provider, so the set of logged pairs is bounded.
	private static final int MAX_LOGGED = 1000;

	private final LongAdder count = new LongAdder();

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	long count() {
		return this.count.sum();
	}

	/**
	 * Records that a part was dropped.
	 */
	void dropped(String part, String reason, String className) {
		note(part, className, "left out: it " + reason);
	}

	/**
	 * Records that a part was kept in another form.
	 */
	void changed(String part, String change, String className) {
		note(part, className, change);
	}

	private void note(String part, String className, String what) {
		this.count.increment();
		if (this.logged.size() < MAX_LOGGED && this.logged.add(part + "\n" + className)) {
			logger.warn("In the stored copy of a provider's reply, " + part + " was " + what
					+ ". Logged once for each part and class.");
		}
	}

}
