package io.sessionkit.faults;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * An application with a model, a tool that needs consent and one that does not. Two of
 * them on one store are like two processes: they know of each other what is stored.
 */
final class App implements AutoCloseable {

	static final String GATED = "cancel";

	static final String FREE = "look";

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final int SUMMARY_AFTER = 24;

	private static final int KEPT_TURNS = 4;

	private static final int LONGEST_RUN_MILLIS = 10;

	private final Book book;

	private final Conversations conversations;

	private final Approvals approvals;

	private final ChatClient chat;

	App(SessionStore store, Book book) {
		this.book = book;
		AnsweringModel model = new AnsweringModel(book);
		this.conversations = Conversations.builder(store)
			.lease(LEASE)
			.summarize(Summarize.by(model).triggerMessages(SUMMARY_AFTER).keepTurns(KEPT_TURNS).build())
			.build();
		this.approvals = Approvals.builder(this.conversations).tools(Set.of(GATED)).build();
		this.chat = ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.defaultToolCallbacks(tool(GATED), tool(FREE))
			.build();
	}

	record Order(int id) {
	}

	private ToolCallback tool(String name) {
		return FunctionToolCallback.builder(name, (Order order) -> {
			pause();
			this.approvals.running().map(ToolApproval::id).ifPresent(this.book.effects::add);
			pause();
			return name + " " + order.id();
		}).description(name).inputType(Order.class).build();
	}

	private static void pause() {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(LONGEST_RUN_MILLIS)));
	}

	Approvals approvals() {
		return this.approvals;
	}

	Conversation thread(SessionKey key) {
		return this.conversations.get(key);
	}

	/**
	 * Asks, or goes on with what waits.
	 * @param question null to go on
	 */
	@Nullable ChatResponse call(SessionKey key, @Nullable String question, boolean stream) {
		ChatClient.ChatClientRequestSpec spec = this.chat.prompt().advisors(SessionAdvisor.session(key));
		ChatClient.ChatClientRequestSpec asked = (question != null) ? spec.user(question) : spec;
		return stream ? asked.stream().chatResponse().blockLast() : asked.call().chatResponse();
	}

	@Override
	public void close() {
		this.conversations.close();
	}

}
