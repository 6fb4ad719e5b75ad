package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

/**
 * The results of tool calls, which are known twice: when the tool ends, by its name and
 * arguments, and when the tool loop delivers all results of a reply, by their ids. Safe
 * for use by many threads.
 */
final class ToolResults {

	private final List<ToolCall> running = new ArrayList<>();

	private final List<ToolCall> ended = new ArrayList<>();

	synchronized void called(ToolCall call) {
		this.running.add(call);
	}

	/**
	 * Finds the call of a tool that has ended. Calls that look the same have the same
	 * right to the result.
	 * @return its id; null if this call is not known
	 */
	synchronized @Nullable String ended(String tool, String arguments) {
		for (ToolCall call : this.running) {
			if (call.name().equals(tool) && withBraces(call.arguments()).equals(withBraces(arguments))) {
				this.running.remove(call);
				this.ended.add(call);
				return call.id();
			}
		}
		return null;
	}

	/** Returns the arguments as the tool loop passes them. */
	private static String withBraces(@Nullable String arguments) {
		return (arguments == null || arguments.isBlank()) ? "{}" : arguments;
	}

	/**
	 * Returns whether a result that is delivered was known when its tool ended.
	 */
	synchronized boolean isKnown(String id, String tool) {
		if (remove(this.ended, id, tool)) {
			return true;
		}
		remove(this.running, id, tool);
		return false;
	}

	private static boolean remove(List<ToolCall> calls, String id, String tool) {
		for (ToolCall call : calls) {
			if (Objects.equals(call.id(), id) && call.name().equals(tool)) {
				return calls.remove(call);
			}
		}
		return false;
	}

}
