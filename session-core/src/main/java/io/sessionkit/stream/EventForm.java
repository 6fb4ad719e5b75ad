package io.sessionkit.stream;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.TurnStatus;
import io.sessionkit.stream.CallEvent.Begun;
import io.sessionkit.stream.CallEvent.Ended;
import io.sessionkit.stream.CallEvent.Failed;
import io.sessionkit.stream.CallEvent.InLine;
import io.sessionkit.stream.CallEvent.Joined;
import io.sessionkit.stream.CallEvent.Lost;
import io.sessionkit.stream.CallEvent.Reasoning;
import io.sessionkit.stream.CallEvent.Repeated;
import io.sessionkit.stream.CallEvent.Steered;
import io.sessionkit.stream.CallEvent.Text;
import io.sessionkit.stream.CallEvent.ToolCalled;
import io.sessionkit.stream.CallEvent.ToolReturned;
import io.sessionkit.stream.CallEvent.Waiting;
import io.sessionkit.stream.CallEvent.WaitingCall;
import org.jspecify.annotations.Nullable;

/**
 * The form in which events are stored: named values, one of which is the name of the
 * event. Names and values of earlier versions stay readable. Texts are stored as they
 * are, since {@link CallReader} passes on nothing that a store does not keep.
 */
final class EventForm {

	private static final String NAME = "event";

	private EventForm() {
	}

	static boolean isBegun(Map<String, @Nullable Object> values) {
		return "begun".equals(values.get(NAME));
	}

	static Map<String, @Nullable Object> write(CallEvent event) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put(NAME, event.name());
		if (event instanceof Begun begun) {
			values.put("turnId", begun.turnId());
		}
		else if (event instanceof Text text) {
			values.put("text", text.text());
		}
		else if (event instanceof Reasoning reasoning) {
			values.put("text", reasoning.text());
		}
		else if (event instanceof Joined joined) {
			values.put("text", joined.text());
		}
		else if (event instanceof ToolCalled call) {
			values.putAll(Map.of("callId", call.callId(), "tool", call.tool(), "arguments", call.arguments()));
		}
		else if (event instanceof ToolReturned result) {
			values.putAll(Map.of("callId", result.callId(), "tool", result.tool(), "result", result.result()));
		}
		else if (event instanceof Waiting waiting) {
			values.put("calls", waiting.calls().stream().map(EventForm::write).toList());
		}
		else if (event instanceof Ended ended) {
			end(values, ended.turnId(), ended.status());
			values.put("turn", ended.turn());
		}
		else if (event instanceof Failed failed) {
			end(values, failed.turnId(), failed.status());
			values.put("code", failed.code());
			if (failed.messageKept() != null) {
				values.put("messageKept", failed.messageKept());
			}
		}
		return values;
	}

	private static Map<String, Object> write(WaitingCall call) {
		Map<String, Object> values = new HashMap<>(Map.of("id", call.id(), "callId", call.callId(), "tool", call.tool(),
				"arguments", call.arguments(), "shown", call.shown()));
		if (call.description() != null) {
			values.put("description", call.description());
		}
		return values;
	}

	private static void end(Map<String, @Nullable Object> values, @Nullable String turnId,
			@Nullable TurnStatus status) {
		if (turnId != null) {
			values.put("turnId", turnId);
		}
		if (status != null) {
			values.put("status", status.name());
		}
	}

	/**
	 * Returns the event. One of a kind or with a status that this version does not know
	 * is a lost one.
	 */
	static CallEvent read(Map<String, @Nullable Object> values) {
		return isKnown(text(values, "status")) ? known(values) : new Lost();
	}

	private static boolean isKnown(String status) {
		return status.isEmpty() || Arrays.stream(TurnStatus.values()).anyMatch((each) -> each.name().equals(status));
	}

	private static CallEvent known(Map<String, @Nullable Object> values) {
		String callId = text(values, "callId");
		String tool = text(values, "tool");
		String turnId = Objects.toString(values.get("turnId"), null);
		return switch (text(values, NAME)) {
			case "in-line" -> new InLine();
			case "begun" -> new Begun(text(values, "turnId"));
			case "steered" -> new Steered();
			case "repeated" -> new Repeated();
			case "joined" -> new Joined(text(values, "text"));
			case "reasoning" -> new Reasoning(text(values, "text"));
			case "text" -> new Text(text(values, "text"));
			case "tool-called" -> new ToolCalled(callId, tool, text(values, "arguments"));
			case "tool-returned" -> new ToolReturned(callId, tool, text(values, "result"));
			case "waiting" -> new Waiting(calls(values.get("calls")));
			case "ended" -> new Ended(turnId, ((Number) Objects.requireNonNull(values.get("turn"))).longValue(),
					Objects.requireNonNull(status(values)));
			case "failed" -> new Failed(turnId, status(values), text(values, "code"),
					(values.get("messageKept") instanceof Boolean kept) ? kept : null);
			default -> new Lost();
		};
	}

	private static @Nullable TurnStatus status(Map<String, @Nullable Object> values) {
		String name = text(values, "status");
		return name.isEmpty() ? null : TurnStatus.valueOf(name);
	}

	private static List<WaitingCall> calls(@Nullable Object value) {
		return (value instanceof List<?> calls) ? calls.stream().map((call) -> call((Map<?, ?>) call)).toList()
				: List.of();
	}

	private static WaitingCall call(Map<?, ?> values) {
		return new WaitingCall(text(values, "id"), text(values, "callId"), text(values, "tool"),
				text(values, "arguments"), Objects.toString(values.get("description"), null), text(values, "shown"));
	}

	private static String text(Map<?, ?> values, String name) {
		return Objects.toString(values.get(name), "");
	}

}
