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
 * @param asked the names of the hooks of all calls that are not asked again. A hook that
 * has written an attribute is not among them: others may change the attributes before the
 * messages are part of the turn, so what it wrote is dropped
 * @param verdicts the decisions of the hooks
 */
public record JoiningInput(List<Message> messages, List<String> asked, List<Verdict> verdicts) {

	public JoiningInput {
		messages = List.copyOf(messages);
		asked = List.copyOf(asked);
		verdicts = List.copyOf(verdicts);
	}

	/**
	 * Returns messages that no hook has seen.
	 */
	public static JoiningInput unchecked(List<Message> messages) {
		return new JoiningInput(messages, List.of(), List.of());
	}

	/**
	 * Returns the messages after more hooks were asked about them.
	 * @param left the messages as these have left them
	 * @param names the names of all hooks of all calls, which need not be asked again
	 * @param decided the decisions of those that were asked now
	 */
	public JoiningInput checked(List<Message> left, List<String> names, List<Verdict> decided) {
		List<String> all = new ArrayList<>(this.asked);
		all.removeAll(names);
		all.addAll(names);
		List<Verdict> both = new ArrayList<>(this.verdicts);
		both.addAll(decided);
		return new JoiningInput(left, all, both);
	}

	/**
	 * Returns whether no hook has decided on them, so that there is nothing to store
	 * beside the messages.
	 */
	public boolean isUnchecked() {
		return this.asked.isEmpty() && this.verdicts.isEmpty();
	}

	/**
	 * Returns the result of the hooks as a codec can store it.
	 */
	public Map<String, Object> values() {
		return Map.of("asked", this.asked, "verdicts", this.verdicts.stream().map(JoiningInput::values).toList());
	}

	private static Map<String, Object> values(Verdict verdict) {
		Map<String, Object> values = new HashMap<>();
		values.put("hook", verdict.hook());
		values.put("phase", verdict.phase().name());
		values.put("outcome", verdict.kind().name());
		if (verdict.reason() != null) {
			values.put("reason", verdict.reason());
		}
		return values;
	}

	/**
	 * Returns the messages with what was stored of the hooks.
	 * @param values the {@link #values() values}; anything else if no hook was asked
	 */
	public static JoiningInput of(List<Message> messages, @Nullable Object values) {
		if (values instanceof Map<?, ?> result && result.get("verdicts") instanceof List<?> stored
				&& result.get("asked") instanceof List<?> names) {
			List<String> asked = names.stream().map(String::valueOf).toList();
			List<Verdict> verdicts = new ArrayList<>();
			stored.forEach((each) -> verdicts.add(verdict((Map<?, ?>) each)));
			return new JoiningInput(messages, asked, verdicts);
		}
		return unchecked(messages);
	}

	private static Verdict verdict(Map<?, ?> values) {
		return new Verdict(String.valueOf(values.get("hook")),
				Verdict.Phase.valueOf(String.valueOf(values.get("phase"))),
				Verdict.Kind.valueOf(String.valueOf(values.get("outcome"))), (String) values.get("reason"));
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
