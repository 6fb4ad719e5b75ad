package io.sessionkit.internal.turn;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.OpenRound;
import io.sessionkit.internal.round.RoundRequest;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class ToolLoopTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Turns turns = InnerParts.of(this.conversations, Turns.class);

	private final RunningTurn turn = this.turns
		.begin(this.turns.open(TurnRequest.of(KEY, List.of(new UserMessage("q"))), null));

	private OpenRound round() {
		RoundRequest start = this.turn.loop().begin(List.of(new UserMessage("q")));
		assertThat(start).isInstanceOf(RoundRequest.ModelCall.class);
		return ((RoundRequest.ModelCall) start).round();
	}

	private static ChatResponse response(String text) {
		return new ChatResponse(List.of(new Generation(new AssistantMessage(text))));
	}

	private List<String> stored() {
		return this.conversations.get(KEY).messages().stream().map(Message::getText).toList();
	}

	@Test
	void roundEndsOnce() {
		OpenRound round = round();
		round.afterWhole(response("a"));
		assertThatIllegalStateException().isThrownBy(() -> round.afterWhole(response("b")))
			.withMessageContaining("ended twice");
		assertThatIllegalStateException().isThrownBy(round::afterStreamed).withMessageContaining("ended twice");
		this.turn.complete(null);
		assertThat(stored()).containsExactly("q", "a");
	}

	@Test
	void failureAfterTheEndChangesNothing() {
		OpenRound round = round();
		round.chunk(response("a"));
		round.afterStreamed();
		round.afterFailed();
		assertThat(this.turn.loop().isRoundOpen()).isFalse();
		this.turn.complete(null);
		assertThat(stored()).containsExactly("q", "a");
	}

	@Test
	void roundThatARetryHasLeftRecordsNothingMore() {
		OpenRound left = round();
		left.chunk(response("lost "));
		OpenRound again = round();
		again.chunk(response("a1 "));
		left.chunk(response("late "));
		left.afterFailed();
		assertThat(this.turn.loop().isRoundOpen()).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> left.afterWhole(response("late")))
			.withMessageContaining("after another one had begun");
		again.chunk(response("a2"));
		again.afterStreamed();
		this.turn.complete(null);
		assertThat(stored()).containsExactly("q", "a1 a2");
		assertThat(this.conversations.get(KEY).turns(Tail.ALL)).singleElement()
			.satisfies((turn) -> assertThat(turn.rounds()).hasSize(1));
	}

	@Test
	void nothingBeginsAfterTheEndOfTheTurn() {
		this.turn.cancel();
		assertThatIllegalStateException().isThrownBy(this::round).withMessageContaining("is over");
	}

}
