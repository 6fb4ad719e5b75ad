package io.sessionkit.internal.approval;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.IdempotencyKeyException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.round.Rounds;
import io.sessionkit.internal.tool.LoopLimits;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.model.tool.ToolCallLimitExceededException;
import org.springframework.ai.model.tool.ToolExecutionResult;

/**
 * Answers calls with what is stored: requests that are made again, and calls whose
 * messages have joined the turn of another one.
 */
final class StoredAnswers {

	private static final Set<String> CALLS = Set.of(Ledger.APPROVAL);

	/**
	 * The metadata in which Spring AI's clients of OpenAI and others say why the model
	 * has ended.
	 */
	private static final String FINISH_REASON = "finishReason";

	/** The reason if the reader of the reply has left while the model was speaking. */
	private static final String CUT_SHORT = "cutShort";

	/** The value of the OpenAI client if the model has not given a reason. */
	private static final String NO_REASON = "_UNKNOWN";

	/**
	 * The number of turns to read at once if the turn is not found by its first number.
	 */
	private static final int BATCH = 100;

	private final SessionStore store;

	private final Ledger ledger;

	StoredAnswers(SessionStore store, Ledger ledger) {
		this.store = store;
		this.ledger = ledger;
	}

	/**
	 * Returns the result of a call that is answered by a turn that is stored.
	 * @param joined whether its messages have joined that turn; if not, its request was
	 * made before
	 * @return the result; null if the call has to continue the turn, which broke off
	 * @throws IdempotencyKeyException if the request was made before, and the reply is no
	 * longer there, or never was
	 * @throws SessionConflictException if the messages have joined such a turn
	 */
	@Nullable OpenedCall answer(SessionKey key, Answer answer, boolean joined) {
		TurnView stored = find(key, answer).filter((view) -> !view.items().isEmpty() || view.turn().status().isOpen())
			.orElseThrow(() -> joined ? withoutTurn(key) : deleted(key));
		Turn turn = stored.turn();
		TurnResult result = new TurnResult(key, turn, stored.items(), false);
		return switch (turn.status()) {
			case COMPLETED -> new OpenedCall.Answered(
					reply(key, result).orElseThrow(() -> joined ? withoutTurn(key) : withoutReply(key, turn)), result,
					joined);
			case AWAITING_APPROVAL -> new OpenedCall.Queued(
					Pause.of(this.ledger.pending(this.ledger.read(stored.records(Ledger.APPROVAL))), result), joined);
			case INCOMPLETE -> null;
			case FAILED, CANCELLED, REFUSED -> throw joined ? withoutTurn(key) : withoutReply(key, turn);
		};
	}

	/**
	 * Returns whether a call that is answered by a turn has to continue it.
	 */
	boolean isBrokenOff(SessionKey key, Answer answer) {
		return find(key, answer).filter((view) -> view.turn().status() == TurnStatus.INCOMPLETE).isPresent();
	}

	/** A part of the turn was stored, and then it failed, or was given up or deleted. */
	private static SessionConflictException withoutTurn(SessionKey key) {
		return new SessionConflictException("The message has joined a turn on session " + key
				+ " of which a part was stored, and which then ended without a reply, or was deleted. Read the session,"
				+ " and call again if the message is not in its history.", null);
	}

	private static IdempotencyKeyException deleted(SessionKey key) {
		return new IdempotencyKeyException("The request was made before, and the turn that answered it"
				+ " was deleted from session " + key + " since. Nothing was run. Give it another key to ask again.");
	}

	private static IdempotencyKeyException withoutReply(SessionKey key, Turn turn) {
		return new IdempotencyKeyException("The request was made before, as turn " + turn.number() + " of session "
				+ key + ", which ended without a reply (" + turn.status()
				+ "), or whose reply was deleted since. Nothing was run. Give it another key to ask again.");
	}

