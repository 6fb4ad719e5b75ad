package io.sessionkit.faults;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.sessionkit.SessionKey;

/**
 * A record of what callers were told and of what tools did, kept outside of the store as
 * proof. Safe for use by many threads.
 */
final class Book {

	/**
	 * The outcome of a turn or of a deletion, as far as its caller knows.
	 */
	enum Fate {

		/** It was told that it is done. */
		DONE,

		/** It was told that somebody else was faster, or that nothing was written. */
		NOT_DONE,

		/** It was told that nobody knows. */
		UNKNOWN

	}

	/**
	 * A question that was asked.
	 *
	 * @param key the session
	 * @param text the question, which nobody else asks
	 * @param fate what its caller knows
	 */
	record Question(SessionKey key, String text, Fate fate) {
	}

	/** Questions, each once. */
	final Queue<Question> questions = new ConcurrentLinkedQueue<>();

	/** Questions whose turns were to be deleted. */
	final Queue<Question> deleted = new ConcurrentLinkedQueue<>();

	/** Texts of messages that were taken away and handed out. */
	final Queue<Question> popped = new ConcurrentLinkedQueue<>();

	/** Ids of the approved calls that have run, in order. */
	final Queue<String> effects = new ConcurrentLinkedQueue<>();

	/** Ids of calls that a person has rejected before they ran, and was told so. */
	final Set<String> rejected = ConcurrentHashMap.newKeySet();

	/** Ids of calls of which a person has said what they have returned. */
	final Set<String> answered = ConcurrentHashMap.newKeySet();

	/** The faults of the requests that the model was sent. */
	final Queue<String> invalidRequests = new ConcurrentLinkedQueue<>();

	/** Exceptions that no page names, with what was done. */
	final Queue<Throwable> unnamed = new ConcurrentLinkedQueue<>();

	private final Map<String, Integer> outcomes = new ConcurrentHashMap<>();

	/**
	 * Counts what came of something.
	 */
	void count(String what) {
		this.outcomes.merge(what, 1, Integer::sum);
	}

	/**
	 * Returns the number of times that each outcome occurred.
	 */
	Map<String, Integer> outcomes() {
		return new TreeMap<>(this.outcomes);
	}

	static List<String> texts(Queue<Question> entries, SessionKey key, Fate... fates) {
		return entries.stream()
			.filter((entry) -> entry.key().equals(key) && List.of(fates).contains(entry.fate()))
			.map(Question::text)
			.toList();
	}

}
