package io.sessionkit.samples.chat;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.stereotype.Component;

/**
 * The tool calls that needed consent, as the page shows them.
 */
@Component
final class Calls {

	private final Approvals approvals;

	private final JsonMapper json;

	private final Map<String, String> descriptions;

	Calls(Approvals approvals, OrderTools orders, JsonMapper json) {
		this.approvals = approvals;
		this.json = json;
		this.descriptions = Stream.of(ToolCallbacks.from(orders))
			.collect(Collectors.toMap((tool) -> tool.getToolDefinition().name(),
					(tool) -> tool.getToolDefinition().description()));
	}

	List<CallView> of(SessionKey key) {
		return this.approvals.ledger(key).stream().map(this::view).toList();
	}

	List<CallView> of(SessionKey key, String turnId) {
		return of(key).stream().filter((call) -> call.turnId().equals(turnId)).toList();
	}

	/**
	 * Returns what is wrong with arguments for a call.
	 * @return the faults; none if the call or its schema is unknown
	 */
	List<ArgumentFault> faults(SessionKey key, String id, String arguments) {
		return this.approvals.ledger(key)
			.stream()
			.filter((call) -> call.id().equals(id) && call.requirements().schema() != null)
			.flatMap((call) -> ArgumentFault.in(arguments, Objects.requireNonNull(call.requirements().schema()))
				.stream())
			.toList();
	}

	CallView view(ToolApproval call) {
		return CallView.of(call, title(call.tool()), this.descriptions.get(call.tool()),
				schema(call.requirements().schema()));
	}

	/**
	 * Returns what a tool does in a few words, as its name says it: "Cancel order" for
	 * cancel_order.
	 */
	static String title(String tool) {
		String words = tool.replaceAll("([\\p{Ll}\\d])(\\p{Lu})", "$1 $2").replaceAll("[_.\\-]+", " ").strip();
		return words.isEmpty() ? tool
				: words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1).toLowerCase(Locale.ROOT);
	}

	private @Nullable JsonNode schema(@Nullable String schema) {
		try {
			return (schema != null) ? this.json.readTree(schema) : null;
		}
		catch (JacksonException ex) {
			return null; // the arguments are shown as JSON then
		}
	}

}
