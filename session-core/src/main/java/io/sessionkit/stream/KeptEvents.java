package io.sessionkit.stream;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.stream.StreamWriter;
import io.sessionkit.stream.CallEvent.Ended;
import io.sessionkit.stream.CallEvent.Joined;
import io.sessionkit.stream.CallEvent.Reasoning;
import io.sessionkit.stream.CallEvent.Text;
import io.sessionkit.stream.CallEvent.ToolCalled;
import io.sessionkit.stream.CallEvent.ToolReturned;
import org.jspecify.annotations.Nullable;

/**
 * The events of a stream as they are kept. If hooks may change what is stored of the
 * turn, nothing is kept that they may take out: no results, no thoughts, arguments only
 * of calls that wait, and texts only once they are stored as they were sent. Used by one
 * thread at a time.
 */
final class KeptEvents {

	private final StreamWriter writer;

	private final boolean edited;

	/** The events since a text that the hooks have not seen yet. */
	private final List<CallEvent> waiting = new ArrayList<>();

	private volatile boolean lost;

	/**
	 * Creates the kept events of a stream.
	 * @param edited whether hooks may change what is stored of the turn
	 */
	KeptEvents(StreamWriter writer, boolean edited) {
		this.writer = writer;
		this.edited = edited;
	}

	/**
	 * Adds an event.
	 * @param stored the turn as it is stored; null as long as that is not known
	 */
	void add(CallEvent event, @Nullable TurnResult stored) {
		if (!this.edited) {
			this.writer.add(EventForm.write(event));
			return;
		}
		this.waiting.add(event);
		if (CallReader.isLast(event)) {
			release(isCompleted(event), stored);
		}
		else if (this.waiting.size() == 1 && !isSaid(event)) {
			this.writer.add(EventForm.write(bare(event)));
			this.waiting.clear();
		}
	}

	/**
	 * Returns whether there is more than is kept: a text that hooks have taken out. What
	 * is left is not to be taken for the answer.
	 */
	boolean areLost() {
		return this.lost;
	}

	private void release(boolean completed, @Nullable TurnResult turn) {
		StoredTexts stored = StoredTexts.of(turn);
		boolean asStored = stored.haveSaid(sent());
		// a call that was stopped does not know how its turn was stored
		this.lost = completed && turn != null && !asStored;
		if (!this.lost) {
			this.waiting.stream()
				.map((event) -> isIn(stored, asStored, event) ? event : bare(event))
				.forEach((event) -> this.writer.add(EventForm.write(event)));
		}
		this.waiting.clear();
	}

	private String sent() {
		StringBuilder sent = new StringBuilder();
		this.waiting.forEach((event) -> sent.append((event instanceof Text text) ? text.text() : ""));
		return sent.toString();
	}

	private static boolean isIn(StoredTexts stored, boolean asStored, CallEvent event) {
		return (event instanceof Text && asStored)
				|| (event instanceof Joined joined && stored.asked().contains(joined.text()));
	}

	private static boolean isSaid(CallEvent event) {
		return event instanceof Text || event instanceof Joined;
	}

	private static boolean isCompleted(CallEvent event) {
		return event instanceof Ended ended && ended.status() == TurnStatus.COMPLETED;
	}

	private static CallEvent bare(CallEvent event) {
		if (event instanceof Text) {
			return new Text("");
		}
		if (event instanceof Joined) {
			return new Joined("");
		}
		if (event instanceof Reasoning) {
			return new Reasoning("");
		}
		if (event instanceof ToolCalled call) {
			return new ToolCalled(call.callId(), call.tool(), "");
		}
		return (event instanceof ToolReturned result) ? new ToolReturned(result.callId(), result.tool(), "") : event;
	}

}
