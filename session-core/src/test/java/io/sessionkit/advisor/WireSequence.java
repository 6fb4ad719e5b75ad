package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import tools.jackson.databind.JsonNode;

/**
 * The rules of OpenAI for the messages of a request, checked on the JSON that arrived.
 */
public final class WireSequence {

	private WireSequence() {
	}

	/**
	 * Returns the faults of a request.
	 * @return a sentence for each fault; none if it is valid
	 */
	public static List<String> faults(JsonNode body) {
		List<JsonNode> messages = new ArrayList<>();
		body.path("messages").forEach(messages::add);
		List<String> faults = new ArrayList<>();
		if (messages.size() < 2 || !role(messages.get(0)).equals("system") || text(messages.get(0)).isBlank()) {
			faults.add("the system text does not come first");
			return faults;
		}
		if (!role(messages.get(1)).equals("user")) {
			faults.add("no user message follows the system text");
		}
		int i = 1;
		while (i < messages.size()) {
			i = check(messages, i, faults);
		}
		String last = role(messages.get(messages.size() - 1));
		if (!last.equals("user") && !last.equals("tool")) {
			faults.add("ends with " + last);
		}
		return faults;
	}

	/** Checks a message and the results that belong to it. */
	private static int check(List<JsonNode> messages, int i, List<String> faults) {
		JsonNode message = messages.get(i);
		switch (role(message)) {
			case "user" -> {
				if (text(message).isEmpty()) {
					faults.add("empty user message at " + i);
				}
			}
			case "assistant" -> {
				return afterResults(messages, i, faults);
			}
			default -> faults.add(role(message) + " at " + i + " is out of place");
		}
		return i + 1;
	}

	private static int afterResults(List<JsonNode> messages, int i, List<String> faults) {
		int next = i + 1;
		Set<String> ids = new HashSet<>();
		for (JsonNode call : messages.get(i).path("tool_calls")) {
			String id = call.path("id").asString();
			if (!ids.add(id)) {
				faults.add("two calls " + id + " at " + i);
			}
			JsonNode result = (next < messages.size()) ? messages.get(next) : call;
			if (!role(result).equals("tool") || !result.path("tool_call_id").asString().equals(id)) {
				faults.add("call " + id + " at " + i + " is not answered in its place");
			}
			else if (!result.path("content").isString() && !result.path("content").isArray()) {
				faults.add("the result of " + id + " has no content");
			}
			next++;
		}
		return next;
	}

	private static String role(JsonNode message) {
		return message.path("role").asString("");
	}

	static String text(JsonNode message) {
		JsonNode content = message.path("content");
		return content.isArray() ? content.path(0).path("text").asString("") : content.asString("");
	}

}
