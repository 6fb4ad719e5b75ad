package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.Turn;
import io.sessionkit.context.SentHistory;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import io.sessionkit.samples.chat.ContextController.SentView;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Shows all that is stored of one turn.
 */
@RestController
final class TurnController {

	private final SessionStore store;

	private final Conversations conversations;

	private final Approvals approvals;

	private final ToolCallViews calls;

	TurnController(SessionStore store, Conversations conversations, Approvals approvals, ToolCallViews calls) {
		this.store = store;
		this.conversations = conversations;
		this.approvals = approvals;
		this.calls = calls;
	}

	@GetMapping("/api/threads/{id}/turns/{number}")
	TurnDetail read(@PathVariable String id, @PathVariable long number) {
		Conversation thread = this.conversations.get(id);
		Turn turn = turn(thread, number);
		List<SessionItem> items = thread.items(number);
		Snapshot snapshot = turn.snapshot();
		SentHistory sent = thread.snapshot(number).orElse(null);
		return new TurnDetail(TurnView.of(turn, items), turn.parent(), turn.branch(), turn.parameters(), turn.tools(),
				items.stream().map((item) -> item(thread.key(), item)).toList(),
				(snapshot != null) ? snapshot.parts().stream().map(TurnController::part).toList() : List.of(),
				(sent != null) ? SentView.of(sent) : null, (snapshot != null) ? snapshot.system() : null,
				(snapshot != null) ? snapshot.systemDigest() : null, calls(thread.key(), turn),
				thread.attributes(turn.parent()), thread.attributes(number));
	}

	private static Turn turn(Conversation thread, long number) {
		return thread.turns(Tail.newest(1).before(number + 1))
			.stream()
			.filter((turn) -> turn.number() == number)
			.findFirst()
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND,
					"There is no turn " + number + " in this thread."));
	}

	private List<CallView> calls(SessionKey key, Turn turn) {
		return this.approvals.ledger(key)
			.stream()
			.filter((call) -> call.turnId().equals(turn.id()))
			.map(this.calls::of)
			.toList();
	}

	private ItemView item(SessionKey key, SessionItem item) {
		return new ItemView(item.sequence(), item.at(), item.tokens(), item.role().getValue(),
				this.store.options().codec().encode(key, item.message()));
	}

	private static Map<String, Object> part(Snapshot.Part part) {
		if (part instanceof Snapshot.Items items) {
			return Map.of("kind", "ITEMS", "size", items.size(), "from", items.from(), "to", items.to(), "firstTurn",
					items.firstTurn(), "lastTurn", items.lastTurn());
		}
		if (part instanceof Snapshot.Pruned pruned) {
			return Map.of("kind", "PRUNED", "size", pruned.size(), "sequence", pruned.sequence(), "turn", pruned.turn(),
					"placeholder", pruned.placeholder());
		}
		if (part instanceof Snapshot.Summary summary) {
			return Map.of("kind", "SUMMARY", "size", summary.size(), "summary", summary.summary());
		}
		return Map.of("kind", "VERBATIM", "size", part.size());
	}

	/**
	 * @param parameters the advisor parameters that are kept
	 * @param tools the tools that were offered, with the digest of each definition
	 * @param snapshot the history that was sent, in parts
	 * @param sent the history as messages; null if the model was not called
	 * @param system the system text; null if there was none or it is not kept
	 * @param calls the tool calls of the turn that needed consent
	 * @param before the attributes of the session before the turn
	 * @param after the attributes as the turn left them; empty if it is not history
	 */
	record TurnDetail(TurnView turn, long parent, String branch, Map<String, Object> parameters,
			Map<String, String> tools, List<ItemView> items, List<Map<String, Object>> snapshot,
			@Nullable SentView sent, @Nullable String system, @Nullable String systemDigest, List<CallView> calls,
			Map<String, Object> before, Map<String, Object> after) {
	}

	/**
	 * @param json the message as it is stored
	 */
	record ItemView(long sequence, Instant at, int tokens, String role, String json) {
	}

}
