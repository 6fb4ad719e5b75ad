package io.sessionkit.codec;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.ReflectionUtils;

/**
 * Refuses content that has no stored form, because a newer Spring AI has given one of its
 * own classes a field that this version does not know. The check reads fields, not
 * methods, because an object can keep content only in fields. With the version of Spring
 * AI that this was built with, there is nothing to check.
 */
final class UnknownContent {

	private static final Map<Class<?>, Set<String>> KNOWN = Map.of(AbstractMessage.class,
			Set.of("messageType", "textContent", "metadata"), AssistantMessage.class, Set.of("toolCalls", "media"),
			UserMessage.class, Set.of("media"), SystemMessage.class, Set.of(), ToolResponseMessage.class,
			Set.of("responses"), ToolCall.class, Set.of("id", "type", "name", "arguments"), ToolResponse.class,
			Set.of("id", "name", "responseData"), Media.class, Set.of("id", "mimeType", "data", "name"));

	private static final ClassValue<List<Field>> UNKNOWN = new ClassValue<>() {

		@Override
		protected List<Field> computeValue(Class<?> type) {
			return fields(type);
		}

	};

	private UnknownContent() {
	}

	/**
	 * Returns the classes whose fields are checked.
	 */
	static Set<Class<?>> types() {
		return KNOWN.keySet();
	}

	/**
	 * Returns whether every field of an object is known, so that there is nothing to
	 * check.
	 */
	static boolean knows(Object holder) {
		return UNKNOWN.get(holder.getClass()).isEmpty();
	}

	/**
	 * Checks a message, a medium, a tool call or a tool response.
	 * @param part the name of the object in the exception
	 * @throws NotStorableException if it has content in a field that is not known
	 */
	static void refuse(Object holder, String part) {
		for (Field field : UNKNOWN.get(holder.getClass())) {
			if (!isEmpty(ReflectionUtils.getField(field, holder))) {
				throw new NotStorableException(part,
						"has content in the field '" + field.getName() + "' of " + field.getDeclaringClass().getName()
								+ ", which this SessionKit does not know; use a version of Spring AI that it supports",
						field.getDeclaringClass());
			}
		}
	}

	private static List<Field> fields(Class<?> type) {
		List<Field> unknown = new ArrayList<>();
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			Set<String> known = KNOWN.get(each);
			if (known != null) {
				addUnknown(unknown, each, known);
			}
		}
		return List.copyOf(unknown);
	}

	private static void addUnknown(List<Field> unknown, Class<?> type, Set<String> known) {
		for (Field field : type.getDeclaredFields()) {
			if (!Modifier.isStatic(field.getModifiers()) && !known.contains(field.getName())) {
				ReflectionUtils.makeAccessible(field);
				unknown.add(field);
			}
		}
	}

	/**
	 * Returns whether a field has no content, because it is not used or its value was not
	 * computed yet.
	 */
	private static boolean isEmpty(@Nullable Object value) {
		if (value == null || Boolean.FALSE.equals(value)) {
			return true;
		}
		if (value instanceof Collection<?> collection) {
			return collection.isEmpty();
		}
		if (value instanceof Map<?, ?> map) {
			return map.isEmpty();
		}
		if (value instanceof CharSequence text) {
			return text.isEmpty();
		}
		if (value instanceof Optional<?> optional) {
			return optional.isEmpty();
		}
		return value.getClass().isArray() && Array.getLength(value) == 0;
	}

}
