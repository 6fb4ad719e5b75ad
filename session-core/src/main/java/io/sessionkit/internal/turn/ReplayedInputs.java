package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;

import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.view.ViewLine;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Keeps inputs of a turn with its question, and shows them behind it once the turn is
 * history. In the store the text of the question stays what was said.
 */
final class ReplayedInputs {

	/** Where a user message has them in its metadata. */
	static final String INPUTS = "sessionkit.inputs";

	private ReplayedInputs() {
	}

	/**
	 * The messages of a turn, the first user message with the inputs.
	 */
	static List<Transcript.Entry> keep(List<Transcript.Entry> turn, Map<String, Object> inputs) {
		List<Transcript.Entry> kept = new ArrayList<>(turn);
		for (int i = 0; i < kept.size() && !inputs.isEmpty(); i++) {
			if (kept.get(i).message() instanceof UserMessage user) {
				Map<String, Object> metadata = new HashMap<>(user.getMetadata());
				metadata.put(INPUTS, inputs);
				kept.set(i, new Transcript.Entry(copy(user, Objects.requireNonNull(user.getText()), metadata),
						kept.get(i).at()));
				break;
			}
		}
		return kept;
	}

	/**
	 * The history as it is shown.
	 * @param rules which inputs are shown; what was kept under other rules may not be any
	 * more
	 */
	static List<ViewLine> show(List<ViewLine> view, TurnInputs rules, ToIntFunction<Message> tokens) {
		if (rules.replayed().isEmpty()) {
			return view;
		}
		return view.stream().map((line) -> show(line, rules, tokens)).toList();
	}

	private static ViewLine show(ViewLine line, TurnInputs rules, ToIntFunction<Message> tokens) {
		if (!(line.message().getMetadata().get(INPUTS) instanceof Map<?, ?> kept)) {
			return line;
		}
		Message shown = shown(line.message(), rules.replayed(kept));
		return (shown == line.message()) ? line
				: new ViewLine(shown, line.source(), line.turn(), tokens.applyAsInt(shown));
	}

	/**
	 * A message that inputs were kept with, as it is shown.
	 */
	static Message shown(Message message, Map<String, Object> inputs) {
		if (inputs.isEmpty() || !(message instanceof UserMessage user) || !user.getMetadata().containsKey(INPUTS)) {
			return message;
		}
		StringBuilder text = new StringBuilder(Objects.requireNonNull(user.getText()));
		inputs.forEach((name, value) -> text.append(block(name, value)));
		Map<String, Object> metadata = new HashMap<>(user.getMetadata());
		metadata.remove(INPUTS);
		return copy(user, text.toString(), metadata);
	}

	/** Nothing in the value can close the block. */
	private static String block(String name, Object value) {
		return "\n\n<" + name + ">\n" + String.valueOf(value).replace("<", "&lt;") + "\n</" + name + ">";
	}

	private static Message copy(UserMessage user, String text, Map<String, Object> metadata) {
		return MessageContent.of(user).withText(text).withMetadata(metadata).message();
	}

}
