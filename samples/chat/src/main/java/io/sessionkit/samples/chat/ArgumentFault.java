package io.sessionkit.samples.chat;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.approval.ToolApproval;

/**
 * A fault in the arguments that a person has written.
 *
 * @param field the name of the field; empty if the text as a whole is at fault
 * @param rule the rule of the schema that it breaks, "json" or "depth"
 */
record ArgumentFault(String field, String rule) {

	private static final Pattern FAULT = Pattern.compile("'([^']*)' breaks the rule '([^']*)'(?: for '(.*)')?",
			Pattern.DOTALL);

	static List<ArgumentFault> in(String arguments, ToolApproval call) {
		return call.faults(arguments).stream().map(ArgumentFault::parse).toList();
	}

	private static ArgumentFault parse(String fault) {
		Matcher parts = FAULT.matcher(fault);
		if (!parts.matches()) {
			return new ArgumentFault("", fault.contains("too deep") ? "depth" : "json");
		}
		String place = parts.group(1);
		String field = (parts.group(3) != null) ? parts.group(3) : place.substring(place.lastIndexOf('/') + 1);
		return new ArgumentFault(field, parts.group(2));
	}

	/**
	 * Returns the sentence for a person.
	 */
	String sentence() {
		String words = ToolCallViews.title(this.field).toLowerCase(Locale.ROOT);
		return switch (this.rule) {
			case "required" -> "The " + words + " is missing.";
			case "additionalProperties", "unevaluatedProperties" -> "There is no field “" + this.field + "”.";
			case "type" -> "The " + words + " has the wrong type.";
			case "depth" -> "The arguments are nested too deep.";
			case "json" -> "The arguments are not one JSON object, or a name is there twice.";
			default -> (this.field.isEmpty() ? "The value" : "The " + words) + " is not allowed.";
		};
	}

}
