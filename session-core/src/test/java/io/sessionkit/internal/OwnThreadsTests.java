package io.sessionkit.internal;

import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.SessionTitles;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SummaryContext;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.summary.SummaryCalls;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No thread has what belongs to whoever happened to need it first, and each one finds the
 * classes of the application.
 */
class OwnThreadsTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final Runnable NOTHING = () -> {
	};

	private static final InheritableThreadLocal<String> user = new InheritableThreadLocal<>();

	private final ClassLoader before = Thread.currentThread().getContextClassLoader();

	/** As it is of a jar with jars in it, or of a war. */
	private final ClassLoader application = new URLClassLoader(new URL[0], getClass().getClassLoader());

	/**
	 * A kind of threads.
	 *
	 * @param name the beginning of their names
	 * @param build builds what has the threads, and returns what has one of them run a
	 * task and tells what is to be closed at the end
	 */
	record Kind(String name, Function<Runnable, Callable<?>> build) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	/** What was found on a thread. */
	record Found(String thread, boolean daemon, @Nullable String inherited, ClassLoader loader) {

		static Found here() {
			Thread thread = Thread.currentThread();
			return new Found(thread.getName(), thread.isDaemon(), user.get(), thread.getContextClassLoader());
		}

	}

	@AfterEach
	void forget() {
		user.remove();
		Thread.currentThread().setContextClassLoader(this.before);
	}

	/** Several applications may share these, so the one whose work it is counts. */
	static Stream<Kind> shared() {
		return Stream.of(new Kind("sessionkit-stream-", (task) -> () -> WaitingThread.run(called(task)).block()),
				new Kind("sessionkit-store-", (task) -> () -> WaitingThread.runAtStore(called(task)).block()),
				new Kind("sessionkit-uninterrupted-", (task) -> () -> Uninterrupted.call(called(task)::call)),
				new Kind("sessionkit-tool-", OwnThreadsTests::toolWithALimit),
				new Kind("sessionkit-model-", OwnThreadsTests::modelBesideAGuard),
				new Kind("sessionkit-cancel-", OwnThreadsTests::cancelledModel));
	}

	/**
	 * These belong to an object of one application, which may be used from any thread.
	 */
	static Stream<Kind> owned() {
		return Stream.of(new Kind("sessionkit-lease", OwnThreadsTests::renewal),
				new Kind("sessionkit-summary-", OwnThreadsTests::summary),
				new Kind("sessionkit-summarize-", OwnThreadsTests::summaryOfASession),
				new Kind("sessionkit-titles", OwnThreadsTests::title),
				new Kind("sessionkit-purge", OwnThreadsTests::purge), new Kind("looking", OwnThreadsTests::look));
	}

	@ParameterizedTest
	@MethodSource("shared")
	void threadThatIsSharedHasTheClassLoaderOfItsWork(Kind kind) throws Exception {
		CompletableFuture<Found> found = new CompletableFuture<>();
		user.set("ada");
		Thread.currentThread().setContextClassLoader(this.application);
		assertFound(kind, found, kind.build().apply(() -> found.complete(Found.here())));
	}

	@ParameterizedTest
	@MethodSource("owned")
	void threadOfAnObjectHasTheClassLoaderWithWhichThatWasBuilt(Kind kind) throws Exception {
		CompletableFuture<Found> found = new CompletableFuture<>();
		user.set("ada");
		Thread.currentThread().setContextClassLoader(this.application);
		Callable<?> start = kind.build().apply(() -> found.complete(Found.here()));
		Thread.currentThread().setContextClassLoader(ClassLoader.getSystemClassLoader());
		assertFound(kind, found, start);
	}

	private void assertFound(Kind kind, CompletableFuture<Found> found, Callable<?> start) throws Exception {
		Object used = start.call();
		try {
			assertThat(found.get(10, TimeUnit.SECONDS)).satisfies((there) -> {
				assertThat(there.thread()).startsWith(kind.name());
				assertThat(there.daemon()).isTrue();
				assertThat(there.inherited()).isNull();
				assertThat(there.loader()).isSameAs(this.application);
			});
		}
		finally {
			if (used instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

	/** Otherwise it would keep an application in memory that has ended. */
	@Test
	void threadThatIsSharedKeepsNoClassLoaderWhenItsWorkIsDone() throws Exception {
		SharedThreads threads = SharedThreads.queueing("shared-", 1, Duration.ofMinutes(1));
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		Thread.currentThread().setContextClassLoader(this.application);
		threads.submit(() -> thread.complete(Thread.currentThread())).get();
		threads.shutdown();
		assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
		assertThat(thread.join().getContextClassLoader()).isNotSameAs(this.application);
	}

	/** The common pool of the JDK has the class loader of the system. */
	@Test
	void classLoaderAboveThatOfSessionKitIsNoneOfAnApplication() {
		Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
		assertThat(OwnThreads.loader()).isSameAs(OwnThreads.own());
		Thread.currentThread().setContextClassLoader(null);
		assertThat(OwnThreads.loader()).isSameAs(OwnThreads.own());
		Thread.currentThread().setContextClassLoader(this.application);
		assertThat(OwnThreads.loader()).isSameAs(this.application);
	}

	private static Callable<String> called(Runnable task) {
		return () -> {
			task.run();
			return "done";
		};
	}

	private static Callable<?> toolWithALimit(Runnable task) {
		ScriptedChatModel model = new ScriptedChatModel().calls(new ToolCall("c1", "function", "work", "{}"))
			.says("fine");
		Conversations conversations = Conversations.builder(store()).toolTimeout(Duration.ofMinutes(1)).build();
		return () -> call(model, conversations).tools(FunctionToolCallback.builder("work", () -> {
			task.run();
			return "done";
		}).build()).call().content();
	}

	private static Callable<?> modelBesideAGuard(Runnable task) {
		SessionHook guard = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return HookResult.keep();
			}

			@Override
			public boolean runsBesideModel() {
				return true;
			}

		};
		return () -> call(answering(task), Conversations.builder(store()).hooks(guard).build()).call().content();
	}

	private static Callable<?> cancelledModel(Runnable task) {
		ScriptedChatModel model = new ScriptedChatModel();
		model.step((prompt) -> Flux.concat(Flux.just(model.chunk("half", List.of(), false)), Flux.never())
			.doOnCancel(task));
		return () -> {
			CountDownLatch begun = new CountDownLatch(1);
			Disposable reader = call(model, Conversations.of(store())).stream()
				.content()
				.subscribe((text) -> begun.countDown());
			begun.await();
			reader.dispose();
			return reader;
		};
	}

	private static Callable<?> renewal(Runnable task) {
		Renewals renewals = new Renewals();
		return () -> {
			renewals.start(Duration.ofSeconds(1), () -> "It", task);
			return renewals;
		};
	}

	private static Callable<?> summary(Runnable task) {
		SummaryCalls calls = new SummaryCalls();
		return () -> {
			calls.ask(answering(task), "Summarize.", Duration.ofMinutes(1));
			return calls;
		};
	}

	private static Callable<?> summaryOfASession(Runnable task) {
		SessionStore store = store();
		store.add(KEY, List.of(new UserMessage("before")));
		Conversations conversations = Conversations.builder(store)
			.hooks(checkingSummaries(task))
			.summarize(Summarize.by(answering(NOTHING))
				.mode(Summarize.Mode.BACKGROUND)
				.triggerMessages(1)
				.keepTurns(0)
				.build())
			.build();
		return () -> {
			call(answering(NOTHING), conversations).call().content();
			return conversations;
		};
	}

	private static Callable<?> title(Runnable task) {
		SessionStore store = store();
		SessionTitles titles = SessionTitles.by(store, answering(NOTHING), List.of(checkingSummaries(task)));
		Conversations conversations = Conversations.builder(store).listeners(titles).build();
		return () -> {
			call(answering(NOTHING), conversations).call().content();
			return conversations;
		};
	}

	private static Callable<?> purge(Runnable task) {
		SessionPurge purge = SessionPurge.builder(deleting(task)).interval(Duration.ofMillis(1)).batchSize(1).start();
		return () -> purge;
	}

	private static Callable<?> look(Runnable task) {
		LookingThread thread = new LookingThread("looking", "Nothing", task, Duration.ofHours(1));
		return () -> {
			thread.start();
			return thread;
		};
	}

	private static SessionHook checkingSummaries(Runnable task) {
		return new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeSummary(SummaryContext context, List<Message> messages) {
				task.run();
				return HookResult.keep();
			}

		};
	}

	private static SessionStore store() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	private static SessionStore deleting(Runnable task) {
		return (SessionStore) Proxy.newProxyInstance(OwnThreadsTests.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					task.run();
					return 0;
				});
	}

	private static ScriptedChatModel answering(Runnable task) {
		ScriptedChatModel model = new ScriptedChatModel();
		return model.step((prompt) -> {
			task.run();
			return Flux.just(model.chunk("fine", List.of(), true));
		});
	}

	private static ChatClientRequestSpec call(ScriptedChatModel model, Conversations conversations) {
		return ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.build()
			.prompt()
			.messages(new UserMessage("a question"))
			.advisors(SessionAdvisor.session(KEY));
	}

}
