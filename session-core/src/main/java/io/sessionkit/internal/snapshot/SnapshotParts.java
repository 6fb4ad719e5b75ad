package io.sessionkit.internal.snapshot;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Snapshot;
import io.sessionkit.Snapshot.Part;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewLine.Source;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The parts of a history that was sent.
 *
 * @param parts the parts, in order
 * @param verbatim the messages that are kept as they are
 */
record SnapshotParts(List<Part> parts, List<Message> verbatim) {

	static SnapshotParts of(List<Message> history, List<ViewLine> view) {
		Builder builder = new Builder(view);
		for (int i = 0; i < history.size();) {
			i += builder.add(history, i);
		}
		return new SnapshotParts(builder.parts(), builder.verbatim);
	}

	private static final class Builder {

		private final List<ViewLine> view;

		/** Null as long as each message is at its expected place. */
		private @Nullable Map<Message, Integer> places;

		private final List<Part> parts = new ArrayList<>();

		private final List<Message> verbatim = new ArrayList<>();

		/** The index in the view at which the next message is expected. */
		private int next;

		/** The items that follow each other at the end so far; 0 for none. */
		private long from;

		private long to;

		private long firstTurn;

		private long lastTurn;

		Builder(List<ViewLine> view) {
			this.view = view;
		}

		/**
		 * Adds the message at an index, or both messages of a summary.
		 * @return the number of messages that were added
		 */
		int add(List<Message> history, int index) {
			Message message = history.get(index);
			int place = place(message);
			if (place < 0) {
				return verbatim(message);
			}
			this.next = place + 1;
			ViewLine line = this.view.get(place);
			return (line.source() instanceof Source.Summary summary) ? summary(history, index, summary)
					: line(line, message);
		}

		/**
		 * Returns the index of a message in the view; -1 if there is none. For a copied
		 * message this is the index of the first message that is alike, at the expected
		 * place or after it.
		 */
		private int place(Message message) {
			if (this.next < this.view.size() && this.view.get(this.next).message() == message) {
				return this.next;
			}
			Integer known = places().get(message);
			return (known != null) ? known : placeOfAlike(message);
		}

		private Map<Message, Integer> places() {
			Map<Message, Integer> known = this.places;
			if (known == null) {
				known = new IdentityHashMap<>();
				for (int i = 0; i < this.view.size(); i++) {
					known.put(this.view.get(i).message(), i);
				}
				this.places = known;
			}
			return known;
		}

		private int placeOfAlike(Message message) {
			for (int i = this.next; i < this.view.size(); i++) {
				if (Copies.areAlike(message, this.view.get(i).message())) {
					return i;
				}
			}
			return -1;
		}

		private int line(ViewLine line, Message message) {
			if (line.source() instanceof Source.Item item) {
				item(item.sequence(), line.turn());
				return 1;
			}
			if (line.source() instanceof Source.Pruned pruned) {
				part(new Snapshot.Pruned(pruned.sequence(), line.turn(), pruned.placeholder()));
				return 1;
			}
			return verbatim(message);
		}

		private void item(long sequence, long turn) {
			if (this.from == 0 || this.to != sequence - 1 || this.lastTurn > turn) {
				endItems();
				this.from = sequence;
				this.firstTurn = turn;
			}
			this.to = sequence;
			this.lastTurn = turn;
		}

		private void endItems() {
			if (this.from > 0) {
				this.parts.add(new Snapshot.Items(this.from, this.to, this.firstTurn, this.lastTurn));
				this.from = 0;
			}
		}

		private void part(Part part) {
			endItems();
			this.parts.add(part);
		}

		/** Returns the parts; nothing is added afterwards. */
		List<Part> parts() {
			endItems();
			return this.parts;
		}

		private int summary(List<Message> history, int index, Source.Summary summary) {
			if (this.next < this.view.size() && index + 1 < history.size()
					&& this.view.get(this.next).source().equals(summary)
					&& place(history.get(index + 1)) == this.next) {
				this.next++;
				part(new Snapshot.Summary(summary.summary()));
				return 2;
			}
			return verbatim(history.get(index));
		}

		private int verbatim(Message message) {
			endItems();
			Part last = this.parts.isEmpty() ? null : this.parts.get(this.parts.size() - 1);
			if (last instanceof Snapshot.Verbatim run) {
				this.parts.set(this.parts.size() - 1, new Snapshot.Verbatim(run.size() + 1));
			}
			else {
				this.parts.add(new Snapshot.Verbatim(1));
			}
			this.verbatim.add(message);
			return 1;
		}

	}

}
