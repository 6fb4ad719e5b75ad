package io.sessionkit.advisor;

import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A virtual thread that waits in a monitor keeps its carrier before JDK 24, so no call
 * holds a monitor of SessionKit while the store is asked for it. A resumable stream holds
 * its own while it begins; those are not looked at here.
 */
@Timeout(60)
class HeldMonitorTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	/** The methods that a store answers without asking anybody. */
	private static final Set<String> LOCAL = Set.of("options", "mayRollBack");

	/** The packages whose monitors are looked at. */
	private static final List<String> WATCHED = List.of("io.sessionkit.internal.line", "io.sessionkit.internal.turn",
			"io.sessionkit.internal.opening", "io.sessionkit.internal.commit", "io.sessionkit.internal.lease.");

	private static final ToolCall ADD = SessionAdvisorTests.call("c1", "add", "1");

	private final InMemorySessionStore memory = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.of(watched());

	private final Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("add")).build();

	private final ScriptedChatModel model = new ScriptedChatModel();

	/** The threads that make calls, and how often each has asked the store. */
	private final Map<Thread, AtomicInteger> callers = new ConcurrentHashMap<>(
			Map.of(Thread.currentThread(), new AtomicInteger()));

	private final Set<String> held = ConcurrentHashMap.newKeySet();

	private SessionStore watched() {
		return (SessionStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { SessionStore.class },
				(proxy, method, arguments) -> {
					if (!LOCAL.contains(method.getName())) {
						look();
					}
					try {
						return method.invoke(this.memory, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/** A call on a thread that is no caller's is made for a caller that waits. */
	private void look() {
		AtomicInteger asked = this.callers.get(Thread.currentThread());
		if (asked != null) {
			asked.incrementAndGet();
		}
		Set<Thread> asking = (asked != null) ? Set.of(Thread.currentThread()) : this.callers.keySet();
		long[] threads = asking.stream().mapToLong(Thread::getId).toArray();
		for (ThreadInfo thread : ManagementFactory.getThreadMXBean().getThreadInfo(threads, true, false)) {
			if (thread != null) {
				Arrays.stream(thread.getLockedMonitors())
					.map(MonitorInfo::getClassName)
					.filter((name) -> WATCHED.stream().anyMatch(name::startsWith))
					.forEach(this.held::add);
			}
		}
	}

	@Test
	void noneWhileCallsStandInLineAndLeaveIt() throws Exception {
		CountDownLatch stand = new CountDownLatch(1);
		this.model.step((prompt) -> {
			await(stand);
			return Flux.just(this.model.chunk("a", List.of(), true));
		}).says("b");
		List<Thread> callers = List.of(caller("q1"), caller("q2"), caller("q3"));
		for (Thread each : callers) {
			each.start();
			Awaitility.await().until(() -> this.callers.get(each).get() > 2);
		}
		callers.get(2).interrupt();
		callers.get(2).join();
		stand.countDown();
		callers.get(1).join();
		assertThat(this.memory.messages(KEY)).hasSize(4);
		assertThat(this.held).isEmpty();
	}

	@Test
	void noneWhileATurnWaitsContinuesAndFails() {
		this.model.calls(ADD);
		ask("q");
		this.approvals.pending(KEY).forEach((call) -> this.approvals.approve(call, "anna"));
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask(null)).withMessage("down");
		this.model.says("done");
		assertThat(ask(null)).isEqualTo("done");
		assertThat(this.held).isEmpty();
	}

	private Thread caller(String text) {
		Thread caller = new Thread(() -> {
			try {
				ask(text);
			}
			catch (RuntimeException ex) {
				// it was interrupted in line
			}
		});
		this.callers.put(caller, new AtomicInteger());
		return caller;
	}

	private String ask(String text) {
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations)
			.approvals(this.approvals)
			.concurrency(Concurrency.SERIALIZE)
			.build();
		ChatClient.ChatClientRequestSpec call = ChatClient.builder(this.model)
			.defaultAdvisors(advisor)
			.defaultToolCallbacks(SessionAdvisorTests.echo("add"))
			.build()
			.prompt()
			.advisors(SessionAdvisor.session(KEY));
		return ((text != null) ? call.user(text) : call).call().content();
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
