package io.sessionkit.internal.commit;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.Round;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.round.KeptPart;
import io.sessionkit.internal.round.Transcript;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The recorded content of a turn.
 *
 * @param input the input of the caller
 * @param said the messages after the input
 * @param rounds one entry for each answer of the model
 * @param answered whether there is an answer
 * @param reply the message that is the answer; null if there is none, or if it is not
 * delivered
 * @param overLimit whether the turn was sent although it was over a limit
 */
public record RecordedTurn(List<Transcript.Entry> input, List<Transcript.Entry> said, List<Round> rounds,
		boolean answered, @Nullable Message reply, boolean overLimit) {

	List<Transcript.Entry> all() {
		List<Transcript.Entry> all = new ArrayList<>(this.input);
		all.addAll(this.said);
		return all;
	}

	/**
	 * Returns a copy for an answer that is not delivered.
	 */
	RecordedTurn withoutReply() {
		return new RecordedTurn(this.input, this.said, this.rounds, this.answered, null, this.overLimit);
	}

	/**
	 * Returns a copy without the newest reply and the results of its calls.
	 */
	RecordedTurn withoutAnswered() {
		return new RecordedTurn(this.input, this.said.subList(0, this.said.size() - 2), this.rounds, this.answered,
				this.reply, this.overLimit);
	}

	/**
	 * Returns what was recorded as a part of the turn. A user message that is not in the
	 * input was said while the turn waited.
	 * @param number the number of the part, from 1
	 */
	KeptPart part(int number, TurnStatus status) {
		List<Message> asked = new ArrayList<>(this.input.stream().map(Transcript.Entry::message).toList());
		List<Message> messages = new ArrayList<>(asked);
		for (Transcript.Entry entry : this.said) {
			messages.add(entry.message());
			if (entry.message() instanceof UserMessage) {
				asked.add(entry.message());
			}
		}
		return new KeptPart(number, status, messages, asked, this.reply);
	}

}
