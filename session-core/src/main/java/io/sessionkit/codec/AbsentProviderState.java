package io.sessionkit.codec;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A provider's state as a tag and named texts. If the provider's class is not on the
 * class path, the metadata contains this object instead. Other providers ignore it.
 * Encoding it again writes what was read, so that nothing is lost until a process with
 * that provider reads the session again.
 */
record AbsentProviderState(String tag, Map<String, @Nullable String> values) {

	AbsentProviderState {
		values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
	}

	/**
	 * Returns the tag alone, because the texts are a model's thinking.
	 */
	@Override
	public String toString() {
		return "AbsentProviderState[tag=" + this.tag + "]";
	}

}
