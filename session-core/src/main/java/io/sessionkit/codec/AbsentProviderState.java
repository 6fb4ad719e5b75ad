package io.sessionkit.codec;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A provider's state by its tag and named texts. Where the provider's class is not on the
 * class path it stands in the metadata in its place: other providers pass over it, and
 * encoding it again writes what was read, so that nothing is lost until a process with
 * that provider reads the thread again.
 */
record AbsentProviderState(String tag, Map<String, @Nullable String> values) {

	AbsentProviderState {
		values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
	}

	/**
	 * The tag alone: the texts are a model's thinking.
	 */
	@Override
	public String toString() {
		return "AbsentProviderState[tag=" + this.tag + "]";
	}

}
