package io.sessionkit.internal;

import org.jspecify.annotations.Nullable;

/**
 * The arguments of a tool call as Spring AI's tool loop passes them to the tool.
 */
public final class PassedArguments {

	private PassedArguments() {
	}

	/**
	 * Returns the text of the arguments.
	 * @param text the text that the model wrote; null if there is none
	 * @return the text; an empty object in place of none and of blank text
	 */
	public static String of(@Nullable String text) {
		return (text == null || text.isBlank()) ? "{}" : text;
	}

}
