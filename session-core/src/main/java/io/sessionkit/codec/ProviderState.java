package io.sessionkit.codec;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.util.ClassUtils;

/**
 * A provider's class whose values must come back as that class, because the provider
 * accepts no other. Tags and class names are constants of this file: a payload contains a
 * tag, never a class name. A provider's class is a record of strings; it is looked up
 * once.
 */
final class ProviderState {

	/**
	 * Anthropic's thinking blocks with their signatures. Anthropic expects them back with
	 * the results of the tool calls that followed them.
	 */
	static final ProviderState ANTHROPIC_THINKING = new ProviderState("anthropic.thinking",
			"org.springframework.ai.anthropic.AnthropicChatModel$AnthropicThinkingContent");

	private static final List<ProviderState> ALL = List.of(ANTHROPIC_THINKING);

	private static final String ANTHROPIC_MESSAGE = "org.springframework.ai.anthropic.AnthropicChatModel$AnthropicAssistantMessage";

	private static final String ANTHROPIC_KEY = "anthropicThinkingContents";

	private final String tag;

	private final String className;

	private final @Nullable RecordOfStrings type;

	ProviderState(String tag, String className) {
		this.tag = tag;
		this.className = className;
		this.type = RecordOfStrings.find(className);
	}

	/**
	 * Returns whether the message is of a class that keeps nothing outside the parts of
	 * every assistant message. Anthropic's class repeats its thinking blocks in the
	 * metadata, and reads them from there.
	 */
	static boolean isAllInMetadata(AssistantMessage message) {
		return message.getClass().getName().equals(ANTHROPIC_MESSAGE)
				&& message.getMetadata().containsKey(ANTHROPIC_KEY);
	}

	static List<String> classNames() {
		return ALL.stream().map((state) -> state.className).toList();
	}

	static boolean knows(String tag) {
		return find(tag) != null;
	}

	/**
	 * Returns the form in which a value is written; null if it is not a provider's state.
	 */
	static @Nullable AbsentProviderState valuesOf(Object value) {
		if (value instanceof AbsentProviderState absent) {
			return absent;
		}
		for (ProviderState state : ALL) {
			if (state.type != null && state.type.isTypeOf(value)) {
				return new AbsentProviderState(state.tag, state.type.values(value));
			}
		}
		return null;
	}

	/**
	 * Returns the provider's own value. If the provider's class is absent, or has changed
	 * so that it cannot be created from these values, returns the given value.
	 */
	static Object restore(AbsentProviderState read) {
		ProviderState state = find(read.tag());
		return (state != null) ? state.create(read) : read;
	}

	Object create(AbsentProviderState read) {
		Object created = (this.type != null) ? this.type.create(read.values()) : null;
		return (created != null) ? created : read;
	}

	private static @Nullable ProviderState find(String tag) {
		for (ProviderState state : ALL) {
			if (state.tag.equals(tag)) {
				return state;
			}
		}
		return null;
	}

	/**
	 * A record class whose components are all strings.
	 */
	private record RecordOfStrings(Class<?> type, Constructor<?> constructor, Map<String, Method> accessors) {

		static @Nullable RecordOfStrings find(String className) {
			ClassLoader loader = ProviderState.class.getClassLoader();
			if (!ClassUtils.isPresent(className, loader)) {
				return null;
			}
			try {
				return of(ClassUtils.resolveClassName(className, loader));
			}
			catch (ReflectiveOperationException | RuntimeException ex) {
				// A class of another shape is treated as absent.
				return null;
			}
		}

		private static @Nullable RecordOfStrings of(Class<?> type) throws ReflectiveOperationException {
			if (!isOfStrings(type)) {
				return null;
			}
			Map<String, Method> accessors = new LinkedHashMap<>();
			for (RecordComponent component : type.getRecordComponents()) {
				component.getAccessor().setAccessible(true);
				accessors.put(component.getName(), component.getAccessor());
			}
			return new RecordOfStrings(type, constructor(type, accessors.size()), accessors);
		}

		private static boolean isOfStrings(Class<?> type) {
			return type.isRecord() && Arrays.stream(type.getRecordComponents())
				.allMatch((component) -> component.getType() == String.class);
		}

		private static Constructor<?> constructor(Class<?> type, int components) throws ReflectiveOperationException {
			Class<?>[] parameters = new Class<?>[components];
			Arrays.fill(parameters, String.class);
			Constructor<?> constructor = type.getDeclaredConstructor(parameters);
			constructor.setAccessible(true);
			return constructor;
		}

		boolean isTypeOf(Object value) {
			return value.getClass() == this.type;
		}

		Map<String, @Nullable String> values(Object state) {
			Map<String, @Nullable String> values = new LinkedHashMap<>();
			this.accessors.forEach((name, accessor) -> values.put(name, value(state, accessor)));
			return values;
		}

		private static @Nullable String value(Object state, Method accessor) {
			try {
				return (String) accessor.invoke(state);
			}
			catch (ReflectiveOperationException ex) {
				throw NotStorableException.unknownClass("value", state.getClass());
			}
		}

		@Nullable Object create(Map<String, @Nullable String> values) {
			if (!this.accessors.keySet().containsAll(values.keySet())) {
				return null;
			}
			try {
				return this.constructor.newInstance(this.accessors.keySet().stream().map(values::get).toArray());
			}
			catch (ReflectiveOperationException ex) {
				return null;
			}
		}

	}

}
