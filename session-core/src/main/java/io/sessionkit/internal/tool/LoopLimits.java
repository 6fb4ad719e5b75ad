package io.sessionkit.internal.tool;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Recognizes what Spring AI's tool loop tells the model in place of a result, if a limit
 * on the number of calls has kept a tool from running.
 */
public final class LoopLimits {

	private static final Pattern OF_ALL = Pattern
		.compile("Total tool call limit \\(\\d+\\) exceeded for this turn\\. No further tool calls are allowed\\.");

	private static final Pattern OF_ONE = Pattern
		.compile("Tool call limit \\(\\d+\\) exceeded for tool '(.*)'\\. No further calls to this tool are allowed in"
				+ " this turn\\.", Pattern.DOTALL);

	private LoopLimits() {
	}

	/**
	 * Returns whether a result says that a limit has refused the call.
	 * @param tool the name of the tool
	 */
	public static boolean haveRefused(String tool, @Nullable String result) {
		if (result == null) {
			return false;
		}
		Matcher ofOne = OF_ONE.matcher(result);
		return OF_ALL.matcher(result).matches() || (ofOne.matches() && ofOne.group(1).equals(tool));
	}

}
