package io.sessionkit.internal.attribute;

import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * The attributes of a session while a turn runs on it. Safe for use by many threads.
 */
public final class TurnAttributes {

	/** The phases that limit write access. */
	private enum Phase {

		/** Everything in the turn may write. */
		RUNNING,

		/** Only hooks that decide what is stored may write. */
		SAVING,

		/** Nothing may write. */
		OVER

	}

	private final Supplier<AttributeRules> rules;

	private final Map<String, Object> base;

	private Map<String, Object> values;

	/** The attributes as they were at the mark. */
	private Map<String, Object> marked;

	/** True if an attribute was written since the last time this was asked. */
	private boolean written;

	private Phase phase = Phase.RUNNING;

	/**
	 * Creates the attributes of a new turn.
	 * @param rules supplies the rules when an attribute is written
	 * @param base the attributes as of the head
	 */
	public TurnAttributes(Supplier<AttributeRules> rules, Map<String, Object> base) {
		this(rules, base, base);
	}

	/**
	 * Creates the attributes of a turn that may have changed attributes before.
	 * @param rules supplies the rules when an attribute is written
	 * @param base the attributes as of the head
	 * @param values the attributes as the turn has left them
	 */
	public TurnAttributes(Supplier<AttributeRules> rules, Map<String, Object> base, Map<String, Object> values) {
		this.rules = rules;
		this.base = base;
		this.values = values;
		this.marked = values;
	}

	/**
	 * Returns the attributes as a reader in the turn sees them now.
	 */
	public synchronized Map<String, Object> values() {
		return this.values;
	}

	/**
	 * Returns the changes that the turn has made to the attributes so far.
	 */
	public synchronized AttributeChange change() {
		return AttributeChange.between(this.base, this.values);
	}

	/**
	 * Sets the mark, and returns the changes since it was set last.
	 */
	public synchronized AttributeChange mark() {
		AttributeChange change = (this.marked == this.values) ? AttributeChange.NONE
				: AttributeChange.between(this.marked, this.values);
		this.marked = this.values;
		return change;
	}

	/**
	 * Sets an attribute.
	 * @param saving whether a hook that decides what is stored sets it
	 */
	public void put(String name, Object value, boolean saving) {
		change((attributes) -> this.rules.get().with(attributes, name, value), saving);
	}

	/**
	 * Removes an attribute.
	 * @param saving whether a hook that decides what is stored removes it
	 * @return whether it was there
	 */
	public boolean remove(String name, boolean saving) {
		return change((attributes) -> this.rules.get().without(attributes, name), saving).containsKey(name);
	}

	/**
	 * Returns the same attributes for hooks whose writes become part of the turn only
	 * once they are {@link #apply applied} to it.
	 */
	public synchronized TurnAttributes apart() {
		return new TurnAttributes(this.rules, this.values);
	}

	/**
	 * Returns whether anything was written since this was asked last, be it the value
	 * that was there.
	 */
	public synchronized boolean wasWritten() {
		boolean before = this.written;
		this.written = false;
		return before;
	}

	/**
	 * Makes a change that hooks have made before their messages became part of the turn.
	 * The rules were applied to each of its writes then.
	 */
	public void apply(AttributeChange change) {
		if (!change.isEmpty()) {
			change((attributes) -> Map.copyOf(change.on(attributes)), false);
		}
	}

	/**
	 * Stops tools from writing, because the turn is being saved or its caller has
	 * disconnected.
	 */
	public synchronized void endRunning() {
		if (this.phase == Phase.RUNNING) {
			this.phase = Phase.SAVING;
		}
	}

	/**
	 * Ends all writing.
	 * @return the attributes to store; null if they are as they were
	 */
	public synchronized @Nullable Map<String, Object> end() {
		this.phase = Phase.OVER;
		return (this.base == this.values || AttributeRules.areEqual(this.base, this.values)) ? null : this.values;
	}

	/** Returns the attributes as they were before the change. */
	private synchronized Map<String, Object> change(UnaryOperator<Map<String, Object>> change, boolean saving) {
		if (this.phase == Phase.OVER || (this.phase == Phase.SAVING && !saving)) {
			throw new IllegalStateException("The turn on session " + this.rules.get().key()
					+ " is over, and its attributes are not written any more. Write them before the tool or hook returns.");
		}
		Map<String, Object> before = this.values;
		this.values = change.apply(before);
		this.written = true;
		return before;
	}

}
