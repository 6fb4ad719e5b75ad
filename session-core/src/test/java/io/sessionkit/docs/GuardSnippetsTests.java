package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The code on guards of {@code docs/hooks.md}, and on merge and layout of
 * {@code docs/context.md}, does what the pages say.
 */
class GuardSnippetsTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	@Test
	void guardsRedactMaskAndBlock() {
		this.model.says("A-123456 is on its way to ada@example.org");
		ChatClient chat = chat(GuardSnippets.guarded(this.store));
		assertThat(say(chat, "pay with 4111 1111 1111 1111")).isEqualTo("[order] is on its way to [email]");
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: pay with **** **** **** 1111",
				"assistant: [order] is on its way to [email]");
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> say(chat, "I am at 10.0.0.1"))
			.withMessageContaining("'ip'");
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> say(chat, "Project  Falcon?"))
			.withMessageContaining("This is not for here.");
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void moderationRefusesOrNotesItsScore() {
		Conversations conversations = Conversations.builder(this.store)
			.hooks(new GuardSnippets.Moderation((text) -> text.contains("bomb") ? 0.9 : 0.1))
			.build();
		this.model.says("hello").says("boom");
		ChatClient chat = chat(SessionAdvisor.of(conversations));
		assertThat(say(chat, "hi")).isEqualTo("hello");
		assertThat(this.store.turns(T1, Tail.ALL).get(0).verdicts()).extracting(Verdict::reason)
			.containsExactly("moderation score 0.1");
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> say(chat, "a bomb"))
			.satisfies((refused) -> assertThat(refused.reason()).isEqualTo("This is not talked about here."));
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: hi", "assistant: hello");
	}

	@Test
	void moderationLooksAtAllMessagesAndTakesThoseWithoutText() {
		Conversations conversations = Conversations.builder(this.store)
			.hooks(new GuardSnippets.Moderation((text) -> text.contains("bomb") ? 0.9 : 0.1))
			.build();
		this.model.says("a").says("a");
		ChatClient chat = chat(SessionAdvisor.of(conversations));
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(
				() -> say(chat, new UserMessage("a bomb"), new AssistantMessage("?"), new UserMessage("go on")));
		assertThat(say(chat, new UserMessage("q"), picture(), new UserMessage("go on"))).isEqualTo("a");
		assertThat(this.store.turns(T1, Tail.ALL)).last()
			.satisfies((turn) -> assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED));
	}

	private static AssistantMessage picture() {
		Media media = Media.builder().mimeType(Media.Format.IMAGE_PNG).data(new byte[] { 1, 2, 3 }).build();
		return AssistantMessage.builder().media(List.of(media)).build();
	}

	@Test
	void mergeSendsTheQuestionsOnly() {
		this.store.add(T1, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		this.model.says("a2");
		assertThat(GuardSnippets.merged(chat(SessionAdvisor.of(Conversations.of(this.store))), "q2")).isEqualTo("a2");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "user: q2");
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant: a2");
	}

	@Test
	void mergeSendsTheNewestTurns() {
		for (int i = 1; i <= 4; i++) {
			this.store.add(T1, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		this.model.says("a5");
		assertThat(GuardSnippets.lastTurns(chat(SessionAdvisor.of(Conversations.of(this.store))), "q5"))
			.isEqualTo("a5");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant: a2", "user: q3",
				"assistant: a3", "user: q4", "assistant: a4", "user: q5");
	}

	@Test
	void mergeSendsShortenedRepliesAndStoresThemWhole() {
		String reply = "a".repeat(300);
		this.store.add(T1, List.of(new UserMessage("q1"), new AssistantMessage(reply)));
		this.model.says("a2");
		say(chat(GuardSnippets.shortened(this.store)), "q2");
		assertThat(this.model.lastRequest().get(1).getText()).startsWith("aaaa").hasSizeLessThan(250);
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q1", "assistant: " + reply, "user: q2",
				"assistant: a2");
	}

	@Test
	void mergeThatShortensLeavesRepliesOfMediaAlone() {
		this.store.add(T1,
				List.of(new UserMessage("q1"), picture(), new UserMessage("q2"), new AssistantMessage("a2")));
		this.model.says("a3");
		assertThat(say(chat(GuardSnippets.shortened(this.store)), "q3")).isEqualTo("a3");
		assertThat(this.model.lastRequest()).element(1)
			.isInstanceOfSatisfying(AssistantMessage.class, (sent) -> assertThat(sent.getMedia()).hasSize(1));
	}

	@Test
	void historyIsOneBlockOfTheUserText() {
		this.store.add(T1, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		this.model.says("a2");
		say(chat(GuardSnippets.inOneBlock(this.store)), "q2");
		assertThat(this.model.lastRequest()).singleElement()
			.satisfies((message) -> assertThat(message.getText()).endsWith("""
					<history>
					<message role="user">q1</message>
					<message role="assistant">a1</message>
					</history>

					q2"""));
	}

	private ChatClient chat(SessionAdvisor advisor) {
		return ChatClient.builder(this.model).defaultAdvisors(advisor).build();
	}

	private static String say(ChatClient chat, String text) {
		return say(chat, new UserMessage(text));
	}

	private static String say(ChatClient chat, Message... messages) {
		return chat.prompt().messages(messages).advisors(SessionAdvisor.session(T1)).call().content();
	}

}
