package io.sessionkit.internal.opening;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToIntFunction;

import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.view.ViewLine;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Keeps parameters of a turn with its question, and shows them after the question once
 * the turn is history. The store keeps the text of the question as it was said.
 */
public final class ReplayedParameters {

	/** The key of the kept parameters in the metadata of a user message. */
	static final String KEPT = "sessionkit.parameters";

	/** The key in messages of builds before the first release. */
	private static final String KEPT_BEFORE = "sessionkit.inputs";

	private ReplayedParameters() {
	}

	/**
	 * Returns the messages of a turn, with the kept parameters added to the first user
	 * message.
	 */
	public static List<Transcript.Entry> keep(List<Transcript.Entry> turn, Map<String, Object> parameters) {
		List<Transcript.Entry> kept = new ArrayList<>(turn);
		for (int i = 0; i < kept.size() && !parameters.isEmpty(); i++) {
			if (kept.get(i).message() instanceof UserMessage user) {
				Map<String, Object> metadata = new HashMap<>(user.getMetadata());
				metadata.put(KEPT, parameters);
				kept.set(i, new Transcript.Entry(copy(user, Objects.requireNonNull(user.getText()), metadata),
						kept.get(i).at()));
				break;
			}
		}
		return kept;
	}

	/**
	 * Returns a message without the parameters that were kept with it: they belong to the
	 * turn of which it is the question.
	 */
	static Message without(Message message) {
		if (!(message instanceof UserMessage user) || kept(user) == null) {
			return message;
		}
		Map<String, Object> metadata = new HashMap<>(user.getMetadata());
		metadata.keySet().removeAll(Set.of(KEPT, KEPT_BEFORE));
		return copy(user, Objects.requireNonNull(user.getText()), metadata);
	}

	/**
	 * Returns the history as it is shown to the model.
	 * @param rules the rules that select the parameters to show; parameters that were
	 * kept under other rules may no longer be shown
	 */
	public static List<ViewLine> show(List<ViewLine> view, TurnParameters rules, ToIntFunction<Message> tokens) {
		if (rules.replayed().isEmpty()) {
			return view;
		}
		return view.stream().map((line) -> show(line, rules, tokens)).toList();
	}

	private static ViewLine show(ViewLine line, TurnParameters rules, ToIntFunction<Message> tokens) {
		if (!(kept(line.message()) instanceof Map<?, ?> kept)) {
			return line;
		}
		Message shown = shown(line.message(), rules.replayed(kept));
		return (shown == line.message()) ? line
				: new ViewLine(shown, line.source(), line.turn(), tokens.applyAsInt(shown));
	}

	/**
	 * Returns a message with which parameters were kept, as it is shown to the model.
	 */
	public static Message shown(Message message, Map<String, Object> parameters) {
		if (parameters.isEmpty() || !(message instanceof UserMessage user) || kept(user) == null) {
			return message;
		}
		StringBuilder text = new StringBuilder(Objects.requireNonNull(user.getText()));
		parameters.forEach((name, value) -> text.append(block(name, value)));
		return MessageContent.of(without(user)).withText(text.toString()).message();
	}

	private static @Nullable Object kept(Message message) {
		Map<String, Object> metadata = message.getMetadata();
		return metadata.containsKey(KEPT) ? metadata.get(KEPT) : metadata.get(KEPT_BEFORE);
	}

	/**
	 * Returns a value as a block between tags. Nothing in the value can close the block.
	 */
	private static String block(String name, Object value) {
		return "\n\n<" + name + ">\n" + String.valueOf(value).replace("<", "&lt;") + "\n</" + name + ">";
	}

	private static Message copy(UserMessage user, String text, Map<String, Object> metadata) {
		return MessageContent.of(user).withText(text).withMetadata(metadata).message();
	}

}
