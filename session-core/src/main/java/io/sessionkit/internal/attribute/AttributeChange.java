package io.sessionkit.internal.attribute;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The changes that a turn has made to the attributes of its session. While the turn
 * waits, the changes are kept and not the attributes as a whole, because others may write
 * to them in the meantime.
 *
 * @param written the attributes that the turn wrote
 * @param removed the names of those that it removed
 */
public record AttributeChange(Map<String, Object> written, List<String> removed) {

	/** No change. */
	public static final AttributeChange NONE = new AttributeChange(Map.of(), List.of());

	public static AttributeChange between(Map<String, Object> base, Map<String, Object> values) {
		Map<String, Object> written = new HashMap<>(values);
		written.entrySet()
			.removeIf((entry) -> base.containsKey(entry.getKey()) && AttributeRules
				.areEqual(Map.of("value", base.get(entry.getKey())), Map.of("value", entry.getValue())));
		List<String> removed = new ArrayList<>(base.keySet());
		removed.removeAll(values.keySet());
		return new AttributeChange(written, removed);
	}

	/**
	 * Returns whether nothing was changed.
	 */
	public boolean isEmpty() {
		return this.written.isEmpty() && this.removed.isEmpty();
	}

	/**
	 * Returns the change as a codec can store it.
	 */
	public Map<String, Object> values() {
		return Map.of("written", this.written, "removed", this.removed);
	}

	/**
	 * Returns the change that was stored.
	 * @param values the {@link #values() values}; null if nothing was changed
	 */
	@SuppressWarnings("unchecked") // this class has made the values
	public static AttributeChange of(@Nullable Object values) {
		if (values instanceof Map<?, ?> change && change.get("written") instanceof Map<?, ?> written
				&& change.get("removed") instanceof List<?> removed) {
			return new AttributeChange((Map<String, Object>) written, (List<String>) removed);
		}
		return NONE;
	}

	/**
	 * Returns the attributes with this change applied.
	 */
	public Map<String, Object> on(Map<String, Object> base) {
		Map<String, Object> changed = new HashMap<>(base);
		changed.putAll(this.written);
		changed.keySet().removeAll(this.removed);
		return changed;
	}

}
