package io.sessionkit.conversation;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Turns that are adopted while others write.
 */
class AdoptTests {

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversation thread = Conversations.of(this.store).get(SessionKey.of("t1"));

	@Test
	void turnThatIsDeletedMeanwhileDoesNotComeBack() {
		this.thread.addTurn(said("q1", "a1"), null);
		this.thread.addTurn(said("q2", "a2"), null);
		this.thread.undo(1);
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.thread.delete(2);
		});
		assertThatIllegalArgumentException().isThrownBy(() -> this.thread.adopt(2));
		assertThat(this.thread.messages()).extracting(Message::getText).containsExactly("q1", "a1");
	}

	private static List<Message> said(String question, String answer) {
		return List.of(new UserMessage(question), new AssistantMessage(answer));
	}

}
