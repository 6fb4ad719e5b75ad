package io.sessionkit.samples.chat;

import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.codec.ToolArguments;

/**
 * What is wrong with one argument that a person has written, in words for this person.
 *
 * @param field the name of the argument; empty if all of them are meant
 * @param rule what is wrong
 */
record ArgumentFault(String field, String rule) {

	private static final Pattern FAULT = Pattern
		.compile("'(?:/?(?<place>[^']*))' breaks the rule '(?<rule>[^']+)'(?: for '(?<name>.*)')?");

	static List<ArgumentFault> in(String arguments, String schema) {
		return ToolArguments.of(arguments).faults(schema).stream().map(ArgumentFault::of).toList();
	}

	private static ArgumentFault of(String fault) {
		Matcher found = FAULT.matcher(fault);
		if (!found.matches()) {
			return new ArgumentFault("", "The arguments must be one JSON object that has no name twice.");
		}
		String name = Objects.requireNonNullElse(found.group("name"), found.group("place"));
		return new ArgumentFault(name, words(found.group("rule")));
	}

	private static String words(String rule) {
		return switch (rule) {
			case "required" -> "It is missing.";
			case "additionalProperties" -> "The tool does not know it.";
			case "type" -> "It is not the kind of value that the tool expects.";
			case "enum" -> "It is none of the values that the tool allows.";
			case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" -> "It is outside of the allowed range.";
			case "minLength", "maxLength" -> "It is too short or too long.";
			case "pattern", "format" -> "It does not have the form that the tool expects.";
			default -> "It breaks the rule \"" + rule + "\" of the tool.";
		};
	}

	String sentence() {
		return this.field.isEmpty() ? this.rule : Calls.title(this.field) + ": " + this.rule;
	}

}
