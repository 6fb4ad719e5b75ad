package io.sessionkit.internal.run;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown instead of the result of a tool that was stopped since its time was over. Its
 * message is the result for the model.
 */
public final class StoppedTool extends RuntimeException {

	private static final String BEGIN = "' was stopped after ";

	private static final String CHECK = ". It may have had its effect; check before you repeat it.";

	private static final String END = ", its time limit" + CHECK;

	private static final String INTERRUPTED = "' was interrupted" + CHECK;

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
	 * Returns what is told of a tool that an interrupt has ended, as that of a call that
	 * is stopped does.
	 */
	public static String interrupted(String tool) {
		return "The tool '" + tool + INTERRUPTED;
	}

	/**
	 * Returns whether a result says that its tool was stopped or interrupted, so that
	 * nobody knows whether it has had its effect. A tool that returns such a text itself
	 * only makes its own call uncertain.
	 * @param tool the name of the tool
	 */
	public static boolean isTold(String tool, @Nullable String result) {
		return result != null && (result.equals(interrupted(tool))
				|| result.startsWith("The tool '" + tool + BEGIN) && result.endsWith(END));
	}

	public String text() {
		return String.valueOf(getMessage());
	}

}
