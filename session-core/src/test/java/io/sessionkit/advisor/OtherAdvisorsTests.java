package io.sessionkit.advisor;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.SafeGuardAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Advisors of others at each place of the chain: what they see, and what of their work is
 * stored.
 */
class OtherAdvisorsTests {

	private static final SessionKey KEY = SessionKey.of("thread");

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	@Test
	void whatIsAddedAroundTheSessionIsStoredAndWhatIsAddedInsideIsNot() {
		ask(new Adding(100), "q1");
		ask(new Adding(250), "q2");
		ask(new Adding(350), "q3");
		ask(new Adding(500), "q4");
		assertThat(this.model.lastRequestLines()).last().isEqualTo("user: q4 with context");
		assertThat(log()).filteredOn((line) -> line.startsWith("user: "))
			.containsExactly("user: q1 with context", "user: q2", "user: q3", "user: q4");
	}

	@Test
	void adviceAroundTheSessionSeesNoHistory() {
		ask(new Adding(100), "q1");
		Counting outside = new Counting(100);
		Counting loop = new Counting(250);
		Counting round = new Counting(500);
		this.model.says("a");
		chat(outside, loop, round).prompt().user("q2").advisors(SessionAdvisor.session(KEY)).call().content();
		assertThat(List.of(outside.messages, loop.messages, round.messages)).containsExactly(1, 3, 3);
	}

	@Test
	void eachAttemptAroundTheSessionIsATurn() {
		this.model.says("bad").says("good");
		askTwice(new Again(100));
		assertThat(log()).containsExactly("user: q", "assistant: bad", "user: q again", "assistant: good");
	}

	@Test
	void lastAttemptAroundTheToolLoopIsStored() {
		this.model.calls(new ToolCall("c1", "function", "weather", "{}")).says("bad").says("good");
		askTwice(new Again(250));
		assertThat(log()).containsExactly("user: q", "assistant: good");
		this.model.says("next");
		assertThat(chat().prompt().user("q2").advisors(SessionAdvisor.session(KEY)).call().content()).isEqualTo("next");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant: good", "user: q2");
	}

	@Test
	void replyOfAnAdvisorBeforeTheModelCountsAsTheModels() {
		SafeGuardAdvisor guard = SafeGuardAdvisor.builder()
			.sensitiveWords(List.of("bomb"))
			.failureResponse("blocked")
			.build();
		ChatClient chat = chat(guard);
		assertThat(ask(chat, "a bomb")).isEqualTo("blocked");
		assertThat(ask(chat, "hello")).isEqualTo("blocked");
		assertThat(log()).containsExactly("user: a bomb", "assistant: blocked", "user: hello", "assistant: blocked");
		assertThat(this.model.prompts()).isEmpty();
	}

	private void ask(CallAdvisor advisor, String question) {
		this.model.says("a");
		ask(chat(advisor), question);
	}

	private static String ask(ChatClient chat, String question) {
		return chat.prompt().user(question).advisors(SessionAdvisor.session(KEY)).call().content();
	}

	private void askTwice(CallAdvisor advisor) {
		assertThat(ask(chat(advisor), "q")).isEqualTo("good");
	}

	private ChatClient chat(CallAdvisor... advisors) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(this.conversations))
			.defaultAdvisors(advisors)
			.defaultToolCallbacks(FunctionToolCallback.builder("weather", (input) -> "sunny")
				.description("weather")
				.inputType(Object.class)
				.build())
			.build();
	}

	private List<String> log() {
		return Lines.of(this.conversations.get(KEY).messages());
	}

	private abstract static class At implements CallAdvisor {

		private final int order;

		At(int order) {
			this.order = Ordered.HIGHEST_PRECEDENCE + order;
		}

		@Override
		public String getName() {
			return getClass().getSimpleName() + this.order;
		}

		@Override
		public int getOrder() {
			return this.order;
		}

	}

	/** Adds a context to the question, as retrieval does. */
	private static final class Adding extends At {

		Adding(int order) {
			super(order);
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			return chain.nextCall(with(request, " with context"));
		}

	}

	/** Counts the messages that it sees. */
	private static final class Counting extends At {

		private int messages;

		Counting(int order) {
			super(order);
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			this.messages = request.prompt().getInstructions().size();
			return chain.nextCall(request);
		}

	}

	/** Asks again if the reply is bad, as a validation of the reply does. */
	private static final class Again extends At {

		Again(int order) {
			super(order);
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			CallAdvisorChain rest = chain.copy(this);
			ChatClientResponse response = chain.nextCall(request);
			if ("bad".equals(response.chatResponse().getResult().getOutput().getText())) {
				return rest.nextCall(with(request, " again"));
			}
			return response;
		}

	}

	private static ChatClientRequest with(ChatClientRequest request, String more) {
		Prompt prompt = request.prompt();
		return request.mutate().prompt(prompt.augmentUserMessage(prompt.getUserMessage().getText() + more)).build();
	}

}
