package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thousand calls of 8 clients that repeat requests: a client loses its connection while
 * the call goes on, answers of the store are lost before and after the model was called,
 * and the same request arrives at two instances at once.
 */
class RepeatedRequestTests {

	private static final int CLIENTS = 8;

	private static final int REQUESTS = 100;

	private static final int CALLS_PER_CLIENT = 125;

	private final SessionKey key = SessionKey.of("order", UUID.randomUUID().toString());

	private final CountedModel model = new CountedModel(3);

	private final Map<String, Set<String>> replies = new ConcurrentHashMap<>();

	private final AtomicInteger calls = new AtomicInteger();

	private final AtomicInteger cuts = new AtomicInteger();

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void eachRequestIsOneTurnAndOneModelCall(TestStores kind) throws Exception {
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		SessionStore store = kind.create();
		List<Conversations> instances = List.of(instance(store, seed), instance(store, seed + 1));
		ExecutorService clients = Executors.newCachedThreadPool();
		try {
			List<Future<?>> done = new ArrayList<>();
			for (int i = 0; i < CLIENTS; i++) {
				Random random = new Random(seed * CLIENTS + i);
				done.add(clients.submit(() -> repeat(instances, clients, random)));
			}
			for (Future<?> client : done) {
				client.get(300, TimeUnit.SECONDS);
			}
		}
		finally {
			clients.shutdown();
			assertThat(clients.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
			instances.forEach(Conversations::close);
		}
		System.out.println("Repeated requests on " + kind + ", seed " + seed + ": " + this.calls + " calls, "
				+ this.cuts + " cut");
		assertThat(this.calls.get()).isGreaterThanOrEqualTo(CLIENTS * CALLS_PER_CLIENT);
		assertThat(this.cuts.get()).isGreaterThan(20);
		this.replies.forEach((question, answers) -> {
			assertThat(answers).as(question).containsExactly("a of " + question);
			assertThat(this.model.calls(question)).as(question).isEqualTo(1);
		});
		List<Turn> turns = store.turns(this.key, Tail.ALL);
		assertThat(turns).hasSize(this.replies.size()).allMatch((turn) -> turn.status() == TurnStatus.COMPLETED);
		assertThat(Lines.of(store.messages(this.key))).doesNotHaveDuplicates();
		assertThat(store.records(this.key, "line")).isEmpty();
	}

	/** Each process loses answers of its own. */
	private Conversations instance(SessionStore store, long seed) {
		ObservedStore observed = new ObservedStore(store);
		Random random = new Random(seed);
		observed.afterPut((record) -> lose(random));
		observed.afterCommit(() -> lose(random));
		return Conversations.builder(observed).lease(Duration.ofSeconds(5)).build();
	}

	private void lose(Random random) {
		boolean lost;
		synchronized (random) {
			lost = random.nextInt(40) == 0;
		}
		if (lost) {
			this.cuts.incrementAndGet();
			throw new StoreUnavailableException("The store's answer was lost.", null);
		}
	}

	private void repeat(List<Conversations> instances, ExecutorService threads, Random random) {
		List<ChatClient> chats = instances.stream().map(this::chat).toList();
		for (int i = 0; i < CALLS_PER_CLIENT; i++) {
			String question = "q" + random.nextInt(REQUESTS);
			String reply = null;
			while (reply == null) {
				ChatClient chat = chats.get(random.nextInt(chats.size()));
				boolean stream = random.nextBoolean();
				Future<String> call = threads.submit(() -> ask(chat, question, stream));
				reply = read(call, (random.nextInt(5) == 0) ? random.nextInt(20) : 60_000);
			}
			this.replies.computeIfAbsent(question, (key) -> ConcurrentHashMap.newKeySet()).add(reply);
		}
	}

	/** Returns null if the client has to ask again. */
	private String read(Future<String> call, long millis) {
		this.calls.incrementAndGet();
		try {
			return call.get(millis, TimeUnit.MILLISECONDS);
		}
		catch (TimeoutException ex) {
			this.cuts.incrementAndGet();
			return null;
		}
		catch (Exception ex) {
			assertThat(ex).hasStackTraceContaining("The store's answer was lost.");
			return null;
		}
	}

	private ChatClient chat(Conversations conversations) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).concurrency(Concurrency.SERIALIZE).build())
			.build();
	}

	private String ask(ChatClient chat, String question, boolean stream) {
		ChatClient.ChatClientRequestSpec call = chat.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey("request " + question)));
		return stream ? String.join("", call.stream().content().collectList().block()) : call.call().content();
	}

}