	private Optional<TurnView> find(SessionKey key, Answer answer) {
		Optional<TurnView> first = this.store.turn(key, answer.from(), CALLS);
		return first.filter((view) -> view.turn().id().equals(answer.turn())).or(() -> later(key, answer));
	}

	/** Others were stored before it, so it has got a later number. */
	private Optional<TurnView> later(SessionKey key, Answer answer) {
		long newest = this.store.find(key).map(Session::turns).orElse(0L);
		for (long from = answer.from() + 1; from <= newest; from += BATCH) {
			Optional<Turn> found = this.store.turns(key, new Tail(from + BATCH, BATCH))
				.stream()
				.filter((turn) -> turn.id().equals(answer.turn()))
				.findFirst();
			if (found.isPresent()) {
				return this.store.turn(key, found.get().number(), CALLS);
			}
		}
		return Optional.empty();
	}

	/**
	 * Returns the reply that ends a turn: what the model said, the text of the limit that
	 * has ended the tool loop, or results of tools that were returned directly, but not
	 * what the model is to know of a turn that was given up. Nothing was paid for it this
	 * time, so it has no usage.
	 */
	private Optional<ChatResponse> reply(SessionKey key, TurnResult result) {
		List<Message> messages = result.items().stream().map(SessionItem::message).toList();
		Message last = messages.get(messages.size() - 1);
		if (last instanceof AssistantMessage reply) {
			return Optional.of(response(List.of(new Generation(reply, finish(reply))), result.turn()));
		}
		if (!(last instanceof ToolResponseMessage results) || last.getMetadata().containsKey(Rounds.GIVEN_UP)) {
			return Optional.empty();
		}
		List<Generation> limited = limited(results);
		if (limited.isEmpty() && hasCancelledCalls(key, result.turn())) {
			return Optional.empty();
		}
		return Optional.of(response(limited.isEmpty() ? returned(messages) : limited, result.turn()));
	}

	/**
	 * The reason why the model has ended is known of providers that say it in the
	 * message. A reply whose reader has left looks like a whole one otherwise.
	 */
	private static ChatGenerationMetadata finish(AssistantMessage reply) {
		if (reply.getMetadata().containsKey(Turn.CUT_SHORT)) {
			return ChatGenerationMetadata.builder().finishReason(CUT_SHORT).build();
		}
		return (reply.getMetadata().get(FINISH_REASON) instanceof String reason && !reason.equals(NO_REASON))
				? ChatGenerationMetadata.builder().finishReason(reason).build() : ChatGenerationMetadata.NULL;
	}

	/**
	 * Returns what Spring AI's tool loop has answered in place of the model when a limit
	 * has ended it; nothing if the results are those of tools that return directly.
	 */
	private static List<Generation> limited(ToolResponseMessage results) {
		return results.getResponses()
			.stream()
			.filter((result) -> LoopLimits.haveRefused(result.name(), result.responseData()))
			.limit(1)
			.map((refused) -> new Generation(new AssistantMessage(refused.responseData()),
					ChatGenerationMetadata.builder()
						.finishReason(ToolCallLimitExceededException.FINISH_REASON)
						.build()))
			.toList();
	}

	/**
	 * Returns whether a turn was given up whose last message is not marked, since a hook
	 * has written it.
	 */
	private boolean hasCancelledCalls(SessionKey key, Turn turn) {
		return this.ledger.over(key)
			.stream()
			.filter((call) -> call.approval().turnId().equals(turn.id()))
			.anyMatch((call) -> call.status() == ApprovalStatus.CANCELLED);
	}

	private static List<Generation> returned(List<Message> messages) {
		return ToolExecutionResult
			.buildGenerations(ToolExecutionResult.builder().conversationHistory(messages).returnDirect(true).build());
	}

	private static ChatResponse response(List<Generation> generations, Turn turn) {
		ChatResponseMetadata.Builder metadata = ChatResponseMetadata.builder();
		return new ChatResponse(generations,
				((turn.model() != null) ? metadata.model(turn.model()) : metadata).build());
	}

}
