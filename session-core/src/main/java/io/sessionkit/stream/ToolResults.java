package io.sessionkit.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import io.sessionkit.internal.PassedArguments;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * The results of tool calls, which are known twice: when the tool ends, by its name and
 * arguments, and when the tool loop delivers all results of a reply, by their ids. Safe
 * for use by many threads.
 */
final class ToolResults {

	/** A call whose tool has ended. */
	private record Ended(ToolCall call, String result) {

		/** Calls of models that give no ids are distinguished by their results. */
		private boolean has(ToolResponse response) {
			return isOf(this.call, response)
					&& (isNamed(this.call.id()) || this.result.equals(response.responseData()));
		}

		private static boolean isNamed(@Nullable String id) {
			return id != null && !id.isEmpty();
		}

	}

	private final List<ToolCall> running = new ArrayList<>();

	private final List<Ended> ended = new ArrayList<>();

	synchronized void called(ToolCall call) {
		this.running.add(call);
	}

	/**
	 * Finds the call of a tool that has ended. Calls that look the same have the same
	 * right to the result.
	 * @return the call; null if it is not known
	 */
	synchronized @Nullable ToolCall ended(String tool, String arguments, String result) {
		ToolCall call = remove(this.running, (each) -> tool.equals(each.name())
				&& PassedArguments.of(each.arguments()).equals(PassedArguments.of(arguments)));
		if (call != null) {
			this.ended.add(new Ended(call, result));
		}
		return call;
	}

	/**
	 * Returns whether a result that is delivered was known when its tool ended.
	 */
	synchronized boolean isKnown(ToolResponse response) {
		boolean known = remove(this.ended, (each) -> each.has(response)) != null;
		if (!known) {
			remove(this.running, (each) -> isOf(each, response));
		}
		return known;
	}

	private static boolean isOf(ToolCall call, ToolResponse response) {
		return Objects.equals(call.id(), response.id()) && Objects.equals(call.name(), response.name());
	}

	private static <T> @Nullable T remove(List<T> all, Predicate<T> wanted) {
		for (int i = 0; i < all.size(); i++) {
			if (wanted.test(all.get(i))) {
				return all.remove(i);
			}
		}
		return null;
	}

}
