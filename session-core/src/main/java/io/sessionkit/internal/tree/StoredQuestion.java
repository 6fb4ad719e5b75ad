package io.sessionkit.internal.tree;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.Verdict;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The input of a stored turn, which may contain replies and results of its own. All of it
 * has the time at which the turn was opened; what was said later has later times.
 */
public final class StoredQuestion {

	private final SessionKey key;

	private final Turn turn;

	private final List<SessionItem> items;

	public StoredQuestion(SessionKey key, Turn turn, List<SessionItem> items) {
		this.key = key;
		this.turn = turn;
		this.items = items;
	}

	/**
	 * Returns the messages to ask again; none if the turn has no question.
	 * @throws ChangeRefusedException if it is not certain which of its messages they are
	 */
	public List<Message> messages() {
		int input = (int) this.items.stream().takeWhile((item) -> item.at().equals(this.turn.startedAt())).count();
		return isCertain(input) ? beforeReplies(input) : first();
	}

	/**
	 * A message that a hook has put in the place of another one has the time of the one
	 * before it, and the messages of a turn that no call has made all have one time.
	 */
	private boolean isCertain(int input) {
		return input > 0 && !isRewritten(this.turn) && (input < this.items.size() || !isReply(input - 1));
	}

	/**
	 * Returns whether a hook has put other messages into the place of those that a turn
	 * was to store.
	 */
	public static boolean isRewritten(Turn turn) {
		return turn.verdicts()
			.stream()
			.anyMatch((verdict) -> verdict.phase() == Verdict.Phase.BEFORE_SAVE
					&& verdict.kind() == Verdict.Kind.REPLACED);
	}

	private List<Message> beforeReplies(int end) {
		int input = end;
		while (input > 0 && isReply(input - 1)) {
			input--;
		}
		return messages(input);
	}

	/** Returns the messages before the first reply. */
	private List<Message> first() {
		int input = 0;
		while (input < this.items.size() && !isReply(input)) {
			input++;
		}
		if (hasMore(input)) {
			throw new ChangeRefusedException("Turn " + this.turn.number() + " of session " + this.key
					+ " cannot be asked again: it has further questions or replies behind its first one, and it is not"
					+ " known which of them its call has brought. Call with all of the input and SessionAdvisor.editing("
					+ this.turn.number() + ").", Reason.NO_QUESTION);
		}
		return messages(input);
	}

	/** Returns whether what follows may belong to the input too. */
	private boolean hasMore(int input) {
		List<Message> rest = this.items.stream().skip(input).map(SessionItem::message).toList();
		long replies = rest.stream().filter(AssistantMessage.class::isInstance).count();
		return rest.stream().anyMatch(UserMessage.class::isInstance)
				|| (!this.turn.rounds().isEmpty() && replies > this.turn.rounds().size());
	}

	private boolean isReply(int index) {
		return this.items.get(index).message() instanceof AssistantMessage;
	}

	private List<Message> messages(int number) {
		return this.items.stream().limit(number).map(SessionItem::message).toList();
	}

}
