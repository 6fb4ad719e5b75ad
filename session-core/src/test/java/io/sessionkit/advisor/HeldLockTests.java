package io.sessionkit.advisor;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application hears of a turn on threads that hold no lock of it: what it does then
 * may wait for the end of the turn.
 */
@Timeout(60)
class HeldLockTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> held = new CopyOnWriteArrayList<>();

	private final List<Object> heard = new CopyOnWriteArrayList<>();

	private volatile Runnable inTool = () -> {
	};

	private void hears(Object event) {
		this.heard.add(event);
		long[] me = { Thread.currentThread().getId() };
		ThreadInfo thread = ManagementFactory.getThreadMXBean().getThreadInfo(me, true, true)[0];
		Stream.of(thread.getLockedMonitors(), thread.getLockedSynchronizers())
			.flatMap(Stream::of)
			.map(LockInfo::getClassName)
			.filter((name) -> name.startsWith("io.sessionkit.") || name.contains("ReentrantLock"))
			.forEach(this.held::add);
	}

	@Test
	void noneWhenAMessageJoins() {
		CountDownLatch joins = new CountDownLatch(1);
		this.inTool = () -> await(joins);
		this.model.calls(SessionAdvisorTests.call("c1", "look", "1")).says("both");
		ChatClient chat = chat(Durability.TURN);
		List<CallEvent> second = new CopyOnWriteArrayList<>();
		CallEvents.of(steering(chat, "q1")).subscribe(joined(this::hears));
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		CallEvents.of(steering(chat, "q2")).subscribe(second::add);
		Awaitility.await().until(() -> !second.isEmpty());
		joins.countDown();
		Awaitility.await().until(() -> second.get(second.size() - 1) instanceof CallEvent.Ended);
		assertThat(this.heard).containsExactly(new CallEvent.Joined("q2"));
		assertThat(this.held).isEmpty();
	}

	private static Consumer<CallEvent> joined(Consumer<CallEvent> work) {
		return (event) -> {
			if (event instanceof CallEvent.Joined) {
				work.accept(event);
			}
		};
	}

	private static ChatClient.ChatClientRequestSpec steering(ChatClient chat, String text) {
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.concurrency(Concurrency.STEER)));
	}

	@Test
	void noneWhenAResultIsStoredLate() {
		AtomicBoolean away = new AtomicBoolean();
		this.store.beforePut((record) -> {
			if (record.kind().equals("approval") && away.getAndSet(false)) {
				throw new StoreUnavailableException("away", null);
			}
		});
		this.inTool = () -> away.set(this.heard.isEmpty());
		this.model.calls(SessionAdvisorTests.call("c1", "look", "1"))
			.calls(SessionAdvisorTests.call("c2", "look", "2"))
			.says("done");
		String answer = chat(Durability.STEP).prompt().user("q").advisors(SessionAdvisor.session(KEY)).call().content();
		assertThat(answer).isEqualTo("done");
		assertThat(this.heard).hasSize(2);
		assertThat(this.held).isEmpty();
	}

	private ChatClient chat(Durability durability) {
		Conversations conversations = Conversations.builder(this.store).durability(durability).build();
		Consumer<ApprovalEvent> listener = this::hears;
		Approvals approvals = Approvals.builder(conversations)
			.tools(Set.of("other"))
			.listeners(List.of(listener))
			.build();
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(FunctionToolCallback.builder("look", (SessionAdvisorTests.Value value) -> {
				this.inTool.run();
				return "seen";
			}).description("looks").inputType(SessionAdvisorTests.Value.class).build())
			.build();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
