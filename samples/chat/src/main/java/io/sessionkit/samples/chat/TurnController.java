package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.context.SentHistory;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import io.sessionkit.samples.chat.TurnView.MessageView;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Shows all that is stored of one turn, for the inspector of the page.
 */
@RestController
@RequestMapping("/api/threads/{id}/turns/{number}")
final class TurnController {

	private final Conversations conversations;

	private final Calls calls;

	private final MessageCodec codec;

	/**
	 * @param codec the codec of the store; the usual one if the application has no other
	 */
	TurnController(Conversations conversations, Calls calls, ObjectProvider<MessageCodec> codec) {
		this.conversations = conversations;
		this.calls = calls;
		this.codec = codec.getIfUnique(JsonMessageCodec::create);
	}

	@GetMapping
	TurnDetail read(@PathVariable String id, @PathVariable long number) {
		Conversation conversation = this.conversations.get(id);
		Turn turn = conversation.turns(new Tail(number + 1, 1))
			.stream()
			.filter((each) -> each.number() == number)
			.findFirst()
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND,
					"There is no turn " + number + " in this thread."));
		List<SessionItem> items = conversation.items(number);
		SentHistory sent = conversation.snapshot(number).orElse(null);
		return new TurnDetail(TurnView.of(turn, items), turn.parent(), turn.branch(), turn.parameters(), turn.tools(),
				items.stream().map((item) -> stored(conversation.key(), item)).toList(),
				(sent != null) ? SentView.of(sent) : null, this.calls.of(conversation.key(), turn.id()));
	}

	private StoredView stored(SessionKey key, SessionItem item) {
		return new StoredView(item.sequence(), item.at(), item.tokens(), item.message().getMessageType().getValue(),
				this.codec.encode(key, item.message()));
	}

	/**
	 * @param parent the turn that it follows; 0 for none
	 * @param parameters what the call was given and the application has chosen to keep
	 * @param tools the names of the tools that were offered, with their digests
	 * @param items its messages as they are stored
	 * @param sent what the model was sent before the turn's own messages; null if it was
	 * not called
	 * @param calls its tool calls that needed consent
	 */
	record TurnDetail(TurnView turn, long parent, String branch, Map<String, Object> parameters,
			Map<String, String> tools, List<StoredView> items, @Nullable SentView sent, List<CallView> calls) {
	}

	/**
	 * @param tokens their estimated number
	 * @param json the message as the store writes it
	 */
	record StoredView(long sequence, Instant at, int tokens, String role, String json) {
	}

	/**
	 * @param missing the number of messages deleted since
	 * @param system the system text; null if there was none, or it is not kept
	 */
	record SentView(List<MessageView> messages, int missing, boolean complete, @Nullable String system,
			@Nullable String systemDigest) {

		static SentView of(SentHistory sent) {
			return new SentView(sent.messages().stream().map(MessageView::of).toList(), sent.missing(),
					sent.isComplete(), sent.system(), sent.systemDigest());
		}

	}

}
