package io.sessionkit.internal.attribute;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Verdict;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Messages that wait until they become part of a turn. Hooks are asked before the
 * messages are stored, so that the store never has what hooks take out of them.
 *
 * @param messages the messages as hooks have left them
 * @param isChecked whether the hooks of all calls have let them pass, so that they are
 * not asked again
 * @param verdicts the decisions of the hooks
 * @param attributes the attributes that the hooks have changed
 */
public record JoiningInput(List<Message> messages, boolean isChecked, List<Verdict> verdicts,
		AttributeChange attributes) {

	public JoiningInput {
		messages = List.copyOf(messages);
		verdicts = List.copyOf(verdicts);
	}

	/**
	 * Returns messages that no hook has seen.
	 */
	public static JoiningInput unchecked(List<Message> messages) {
		return new JoiningInput(messages, false, List.of(), AttributeChange.NONE);
	}

	/**
	 * Returns the result of the hooks as a codec can store it.
	 */
	public Map<String, Object> values() {
		return Map.of("verdicts", this.verdicts.stream().map(JoiningInput::values).toList(), "state",
				this.attributes.written(), "removed", this.attributes.removed());
	}

	private static Map<String, Object> values(Verdict verdict) {
		Map<String, Object> values = new HashMap<>();
		values.put("hook", verdict.hook());
		values.put("phase", verdict.phase().name());
		values.put("outcome", verdict.effect().name());
		if (verdict.reason() != null) {
			values.put("reason", verdict.reason());
		}
		return values;
	}

	/**
	 * Returns the messages with what was stored of the hooks.
	 * @param values the {@link #values() values}; anything else if no hook was asked
	 */
	@SuppressWarnings("unchecked") // this class has written the values
	public static JoiningInput of(List<Message> messages, @Nullable Object values) {
		if (values instanceof Map<?, ?> result && result.get("verdicts") instanceof List<?> stored
				&& result.get("state") instanceof Map<?, ?> written
				&& result.get("removed") instanceof List<?> removed) {
			List<Verdict> verdicts = new ArrayList<>();
			stored.forEach((each) -> verdicts.add(verdict((Map<?, ?>) each)));
			return new JoiningInput(messages, true, verdicts,
					new AttributeChange((Map<String, Object>) written, (List<String>) removed));
		}
		return unchecked(messages);
	}

	private static Verdict verdict(Map<?, ?> values) {
		return new Verdict(String.valueOf(values.get("hook")),
				Verdict.Phase.valueOf(String.valueOf(values.get("phase"))),
				Verdict.Effect.valueOf(String.valueOf(values.get("outcome"))), (String) values.get("reason"));
	}

	/**
	 * Describes the messages without their texts, which may be secret.
	 * @return a text with the number of messages
	 */
	@Override
	public String toString() {
		return "JoiningInput[" + this.messages.size() + " messages]";
	}

}
