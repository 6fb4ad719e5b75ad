package io.sessionkit.docs;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryBlock;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The code of {@code docs/from-other-systems.md} does what the page says.
 */
class OtherSystemsSnippetsTests {

	private final ScriptedChatModel model = new ScriptedChatModel().reports(10);

	private final ScriptedChatModel small = new ScriptedChatModel().reports(100);

	private final Conversations conversations = Conversations
		.builder(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))
		.summarize(Summarize.by(this.small).keepTurns(1).build())
		.build();

	private final Conversation conversation = this.conversations.get(SessionKey.of("ada", "t1"));

	@Test
	void usageOfASessionHasItsSummaries() {
		talk();
		this.small.says("they spoke");
		this.conversation.summarize(true);
		TokenUsage usage = OtherSystemsSnippets.usage(this.conversation);
		assertThat(usage.input()).isEqualTo(10 + 10 + 100);
	}

	@Test
	void usageOfATurnThatWasAdoptedCountsOnce() {
		talk();
		this.model.step((prompt) -> {
			// as another caller does, since a turn must not write beside itself
			CompletableFuture.runAsync(
					() -> this.conversation.addTurn(List.of(new UserMessage("q3"), new AssistantMessage("a3")), null))
				.join();
			return Flux.just(this.model.chunk("late", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask("q4"))
			.satisfies((conflict) -> this.conversation.adopt(this.conversation.turns(Tail.newest(1)).get(0).number()));
		assertThat(Lines.of(this.conversation.messages())).endsWith("user: q4", "assistant: late");
		assertThat(OtherSystemsSnippets.usage(this.conversation).input()).isEqualTo(10 + 10 + 10);
	}

	@Test
	void usageOfAForkCountsWhatItHasCopied() {
		talk();
		SessionKey copy = SessionKey.of("ada", "t2");
		this.conversation.fork(copy);
		assertThat(OtherSystemsSnippets.usage(this.conversations.get(copy)).input()).isEqualTo(10 + 10);
		Instant begun = this.conversations.get(copy).session().orElseThrow().createdAt();
		assertThat(this.conversations.get(copy).turns(Tail.ALL)).hasSize(2)
			.allSatisfy((turn) -> assertThat(turn.startedAt()).isBefore(begun));
	}

	@Test
	void exampleHasNoHistoryIfThatWasSentAsOneBlock() {
		Conversations inOneBlock = Conversations.builder(this.conversations.store())
			.hooks(HistoryBlock.inUserText())
			.build();
		talk();
		this.model.says("a3");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(inOneBlock))
			.build()
			.prompt()
			.user("q3")
			.advisors(SessionAdvisor.session(this.conversation.key()))
			.call()
			.content();
		assertThat(OtherSystemsSnippets.Example.of(this.conversation)).last()
			.satisfies((example) -> assertThat(example.history()).isEmpty())
			.satisfies((example) -> assertThat(Lines.of(example.turn())).containsExactly("user: q3", "assistant: a3"));
	}

	@Test
	void exampleIsATurnWithWhatTheModelWasShownBefore() {
		talk();
		this.conversation.addTurn(List.of(new UserMessage("q3"), new AssistantMessage("a3")), null);
		assertThat(OtherSystemsSnippets.Example.of(this.conversation)).hasSize(2)
			.satisfies((examples) -> assertThat(examples.get(0).history()).isEmpty())
			.satisfies((examples) -> assertThat(Lines.of(examples.get(1).history())).containsExactly("user: q1",
					"assistant: a1"))
			.satisfies((examples) -> assertThat(Lines.of(examples.get(1).turn())).containsExactly("user: q2",
					"assistant: a2"));
	}

	@Test
	void answersThatWereUndoneOrAskedAnewAndTurnsWithoutOneAreNoExamples() {
		talk();
		this.conversation.undo(1);
		this.model.says("a3").calls(new ToolCall("c1", "function", "today", "{}"));
		ask("q3");
		chat().prompt()
			.user("q4")
			.toolCallbacks(FunctionToolCallback.builder("today", () -> "Monday")
				.description("the day")
				.toolMetadata(ToolMetadata.builder().returnDirect(true).build())
				.build())
			.advisors(SessionAdvisor.session(this.conversation.key()))
			.call()
			.chatResponse();
		assertThat(OtherSystemsSnippets.Example.of(this.conversation)).extracting((one) -> Lines.of(one.turn()))
			.containsExactly(List.of("user: q1", "assistant: a1"), List.of("user: q3", "assistant: a3"));
	}

	private void talk() {
		this.model.says("a1").fails(new IllegalStateException("down")).says("a2");
		ask("q1");
		assertThatIllegalStateException().isThrownBy(() -> ask("lost"));
		ask("q2");
	}

	private void ask(String question) {
		chat().prompt().user(question).advisors(SessionAdvisor.session(this.conversation.key())).call().content();
	}

	private ChatClient chat() {
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
	}

}
