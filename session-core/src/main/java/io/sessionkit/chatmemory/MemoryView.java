package io.sessionkit.chatmemory;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.Session;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.view.MemoryRecord;
import io.sessionkit.internal.view.ViewLine;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * A session as a memory sees it, as of one moment.
 *
 * @param session the header; null if there is no session
 * @param lines the history that is in the memory
 * @param memory the record of the messages that are not history
 */
record MemoryView(@Nullable Session session, List<ViewLine> lines, MemoryRecord memory) {

	long head() {
		return (this.session != null) ? this.session.head() : 0;
	}

	/**
	 * Returns the system messages, the history and what is open, unless that has got an
	 * answer without content, and is about to be set aside.
	 */
	List<Message> messages() {
		List<Message> messages = new ArrayList<>(this.memory.system());
		messages.addAll(toSend());
		return messages;
	}

	/** Returns the history from its first question on, with the rest as above. */
	List<Message> messagesFromAQuestion() {
		List<Message> messages = new ArrayList<>(this.memory.system());
		List<Message> said = toSend();
		int first = 0;
		while (first < said.size() && said.get(first).getMessageType() != MessageType.USER) {
			first++;
		}
		messages.addAll(said.subList(first, said.size()));
		return messages;
	}

	private List<Message> said() {
		List<Message> said = new ArrayList<>(history());
		said.addAll(this.memory.open());
		return said;
	}

	private List<Message> toSend() {
		return SaidTurns.hasNoReply(this.memory.open()) ? history() : said();
	}

	private List<Message> history() {
		return this.lines.stream().map(ViewLine::message).toList();
	}

	/**
	 * Returns how many of the oldest messages are missing in a list that otherwise begins
	 * with all messages of this memory.
	 * @param list a list without system messages
	 * @return -1 if it does not begin like that
	 */
	int evicted(List<Message> list) {
		List<Message> said = said();
		for (int from = 0; from <= this.lines.size(); from++) {
			boolean allGone = from == said.size() && !said.isEmpty();
			if (!allGone && !isInsideSummary(from) && beginsWith(list, said.subList(from, said.size()))) {
				return from;
			}
		}
		return -1;
	}

	private boolean isInsideSummary(int from) {
		return from > 0 && from < this.lines.size() && this.lines.get(from).source() instanceof ViewLine.Source.Summary;
	}

	private static boolean beginsWith(List<Message> list, List<Message> start) {
		if (list.size() < start.size()) {
			return false;
		}
		for (int i = 0; i < start.size(); i++) {
			if (!Copies.areAlike(list.get(i), start.get(i))) {
				return false;
			}
		}
		return true;
	}

	/** Returns the memory without some of the oldest messages of the history. */
	MemoryRecord without(int evicted) {
		MemoryRecord memory = this.memory;
		for (ViewLine line : this.lines.subList(0, evicted)) {
			if (line.source() instanceof ViewLine.Source.Item item) {
				memory = memory.hidden(Math.max(memory.hidden(), item.sequence()), memory.hiddenSummary());
			}
			else if (line.source() instanceof ViewLine.Source.Summary summary) {
				memory = memory.hidden(memory.hidden(), summary.summary());
			}
		}
		return memory;
	}

	/**
	 * Returns how many of the oldest messages a list has in common with this memory, in
	 * whole turns. A summary and the items pinned before it are one.
	 */
	int common(List<Message> list) {
		int common = 0;
		for (int i = 0; i < Math.min(list.size(), this.lines.size())
				&& Copies.areAlike(list.get(i), this.lines.get(i).message()); i++) {
			common = (i == this.lines.size() - 1 || begins(this.lines.get(i + 1), this.lines.get(i))) ? i + 1 : common;
		}
		return common;
	}

	private boolean begins(ViewLine next, ViewLine line) {
		long summarized = (this.session != null) ? this.session.summaryTurn() : 0;
		return next.turn() != line.turn() && next.turn() > summarized;
	}

	/** Returns the turn that the first messages of this memory end with. */
	long turnOf(int messages) {
		if (this.session == null) {
			return 0;
		}
		return Math.max(this.lines.get(messages - 1).turn(), this.session.summaryTurn());
	}

}
