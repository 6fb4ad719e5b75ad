package io.sessionkit.context;

import java.util.List;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Summarize.Mode;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another process is killed while its summarizer writes; this one finds the thread.
 */
class KilledSummarizerTests {

	private static final SharedStore shared = SharedStore.inPostgres();

	private final SessionStore store = shared.open();

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	@Test
	void beforeATurnItLeavesTheThreadAsItWasAndTheNextProcessSummarizes() {
		List<String> said = thread();
		try (OtherProcess killed = OtherProcess.start(shared)) {
			killed.tell("summarize " + this.key.id() + " " + Mode.BEFORE + " lost");
			killed.hear("summarizing");
			assertThat(killed.kill()).as("the turn waits for it").isEmpty();
		}
		assertIsAsItWas(said);
		assertThatTheNextTurnIsSummarized(said);
	}

	@Test
	void inTheBackgroundItLeavesTheTurnThatIsStoredAndTheNextProcessSummarizes() {
		List<String> said = thread();
		try (OtherProcess killed = OtherProcess.start(shared)) {
			killed.tell("summarize " + this.key.id() + " " + Mode.BACKGROUND + " kept");
			assertThat(List.of(killed.hear(), killed.hear())).containsExactlyInAnyOrder("summarizing", "stored");
		}
		said = List.of(said.get(0), said.get(1), said.get(2), said.get(3), "user: kept", "assistant: answer-to-kept");
		assertIsAsItWas(said);
		assertThatTheNextTurnIsSummarized(said);
	}

	private List<String> thread() {
		for (int i = 1; i <= 2; i++) {
			this.store.add(this.key, List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
		return List.of("user: u1", "assistant: a1", "user: u2", "assistant: a2");
	}

	private void assertIsAsItWas(List<String> said) {
		Conversation conversation = Conversations.of(this.store).get(this.key);
		assertThat(Lines.of(conversation.messages())).isEqualTo(said);
		assertThat(Lines.of(conversation.view())).isEqualTo(said);
		assertThat(conversation.summaries()).isEmpty();
		assertThat(conversation.turns(Tail.ALL)).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
	}

	private void assertThatTheNextTurnIsSummarized(List<String> said) {
		ScriptedChatModel model = new ScriptedChatModel().says("answer");
		Summarize rule = Summarize.by(new ScriptedChatModel().says("summary"))
			.mode(Mode.BEFORE)
			.triggerMessages(1)
			.keepTurns(1)
			.build();
		try (Conversations conversations = Conversations.builder(this.store).summarize(rule).build()) {
			ChatClient.builder(model)
				.defaultAdvisors(SessionAdvisor.of(conversations))
				.build()
				.prompt()
				.user("next")
				.advisors(SessionAdvisor.session(this.key))
				.call()
				.content();
			List<Message> request = model.lastRequest();
			assertThat(ValidSequence.faults(request)).isEmpty();
			assertThat(Lines.of(request)).containsExactly("user: Summarize our conversation so far.",
					"assistant: summary", said.get(said.size() - 2), said.get(said.size() - 1), "user: next");
			assertThat(Lines.of(conversations.get(this.key).messages())).startsWith(said.toArray(String[]::new))
				.hasSize(said.size() + 2);
		}
	}

}
