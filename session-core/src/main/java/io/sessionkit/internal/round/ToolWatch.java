package io.sessionkit.internal.round;

import io.sessionkit.hook.SessionListener;

/**
 * A listener that is also told of the result of each tool as soon as the tool ends, while
 * other calls of the same reply may still run. What it is told then is reported as
 * {@link #toolReturned} too. It passes on what it is told; if a hook checks replies, it
 * is told neither arguments nor results.
 */
public interface ToolWatch extends SessionListener {

	/**
	 * Handles the result of a tool. Not called for a tool that has thrown.
	 * @param tool the name of the tool
	 * @param arguments the arguments, as the tool loop has passed them
	 * @param result the result, or the answer that replaces it
	 */
	void toolEnded(String tool, String arguments, String result);

}
