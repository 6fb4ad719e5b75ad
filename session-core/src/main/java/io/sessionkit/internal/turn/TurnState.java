package io.sessionkit.internal.turn;

import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * The attributes of a session while a turn runs on it. Safe for use by many threads.
 */
final class TurnState {

	/** Who may write. */
	private enum Phase {

		/** Everybody. */
		RUNNING,

		/** The hooks that are asked what is kept. */
		SAVING,

		/** Nobody. */
		OVER

	}

	private final Attributes attributes;

	private final Map<String, Object> base;

	private Map<String, Object> values;

	private Phase phase = Phase.RUNNING;

	/**
	 * @param base the attributes as of the head
	 */
	TurnState(Attributes attributes, Map<String, Object> base) {
		this(attributes, base, base);
	}

	/**
	 * @param base the attributes as of the head
	 * @param values what the turn has made of them before
	 */
	TurnState(Attributes attributes, Map<String, Object> base, Map<String, Object> values) {
		this.attributes = attributes;
		this.base = base;
		this.values = values;
	}

	/**
	 * What a reader in the turn sees now.
	 */
	synchronized Map<String, Object> values() {
		return this.values;
	}

	/**
	 * What the turn has made of the attributes so far.
	 */
	synchronized StateChange change() {
		return StateChange.between(this.base, this.values);
	}

	/**
	 * @param saving whether a hook writes that is asked what is kept
	 */
	void put(String name, Object value, boolean saving) {
		change((state) -> this.attributes.with(state, name, value), saving);
	}

	/**
	 * @param saving whether a hook writes that is asked what is kept
	 */
	void remove(String name, boolean saving) {
		change((state) -> this.attributes.without(state, name), saving);
	}

	/**
	 * The turn is being saved, or its caller has gone: tools write nothing more.
	 */
	synchronized void endRunning() {
		if (this.phase == Phase.RUNNING) {
			this.phase = Phase.SAVING;
		}
	}

	/**
	 * Nobody writes any more.
	 * @return what is to be stored; null if it is as it was
	 */
	synchronized @Nullable Map<String, Object> end() {
		this.phase = Phase.OVER;
		return Attributes.areEqual(this.base, this.values) ? null : this.values;
	}

	private synchronized void change(UnaryOperator<Map<String, Object>> change, boolean saving) {
		if (this.phase == Phase.OVER || (this.phase == Phase.SAVING && !saving)) {
			throw new IllegalStateException("The turn on session " + this.attributes.key()
					+ " is over, and its state is not written any more. Write it before the tool or hook returns.");
		}
		this.values = change.apply(this.values);
	}

}
