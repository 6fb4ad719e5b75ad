package io.sessionkit.internal.approval;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown instead of the result of a tool that was stopped since its time was over. Its
 * message is the result for the model.
 */
final class StoppedTool extends RuntimeException {

	private static final String BEGIN = "' was stopped after ";

	private static final String END = ", its time limit. It may have had its effect; check before you repeat it.";

	StoppedTool(String tool, Duration limit) {
		super("The tool '" + tool + BEGIN + shown(limit) + END, null, false, false);
	}

	private static String shown(Duration limit) {
		long millis = limit.toMillis();
		if (millis == 0) {
			return "less than 1 ms";
		}
		return (millis % 1000 == 0) ? limit.toSeconds() + " s" : millis + " ms";
	}

	/**
	 * Returns whether a result says that its tool was stopped. A tool that returns such a
	 * text itself only makes its own call uncertain.
	 */
	static boolean isTold(String tool, @Nullable String result) {
		return result != null && result.startsWith("The tool '" + tool + BEGIN) && result.endsWith(END);
	}

	String text() {
		return String.valueOf(getMessage());
	}

}
