package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
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

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The code of {@code docs/hooks.md} does what the page says.
 */
class HookSnippetsTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final ToolCall TODAY = new ToolCall("c1", "function", "today", "{}");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultSystem("be brief")
		.defaultAdvisors(HookSnippets.byHand(this.store))
		.build();

	@Test
	void cardNumberIsNeitherSentNorStored() {
		this.model.says("ok");
		assertThat(HookSnippets.ofOneCall(this.chat, "my card is 4111111111111111")).isEqualTo("ok");
		assertThat(this.model.lastRequestLines()).containsExactly("system: be brief\nThe tenant is acme.",
				"user: my card is [card]");
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: my card is [card]", "assistant: ok");
	}

	@Test
	void pictureIsSentAndStoredWithItsTextAndWithoutAny() {
		this.model.says("a1").says("a2").says("a3");
		for (String text : List.of("what is broken?", "my card is 4111111111111111", "")) {
			ask(picture(text));
			assertThat(this.model.lastRequest()).last()
				.isInstanceOfSatisfying(UserMessage.class, (sent) -> assertThat(sent.getMedia()).hasSize(1));
		}
		assertThat(this.store.messages(T1)).filteredOn(UserMessage.class::isInstance)
			.allSatisfy((question) -> assertThat(((UserMessage) question).getMedia()).hasSize(1))
			.extracting(Message::getText)
			.containsExactly("what is broken?", "my card is [card]", "");
	}

	@Test
	void messagesBeforeTheQuestionAreSentAndStoredWithoutCardNumbers() {
		this.model.says("ok");
		ask(new UserMessage("my card was 4111111111111111"), new AssistantMessage("noted"),
				new UserMessage("and is 5111111111111111"));
		assertThat(this.model.lastRequestLines()).containsExactly("system: be brief", "user: my card was [card]",
				"assistant: noted", "user: and is [card]");
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: my card was [card]", "assistant: noted",
				"user: and is [card]", "assistant: ok");
	}

	@Test
	void emptyQuestionIsAnsweredAndALongOneRefused() {
		assertThat(ask(new UserMessage("hello"), new AssistantMessage("hi"), new UserMessage(" ")))
			.isEqualTo("Which order do you mean?");
		assertThatExceptionOfType(SessionRefusedException.class)
			.isThrownBy(() -> ask(new UserMessage("a".repeat(9_000)), new UserMessage("b".repeat(1_001))));
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void resultsOfToolsThatTheApplicationRunsReachTheModel() {
		this.model.calls(TODAY).says("a");
		Conversations conversations = Conversations.builder(this.store).hooks(new HookSnippets.OrderNumbers()).build();
		ask(conversations, false, false, new UserMessage("q"));
		ask(conversations, false, false,
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "today", "Monday"))).build());
		assertThat(this.model.lastRequestLines()).last().isEqualTo("tool today=Monday");
	}

	@Test
	void tenantIsNamedToAClientWithoutSystemText() {
		this.model.says("ok");
		ChatClient bare = ChatClient.builder(this.model).defaultAdvisors(HookSnippets.byHand(this.store)).build();
		assertThat(HookSnippets.ofOneCall(bare, "q")).isEqualTo("ok");
		assertThat(this.model.lastRequestLines()).containsExactly("system: The tenant is acme.", "user: q");
	}

	private String ask(Message... messages) {
		return this.chat.prompt().messages(messages).advisors(SessionAdvisor.session(T1)).call().content();
	}

	private static UserMessage picture(String text) {
		Media media = Media.builder().mimeType(Media.Format.IMAGE_PNG).data(new byte[] { 1, 2, 3 }).build();
		return UserMessage.builder().text(text).media(media).build();
	}

	@Test
	void promiseIsRefused() {
		this.model.says("we guarantee it");
		assertThat(HookSnippets.ofOneCall(this.chat, "will it come?")).isEqualTo("The answer promises what we do not.");
		assertThat(this.store.turns(T1, Tail.ALL).get(0).status()).isEqualTo(TurnStatus.REFUSED);
	}

	@Test
	void turnIsKeptWithoutItsToolRounds() {
		this.model.calls(TODAY).says("a");
		ask(withoutToolRounds(), true, false, new UserMessage("q"));
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q", "assistant: a");
		assertThat(this.model.prompts()).hasSize(2);
	}

	@Test
	void turnWhoseAnswerIsTheResultOfAToolIsKeptWithIt() {
		this.model.calls(TODAY);
		ask(withoutToolRounds(), true, true, new UserMessage("q"));
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q", "assistant today({})",
				"tool today=\"Monday\"");
	}

	@Test
	void turnsWhoseToolTheApplicationRunsAreKeptWithIt() {
		this.model.calls(TODAY).says("a");
		ask(withoutToolRounds(), false, false, new UserMessage("q"));
		ask(withoutToolRounds(), false, false,
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "today", "Monday"))).build());
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q", "assistant today({})",
				"tool today=Monday", "assistant: a");
	}

	private Conversations withoutToolRounds() {
		return Conversations.builder(this.store).hooks(new HookSnippets.WithoutToolRounds()).build();
	}

	private void ask(Conversations conversations, boolean loop, boolean direct, Message message) {
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultAdvisors(AdvisorParams.toolCallingAdvisorAutoRegister(loop))
			.defaultToolCallbacks(FunctionToolCallback.builder("today", () -> "Monday")
				.description("the day")
				.toolMetadata(ToolMetadata.builder().returnDirect(direct).build())
				.build())
			.build()
			.prompt()
			.messages(message)
			.advisors(SessionAdvisor.session(T1))
			.call()
			.chatResponse();
	}

}
