package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A text with placeholders for attributes, parsed once.
 */
final class AttributeTemplate {

	/** The maximum number of characters of a text that is inserted. */
	static final int MAX_TEXT = 1000;

	private sealed interface Part {

		record Text(String text) implements Part {
		}

		record Attribute(String name, @Nullable String otherwise) implements Part {
		}

	}

	private static final String RULE = "Write a placeholder as {attribute} or {attribute:default}, with a name of"
			+ " letters, digits, '_', '-' and '.' and a default without braces, and a brace of the text as '{{' or"
			+ " '}}'.";

	/** Text without braces, a doubled brace, or a placeholder. */
	private static final Pattern PART = Pattern
		.compile("([^{}]++)|(\\{\\{|\\}\\})|\\{([\\p{L}\\p{M}\\p{N}_.-]++)(?::([^{}]*+))?\\}");

	private final List<Part> parts;

	private AttributeTemplate(List<Part> parts) {
		this.parts = List.copyOf(parts);
	}

	static AttributeTemplate parse(String template) {
		if (template == null || template.isBlank()) {
			throw new IllegalArgumentException("The template of a prompt must not be null or blank.");
		}
		List<Part> parts = new ArrayList<>();
		Matcher matcher = PART.matcher(template);
		int position = 0;
		while (position < template.length()) {
			if (!matcher.find(position) || matcher.start() != position) {
				throw new IllegalArgumentException("The prompt template has a brace at character " + (position + 1)
						+ " that does not belong to a placeholder. " + RULE);
			}
			parts.add(part(matcher));
			position = matcher.end();
		}
		return new AttributeTemplate(parts);
	}

	private static Part part(Matcher matcher) {
		if (matcher.group(1) != null) {
			return new Part.Text(matcher.group(1));
		}
		if (matcher.group(2) != null) {
			return new Part.Text(matcher.group(2).substring(1));
		}
		return new Part.Attribute(matcher.group(3), matcher.group(4));
	}

	String render(HookContext context) {
		StringBuilder text = new StringBuilder();
		Map<String, Object> attributes = context.attributes();
		for (Part part : this.parts) {
			if (part instanceof Part.Attribute attribute) {
				text.append(value(attribute, attributes.get(attribute.name()), context));
			}
			else {
				text.append(((Part.Text) part).text());
			}
		}
		return text.toString();
	}

	private static String value(Part.Attribute attribute, @Nullable Object value, HookContext context) {
		if (value != null) {
			return written(attribute, value, context);
		}
		if (attribute.otherwise() != null) {
			return attribute.otherwise();
		}
		throw new IllegalStateException("Session " + context.key() + " has no attribute '" + attribute.name()
				+ "', which a prompt names. Put one, or write a default: {" + attribute.name() + ":default}.");
	}

	private static String written(Part.Attribute attribute, Object value, HookContext context) {
		if (value instanceof Number || value instanceof Boolean) {
			return value.toString();
		}
		if (value instanceof Iterable<?> || value instanceof Map<?, ?> || value.getClass().isArray()) {
			throw new IllegalStateException("The attribute '" + attribute.name() + "' of session " + context.key()
					+ " is a " + value.getClass().getName()
					+ ", which a prompt does not write. Put an attribute with a text of what is to be said.");
		}
		return QuotedText.of(value.toString(), MAX_TEXT);
	}

}
