package io.sessionkit.approval;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The names of tools in the configuration: their form, and the tools that they mean. A
 * list that is written in another way than it is read, a pattern or a placeholder would
 * be a name that no tool has, and the tools that it means would run unasked.
 */
public final class ToolName {

	/** The form as a regular expression. */
	public static final String FORM = "[^\\s;,=|*\"'`(){}\\[\\]]+";

	private static final Pattern PATTERN = Pattern.compile(FORM);

	/** The name of an MCP tool whose own name was used before. */
	private static final Pattern RENAMED = Pattern.compile("alt_\\d+_(.+)");

	private ToolName() {
	}

	/**
	 * Returns whether a tool could have a name.
	 * @param name the name
	 * @return false if the name is empty, or has white space or one of {@code ; , = | * "
	 * ' ` ( ) { } [ ]}
	 */
	public static boolean isPossible(String name) {
		return PATTERN.matcher(name).matches();
	}

	/**
	 * Checks a name that is configured.
	 * @param name the name
	 * @param what the place where it is configured, to begin a sentence with
	 * @throws IllegalArgumentException if no tool could have the name
	 */
	public static void check(String name, String what) {
		if (!isPossible(name)) {
			throw new IllegalArgumentException(what + " has the name '" + name
					+ "', which no tool can have. Write the exact names of tools, one an entry.");
		}
	}

	/**
	 * Returns the name that a tool had before Spring AI renamed it. If the application
	 * has no {@code McpToolNamePrefixGenerator} of its own, Spring AI calls an MCP tool
	 * {@code alt_1_cancel} if another one was called {@code cancel} before: that of
	 * another server, or the same one with another description or schema.
	 * @param tool the name of a tool
	 * @return the name without what was put before it; the same name for other tools
	 */
	public static String original(String tool) {
		Matcher renamed = RENAMED.matcher(tool);
		return renamed.matches() ? renamed.group(1) : tool;
	}

	/**
	 * Returns what is configured for a tool: under its name, else under its
	 * {@linkplain #original original} one.
	 * @param <V> the type of what is configured
	 * @param configured what is configured, by the name of the tool
	 * @param tool the name of the tool
	 * @return the value, or null if there is none
	 */
	public static <V> @Nullable V find(Map<String, V> configured, String tool) {
		V value = configured.get(tool);
		return (value != null) ? value : configured.get(original(tool));
	}

}
