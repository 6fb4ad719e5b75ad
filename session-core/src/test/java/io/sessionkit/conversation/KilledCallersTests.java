package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls of several processes stand in line on one session, while processes are killed or
 * stopped. {@code -Dsessionkit.kills=50} kills so many on each server.
 */
@Order(1)
class KilledCallersTests {

	private static final int KILLS = Integer.getInteger("sessionkit.kills", 2);

	private static final int CALLERS = 8;

	/** Longer than a lease, so that some process sees that of a killed one run out. */
	private static final long LONGEST_LIFE_MILLIS = QueueingProcess.LEASE.multipliedBy(4).dividedBy(3).toMillis();

	enum Server {

		POSTGRESQL {

			@Override
			SharedStore shared() {
				return SharedStore.inPostgres();
			}

		},

		MARIADB {

			@Override
			SharedStore shared() {
				return SharedStore.inMariaDb();
			}

		},

		REDIS {

			@Override
			SharedStore shared() {
				return SharedStore.inRedis();
			}

		};

		abstract SharedStore shared();

	}

	/** The report of a process about a call. */
	private record Answered(String question, long turn, long millis, long at) {

		static Answered parse(String line) {
			String[] words = line.split(" ");
			assertThat(words[0]).as(line).isEqualTo("answered");
			return new Answered(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4]));
		}

		String caller() {
			return this.question.substring(0, this.question.lastIndexOf('-'));
		}

	}

	@ParameterizedTest
	@EnumSource
	void everyAnswerIsATurnOfTheLogAndNoCallerWaitsForAKilledOne(Server server) {
		SharedStore shared = server.shared();
		SessionKey key = SessionKey.of(UUID.randomUUID().toString());
		List<Answered> answers = run(shared, key, "callers");
		try (SharedStore.Connected connected = shared.connect()) {
			check(answers, connected.store(), key);
		}
		report(server, answers, "");
	}

	@ParameterizedTest
	@EnumSource
	void everyMessageIsInOneTurnAlsoIfTheProcessOfItsCallOrOfThatTurnIsKilled(Server server) {
		SharedStore shared = server.shared();
		SessionKey key = SessionKey.of(UUID.randomUUID().toString());
		List<Answered> answers = run(shared, key, "steerers");
		try (SharedStore.Connected connected = shared.connect()) {
			Map<String, Long> turns = turnsOfMessages(connected.store(), key);
			answers.forEach((answer) -> assertThat(turns).containsEntry(answer.question(), answer.turn()));
			assertThat(turns.size() - answers.size()).as("stored and not said").isBetween(0, KILLS * CALLERS);
			assertThat(connected.store().records(key, "line")).isEmpty();
			checkThatRepeatedRequestsAreNotPaidFor(connected.store(), key, turns);
			long joined = turns.size() - turns.values().stream().distinct().count();
			assertThat(joined).isPositive();
			report(server, answers, ", " + joined + " messages have joined a turn");
		}
	}

	/** Each message is in one turn, which answers all that are in it. */
	private static Map<String, Long> turnsOfMessages(SessionStore store, SessionKey key) {
		Map<String, Long> turns = new HashMap<>();
		store.turns(key, Tail.ALL).forEach((turn) -> {
			assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
			List<Message> messages = store.items(key, turn.number()).stream().map((item) -> item.message()).toList();
			List<String> questions = messages.stream()
				.filter(UserMessage.class::isInstance)
				.map(Message::getText)
				.toList();
			assertThat(messages.get(messages.size() - 1).getText()).isEqualTo("a of " + String.join("+", questions));
			questions.forEach((each) -> assertThat(turns.put(each, turn.number())).as("turns of %s", each).isNull());
		});
		return turns;
	}

	/** Kills processes whose calls stand in line, and returns what they have said. */
	private static List<Answered> run(SharedStore shared, SessionKey key, String order) {
		List<Answered> answers = new ArrayList<>();
		OtherProcess[] processes = { callers(shared, key, "p1", order), callers(shared, key, "p2", order) };
		for (int i = 0; i < KILLS; i++) {
			sleep(ThreadLocalRandom.current().nextLong(LONGEST_LIFE_MILLIS));
			int killed = ThreadLocalRandom.current().nextInt(2);
			processes[killed].kill().forEach((line) -> answers.add(Answered.parse(line)));
			processes[killed] = callers(shared, key, "p" + (3 + i), order);
		}
		sleep(LONGEST_LIFE_MILLIS);
		for (OtherProcess process : processes) {
			process.tell("end");
			for (String line = process.hear(); !line.equals("ended"); line = process.hear()) {
				answers.add(Answered.parse(line));
			}
			process.close();
		}
		return answers;
	}

	private static void report(Server server, List<Answered> answers, String more) {
		System.out.println(KILLS + " kills on " + server + ": " + answers.size() + " answers, the longest call "
				+ answers.stream().mapToLong(Answered::millis).max().orElse(0) + " ms, the longest time without one "
				+ longestGap(answers) + " ms" + more);
		assertThat(longestGap(answers)).isLessThan(QueueingProcess.TIMEOUT.toMillis());
	}

	private static void check(List<Answered> answers, SessionStore store, SessionKey key) {
		List<String> log = store.messages(key).stream().map(Message::getText).toList();
		Map<String, Long> turns = new HashMap<>();
		store.turns(key, Tail.ALL).forEach((turn) -> {
			assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
			List<Message> messages = store.items(key, turn.number()).stream().map((item) -> item.message()).toList();
			String question = messages.get(0).getText();
			assertThat(messages).extracting(Message::getText).containsExactly(question, "a of " + question);
			assertThat(turns.put(question, turn.number())).as("turns of %s", question).isNull();
		});
		assertThat(log).hasSize(2 * turns.size());
		assertThat(answers).isNotEmpty();
		Map<String, Long> last = new HashMap<>();
		for (Answered answer : answers) {
			assertThat(turns).containsEntry(answer.question(), answer.turn());
			Long before = last.put(answer.caller(), answer.turn());
			assertThat(answer.turn()).as("turn of %s", answer).isGreaterThan((before != null) ? before : 0);
		}
		assertThat(turns.size() - answers.size()).as("stored and not said").isBetween(0, KILLS * CALLERS);
		assertThat(store.records(key, "line")).isEmpty();
		checkThatRepeatedRequestsAreNotPaidFor(store, key, turns);
	}

	/** Among these are the turns whose answers the killed processes could not give. */
	private static void checkThatRepeatedRequestsAreNotPaidFor(SessionStore store, SessionKey key,
			Map<String, Long> turns) {
		try (Conversations conversations = Conversations.of(store)) {
			ChatClient chat = ChatClient.builder((ChatModel) (prompt) -> {
				throw new AssertionError("The model was called again.");
			}).defaultAdvisors(SessionAdvisor.of(conversations)).build();
			turns.forEach((question, number) -> {
				ChatResponse again = chat.prompt()
					.user(question)
					.advisors(SessionAdvisor.session(key).andThen(SessionAdvisor.idempotencyKey(question)))
					.call()
					.chatResponse();
				assertThat(again.getResult().getOutput().getText().substring("a of ".length()).split("\\+"))
					.contains(question);
				assertThat(SessionAdvisor.turn(again).orElseThrow().turn().number()).isEqualTo(number);
			});
		}
	}

	private static long longestGap(List<Answered> answers) {
		List<Long> times = answers.stream().map(Answered::at).sorted().toList();
		long longest = 0;
		for (int i = 1; i < times.size(); i++) {
			longest = Math.max(longest, times.get(i) - times.get(i - 1));
		}
		return longest;
	}

	/** It does not know that it was stopped. */
	@ParameterizedTest
	@EnumSource
	void callThatWasStoppedForLongerThanItsLeaseChangesNothing(Server server) {
		SharedStore shared = server.shared();
		SessionKey key = SessionKey.of(UUID.randomUUID().toString());
		try (OtherProcess process = OtherProcess.start(QueueingProcess.class, shared.words());
				SharedStore.Connected connected = shared.connect();
				Conversations conversations = Conversations.builder(connected.store())
					.lease(QueueingProcess.LEASE)
					.build()) {
			process.tell("hold " + key.id() + " stopped");
			process.hear("called");
			process.freeze();
			ChatClient chat = ChatClient.builder(QueueingProcess::answer)
				.defaultAdvisors(SessionAdvisor.builder(conversations).concurrency(Concurrency.SERIALIZE).build())
				.build();
			assertThat(chat.prompt().user("next").advisors(SessionAdvisor.session(key)).call().content())
				.isEqualTo("a of next");
			process.wake();
			process.tell("go on");
			process.hear("failed stopped " + SessionConflictException.class.getSimpleName());
			assertThat(connected.store().messages(key)).extracting(Message::getText)
				.containsExactly("next", "a of next");
			assertThat(chat.prompt().user("then").advisors(SessionAdvisor.session(key)).call().content())
				.isEqualTo("a of then");
			assertThat(connected.store().records(key, "line")).isEmpty();
		}
	}

	private static OtherProcess callers(SharedStore shared, SessionKey key, String name, String order) {
		OtherProcess process = OtherProcess.start(QueueingProcess.class, shared.words());
		process.tell(order + " " + key.id() + " " + name + " " + CALLERS);
		return process;
	}

	private static void sleep(long millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
