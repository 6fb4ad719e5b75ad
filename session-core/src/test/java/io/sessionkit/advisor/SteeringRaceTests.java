package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.ValidSequence;
import io.sessionkit.test.WorkingModel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers of two instances steer one session at seeded moments, also while turns end, and
 * some of them disconnect.
 */
class SteeringRaceTests {

	private static final int CALLERS = 6;

	private static final int QUESTIONS = Integer.getInteger("sessionkit.questions", 15);

	/** The answer that a caller got. */
	private record Told(String question, String reply, long turn, boolean steered) {
	}

	private final SessionKey key = SessionKey.of("order", UUID.randomUUID().toString());

	private final WorkingModel model = new WorkingModel("look");

	private final Set<Told> told = ConcurrentHashMap.newKeySet();

	private final Set<String> cut = ConcurrentHashMap.newKeySet();

	private final AtomicInteger asked = new AtomicInteger();

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void eachMessageIsInOneTurnAndItsCallerGetsTheReplyOfThatTurn(TestStores kind) throws Exception {
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		SessionStore store = kind.create();
		this.model.before((prompt) -> pause(3));
		ExecutorService threads = Executors.newCachedThreadPool();
		try (Conversations one = Conversations.builder(store).lease(Duration.ofSeconds(20)).build();
				Conversations other = Conversations.builder(store).lease(Duration.ofSeconds(20)).build()) {
			List<ChatClient> chats = List.of(chat(one), chat(other));
			List<Future<?>> done = new ArrayList<>();
			for (int i = 0; i < CALLERS; i++) {
				String name = "c" + i;
				Random random = new Random(seed * CALLERS + i);
				done.add(threads.submit(() -> ask(chats.get(random.nextInt(2)), name, random)));
			}
			for (Future<?> caller : done) {
				caller.get(120, TimeUnit.SECONDS);
			}
			for (int i = 0; i < 2_000 && !store.records(this.key, "line").isEmpty(); i++) {
				TimeUnit.MILLISECONDS.sleep(5);
			}
		}
		finally {
			threads.shutdownNow();
		}
		long steered = this.told.stream().filter(Told::steered).count();
		System.out.println("Steering on " + kind + ", seed " + seed + ": " + this.asked + " calls, " + steered
				+ " have joined a turn, " + this.cut.size() + " cut");
		assertThat(steered).isPositive();
		check(store);
	}

	private void ask(ChatClient chat, String name, Random random) {
		for (int i = 0; i < QUESTIONS; i++) {
			String question = name + "-" + i + ":" + random.nextInt(4);
			ChatClient.ChatClientRequestSpec call = chat.prompt()
				.user(question)
				.advisors(SessionAdvisor.session(this.key));
			this.asked.incrementAndGet();
			switch (random.nextInt(5)) {
				case 0 -> {
					this.cut.add(question);
					call.stream().chatResponse().take(Duration.ofMillis(random.nextInt(40))).blockLast();
				}
				case 1, 2 -> {
					List<ChatResponse> all = call.stream().chatResponse().collectList().block();
					told(question, all.get(0).getResult().getOutput().getText(), all.get(all.size() - 1));
				}
				default -> {
					ChatResponse response = call.call().chatResponse();
					told(question, response.getResult().getOutput().getText(), response);
				}
			}
			pause(random.nextInt(6));
		}
	}

	/** A stream has the text of all rounds; those that call tools have none. */
	private void told(String question, String reply, ChatResponse last) {
		Turn turn = SessionAdvisor.turn(last).orElseThrow().turn();
		this.told.add(new Told(question, reply, turn.number(), SessionAdvisor.isSteered(last)));
	}

	private void check(SessionStore store) {
		Map<String, Long> turns = new HashMap<>();
		Map<Long, String> replies = new HashMap<>();
		for (Turn turn : store.turns(this.key, Tail.ALL)) {
			if (turn.status() == TurnStatus.COMPLETED) {
				List<Message> messages = store.items(this.key, turn.number())
					.stream()
					.map((item) -> item.message())
					.toList();
				List<String> questions = messages.stream()
					.filter(UserMessage.class::isInstance)
					.map(Message::getText)
					.toList();
				questions.forEach((question) -> assertThat(turns.put(question, turn.number())).as(question).isNull());
				String reply = messages.get(messages.size() - 1).getText();
				assertThat(reply).isEqualTo("a of " + String.join("+", questions));
				replies.put(turn.number(), reply);
			}
			else {
				assertThat(turn.status()).isEqualTo(TurnStatus.CANCELLED);
			}
		}
		for (Told each : this.told) {
			assertThat(turns).containsEntry(each.question(), each.turn());
			if (!each.reply().isEmpty()) {
				assertThat(each.reply()).isEqualTo(replies.get(each.turn()));
			}
		}
		assertThat(this.told.size() + this.cut.size()).isEqualTo(this.asked.get());
		assertThat(store.records(this.key, "line")).isEmpty();
		this.model.prompts().forEach((prompt) -> assertThat(ValidSequence.faults(prompt.getInstructions())).isEmpty());
	}

	private ChatClient chat(Conversations conversations) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).concurrency(Concurrency.STEER).build())
			.defaultTools(FunctionToolCallback.builder("look", (Object nothing) -> {
				pause(5);
				return "seen";
			}).description("looks").inputType(Object.class).build())
			.build();
	}

	private static void pause(int millis) {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
	}

}
