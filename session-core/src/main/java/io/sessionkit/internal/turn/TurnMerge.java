package io.sessionkit.internal.turn;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.view.MergeReport;
import io.sessionkit.internal.view.Merged;

import org.springframework.ai.chat.messages.Message;

/**
 * Asks the merge of one turn for the messages to send.
 */
final class TurnMerge {

	private final SessionKey key;

	private final HistoryMerge merge;

	private final TurnPrompt prompt;

	private final TurnContext context;

	TurnMerge(SessionKey key, HistoryMerge merge, TurnPrompt prompt, TurnContext context) {
		this.key = key;
		this.merge = merge;
		this.prompt = prompt;
		this.context = context;
	}

	/**
	 * Asks for the messages of a new turn.
	 * @param codec the codec that must be able to store the input that the merge makes
	 */
	void begin(MessageCodec codec) {
		List<Message> history = this.prompt.mergeable();
		Merged result = bound(() -> Merged.of(this.merge, this.context.of(history), history, this.prompt.input()));
		result.input().forEach((message) -> codec.encode(this.key, message));
		use(result);
	}

	/**
	 * Asks which part of the history to send with a continued turn. The messages of the
	 * turn stay as they are stored.
	 */
	void again(ContinuedTurn continued) {
		List<Message> history = this.prompt.mergeable();
		List<Message> said = continued.input(this.prompt.input());
		use(bound(() -> Merged.again(this.merge, this.context.of(history), history, said, this.prompt.input())));
	}

	private Merged bound(Supplier<Merged> merging) {
		try (TurnBinding binding = TurnBinding.of(this.context.running())) {
			return merging.get();
		}
	}

	private void use(Merged result) {
		MergeReport.of(this.prompt.mergeable(), this.prompt.input(), result).log(this.key);
		this.prompt.merged(result);
	}

}
