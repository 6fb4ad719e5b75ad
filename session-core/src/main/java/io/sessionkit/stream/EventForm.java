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
			values.put("turn", begun.turn());
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
			values.putAll(Map.of("id", call.id(), "tool", call.tool(), "arguments", call.arguments()));
		}
		else if (event instanceof ToolReturned result) {
			values.putAll(Map.of("id", result.id(), "tool", result.tool(), "result", result.result()));
		}
		else if (event instanceof Waiting waiting) {
			values.put("calls", waiting.calls().stream().map(EventForm::write).toList());
		}
		else if (event instanceof Ended ended) {
			end(values, ended.turn(), ended.status());
			values.put("number", ended.number());
		}
		else if (event instanceof Failed failed) {
			end(values, failed.turn(), failed.status());
			values.put("code", failed.code());
		}
		return values;
	}

	private static Map<String, Object> write(WaitingCall call) {
		Map<String, Object> values = new HashMap<>(
				Map.of("id", call.id(), "tool", call.tool(), "arguments", call.arguments()));
		put(values, "description", call.description());
		put(values, "shown", call.shown());
		put(values, "call", call.call());
		return values;
	}

	private static void put(Map<String, Object> values, String name, @Nullable String text) {
		if (text != null) {
			values.put(name, text);
		}
	}

	private static void end(Map<String, @Nullable Object> values, @Nullable String turn, @Nullable TurnStatus status) {
		if (turn != null) {
			values.put("turn", turn);
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
		String id = text(values, "id");
		String tool = text(values, "tool");
		String turn = Objects.toString(values.get("turn"), null);
		return switch (text(values, NAME)) {
			case "in-line" -> new InLine();
			case "begun" -> new Begun(text(values, "turn"));
			case "steered" -> new Steered();
			case "repeated" -> new Repeated();
			case "joined" -> new Joined(text(values, "text"));
			case "reasoning" -> new Reasoning(text(values, "text"));
			case "text" -> new Text(text(values, "text"));
			case "tool-called" -> new ToolCalled(id, tool, text(values, "arguments"));
			case "tool-returned" -> new ToolReturned(id, tool, text(values, "result"));
			case "waiting" -> new Waiting(calls(values.get("calls")));
			case "ended" -> new Ended(turn, ((Number) Objects.requireNonNull(values.get("number"))).longValue(),
					Objects.requireNonNull(status(values)));
			case "failed" -> new Failed(turn, status(values), code(values));
			default -> new Lost();
		};
	}

	/** An earlier version has kept the name of a class instead. */
	private static String code(Map<String, @Nullable Object> values) {
		return Objects.toString(values.get("code"), CallReader.ERROR);
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
		return new WaitingCall(text(values, "id"), text(values, "tool"), text(values, "arguments"),
				Objects.toString(values.get("description"), null), Objects.toString(values.get("shown"), null),
				Objects.toString(values.get("call"), null));
	}

	private static String text(Map<?, ?> values, String name) {
		return Objects.toString(values.get(name), "");
	}

}
