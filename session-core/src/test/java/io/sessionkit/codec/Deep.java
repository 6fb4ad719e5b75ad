package io.sessionkit.codec;

import java.net.URL;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.content.MediaContent;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares all that a message holds. The messages' own {@code equals} passes over a user
 * message's media, and compares arrays and media by identity.
 */
public final class Deep {

	private Deep() {
	}

	public static void assertEqual(Message actual, Message expected) {
		assertThat(form(actual)).isEqualTo(form(expected));
	}

	static List<Object> form(Message message) {
		List<Object> form = new ArrayList<>();
		form.add(message.getMessageType());
		form.add((message.getText() != null) ? "text:" + message.getText() : "no text");
		// Message metadata has no order: the messages copy it into a HashMap.
		form.add(new TreeMap<>(forms(message.getMetadata())));
		if (message instanceof AssistantMessage assistant) {
			form.add(assistant.getToolCalls());
		}
		if (message instanceof ToolResponseMessage tool) {
			form.add(tool.getResponses());
		}
		if (message instanceof MediaContent content) {
			content.getMedia().forEach((medium) -> form.add(media(medium)));
		}
		return form;
	}

	private static List<@Nullable Object> media(Media medium) {
		List<@Nullable Object> form = new ArrayList<>();
		form.add(medium.getMimeType());
		form.add(medium.getId());
		form.add(medium.getName());
		form.add(value(medium.getData()));
		return form;
	}

	private static Map<String, Object> forms(Map<String, ? extends @Nullable Object> values) {
		Map<String, Object> forms = new LinkedHashMap<>();
		values.forEach((key, value) -> forms.put(key, value(value)));
		return forms;
	}

	/**
	 * The value with its class, in a form whose {@code equals} sees arrays and map order.
	 */
	static Object value(@Nullable Object value) {
		if (value == null) {
			return "null";
		}
		if (value instanceof byte[] bytes) {
			return "bytes:" + Base64.getEncoder().encodeToString(bytes);
		}
		if (value instanceof URL url) {
			return "url:" + url.toExternalForm();
		}
		if (value instanceof Map<?, ?> map) {
			List<Object> entries = new ArrayList<>();
			map.forEach((key, entry) -> entries.add(List.of("entry", String.valueOf(key), value(entry))));
			return List.of("map", entries);
		}
		if (value instanceof Set<?> set) {
			Set<Object> elements = new LinkedHashSet<>();
			set.forEach((element) -> elements.add(value(element)));
			return elements;
		}
		if (value instanceof List<?> list) {
			return list.stream().map(Deep::value).toList();
		}
		return List.of(value.getClass().getName(), value);
	}

}
