package io.sessionkit.autoconfigure;

import java.util.regex.Pattern;

/**
 * The form of the names of tools in properties. A list that is written in another way
 * than it is read, a pattern or a placeholder would be a name that no tool has, and the
 * tools that it means would run unasked.
 */
final class ToolName {

	/** The form as a regular expression. */
	static final String FORM = "[^\\s;,=|*\"'`(){}\\[\\]]+";

	private static final Pattern PATTERN = Pattern.compile(FORM);

	private ToolName() {
	}

	/** Returns whether a tool could have the name. */
	static boolean isPossible(String name) {
		return PATTERN.matcher(name).matches();
	}

}
