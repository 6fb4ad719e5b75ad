package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.view.History.Kind;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Divides a request into units that are left out as a whole. The unit of a history
 * message is known. A message that a hook or an advisor has changed belongs to the
 * messages around it. A message that a hook or an advisor has added counts as a turn if
 * it is a user message.
 */
final class RequestUnits {

	/**
	 * Messages that are left out or kept together.
	 */
	record Unit(Kind kind, List<Message> messages) {
	}

	private final History history;

	private final List<Unit> units = new ArrayList<>();

	private List<Message> messages = new ArrayList<>();

	private History.@Nullable Unit known;

	private RequestUnits(History history) {
		this.history = history;
	}

	/**
	 * Returns the units before the current turn, in the order in which they are left out.
	 * @param current the index at which the current turn begins
	 */
	static List<Unit> beforeCurrentTurn(List<Message> request, int current, History history) {
		RequestUnits units = new RequestUnits(history);
		List<Message> before = request.subList(0, Math.max(0, current))
			.stream()
			.filter((message) -> !(message instanceof SystemMessage) || history.unitOf(message) != null)
			.toList();
		for (int i = 0; i < before.size(); i++) {
			units.add(before.get(i), before.subList(i + 1, before.size()));
		}
		units.close();
		List<Unit> ordered = new ArrayList<>();
		for (Kind kind : List.of(Kind.TURN, Kind.SUMMARY, Kind.PINNED)) {
			units.units.stream().filter((unit) -> unit.kind() == kind).forEach(ordered::add);
		}
		return ordered;
	}

	private void add(Message message, List<Message> rest) {
		History.Unit unit = this.history.unitOf(message);
		if (begins(message, unit, rest)) {
			close();
		}
		if (unit != null) {
			this.known = unit;
		}
		this.messages.add(message);
	}

	private boolean begins(Message message, History.@Nullable Unit unit, List<Message> rest) {
		if (unit == null) {
			return message instanceof UserMessage && !isInsideOfKnown(rest);
		}
		boolean first = unit.lines().get(0).message() == message;
		return first || (this.known != null && unit != this.known);
	}

	/**
	 * Returns whether a message lies within the unit that is being collected. A question
	 * that a hook has changed may stand inside its turn, after another question.
	 */
	private boolean isInsideOfKnown(List<Message> rest) {
		if (this.known == null) {
			return false;
		}
		for (Message later : rest) {
			History.Unit unit = this.history.unitOf(later);
			if (unit != null) {
				return unit == this.known;
			}
		}
		return false;
	}

	private void close() {
		if (!this.messages.isEmpty()) {
			this.units.add(new Unit((this.known != null) ? this.known.kind() : Kind.TURN, this.messages));
		}
		this.messages = new ArrayList<>();
		this.known = null;
	}

}
