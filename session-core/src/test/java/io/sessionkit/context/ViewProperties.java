package io.sessionkit.context;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.ViewRules.Part;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.view.DistinctIds;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random threads under every combination of limits, layouts and hooks, each turn under
 * another one, driven through real clients. After each turn the invariants are checked:
 * <ol>
 * <li>every request is a valid sequence that ends with the current turn,</li>
 * <li>limits hold, or the breach is reported,</li>
 * <li>what is stored is what was said, whatever was done to requests; hooks make the same
 * of the same, and nothing more of what they have made; nobody's messages are
 * changed,</li>
 * <li>the snapshot is what was sent.</li>
 * </ol>
 */
@Order(2)
class ViewProperties {

	/** Turns whose requests are checked; there are never fewer than combinations. */
	private static final int CASES = Integer.getInteger("sessionkit.requests", 0);

	private static final int TURNS = 6;

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens(ViewChecks.TOKENS));

	private final Map<String, Integer> met = new HashMap<>();

	private final Set<ViewRules> tried = new HashSet<>();

	/** Summaries that fail, and turns that are too large, are what is tried here. */
	@BeforeAll
	static void doNotLogWhatIsPlanned() {
		logger().setLevel(Level.ERROR);
	}

	@AfterAll
	static void logAgain() {
		logger().setLevel(null);
	}

	private static Logger logger() {
		return (Logger) LoggerFactory.getLogger("io.sessionkit.internal");
	}

	@Test
	void invariantsHoldForEveryCombinationOfHooks() {
		long first = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		System.out.println("ViewProperties: seed " + first);
		List<ViewRules> all = ViewRules.all();
		Collections.shuffle(all, new Random(first));
		int turns = 0;
		for (long seed = first; count("cases") < CASES || turns < all.size(); seed++) {
			RandomThread thread = new RandomThread(seed, "seed " + first + ", thread " + (seed - first));
			for (int i = 0; i < TURNS; i++) {
				thread.turn(all.get(turns++ % all.size()));
			}
			this.store.clear(thread.key);
		}
		System.out.println("ViewProperties: " + this.met);
		assertThat(this.tried).hasSize(all.size());
		assertThat(this.met.keySet()).contains("over limit", "summaries", "summaries that failed", "retries", "refused",
				"failed", "left out", "placeholders");
	}

	private int count(String what) {
		return this.met.getOrDefault(what, 0);
	}

	private void meet(String what, boolean so) {
		if (so) {
			this.met.merge(what, 1, Integer::sum);
		}
	}

	private final class RandomThread {

		private final Random random;

		private final String name;

		private final SessionKey key = SessionKey.of("views", UUID.randomUUID().toString());

		private final Set<Integer> questionsWithParameters = new HashSet<>();

		private int number;

		private String mood = "";

		private List<String> log;

		RandomThread(long seed, String name) {
			this.random = new Random(seed);
			this.name = name;
			for (int i = this.random.nextInt(4); i > 0; i--) {
				ViewProperties.this.store.add(this.key, seed(++this.number));
			}
			this.log = log();
		}

		/**
		 * Returns messages that an application may put into a thread, whole or not.
		 */
		private List<Message> seed(int number) {
			Message user = UserMessage.builder()
				.text("s" + number + ".")
				.metadata(Map.of(ViewRules.PIN, this.random.nextInt(4) == 0))
				.build();
			return switch (this.random.nextInt(8)) {
				case 0 -> List.of(new AssistantMessage("greeting"));
				case 1 -> List.of(new SystemMessage("rhyme " + number), user, new AssistantMessage("a"));
				case 2 -> List.of(user, calls("x"));
				case 3 -> List.of(results("orphan"), user);
				case 4 -> List.of(user);
				case 5 -> List.of(user, calls(""), results(""), new AssistantMessage("a"));
				default -> List.of(user, new AssistantMessage("a"));
			};
		}

		void turn(ViewRules rules) {
			ViewTurn turn = new ViewTurn(rules, this.random, ++this.number);
			String about = this.name + ", turn " + this.number + " under " + rules;
			if (this.random.nextInt(5) == 0 && turn.modelCalls() > 0) {
				ViewCall.Called failed = call(turn, this.random.nextInt(turn.modelCalls()), about + ", first attempt");
				ViewCall.Called again = call(turn, Integer.MAX_VALUE, about);
				assertThat(requests(again).subList(0, failed.prompts().size())).as("%s: the same again", about)
					.isEqualTo(requests(failed));
				meet("retries", true);
			}
			else {
				call(turn, Integer.MAX_VALUE, about);
			}
			ViewProperties.this.tried.add(rules);
		}

		private ViewCall.Called call(ViewTurn turn, int lastCall, String about) {
			String summary = summary();
			List<Map<String, Object>> metadata = turn.input.stream()
				.map((message) -> Map.copyOf(message.getMetadata()))
				.toList();
			ViewCall.Called called = new ViewCall(turn).on(ViewProperties.this.store, this.key, lastCall);
			boolean completes = turn.completes() && lastCall >= turn.modelCalls();
			boolean expectedCalls = called.prompts().size() == Math.min(turn.modelCalls(),
					(lastCall == Integer.MAX_VALUE) ? lastCall : lastCall + 1);
			assertThat(expectedCalls).as("%s: %s model calls", about, called.prompts().size()).isTrue();
			assertThat(called.failure() == null).as("%s: %s", about, called.failure()).isEqualTo(completes);
			assertThat(called.hookFaults()).as(about).isEmpty();
			assertThat(turn.input).as(about).extracting(Message::getMetadata).isEqualTo(metadata);
			checkSummary(turn, called, summary, about);
			new ViewChecks(turn, called, about).requests(this.mood,
					Conversations.of(ViewProperties.this.store).get(this.key).summary(), this.questionsWithParameters);
			checkLog(turn, called, completes, about);
			checkStatus(turn, called, completes, about);
			if (!called.prompts().isEmpty()) {
				checkSnapshot(turn, called, about);
				meet("cases", true);
			}
			count(turn, called);
			return called;
		}

		private void count(ViewTurn turn, ViewCall.Called called) {
			ViewProperties.this.met.merge("requests", called.prompts().size(), Integer::sum);
			meet("over limit", called.result() != null && called.result().overLimit());
			meet("refused", turn.isRefused());
			meet("failed", turn.fails());
			meet("summaries", called.summaries() > 0);
			meet("summaries that failed", called.summaries() > 0 && turn.hasSummarizerThatFails());
			String text = called.linesWhenSent().toString();
			meet("left out",
					turn.modelCalls() > 0 && called.view()
						.stream()
						.anyMatch((message) -> message instanceof UserMessage && !text.contains(message.getText())));
			meet("placeholders", text.contains("Old result left out"));
		}

		private void checkSummary(ViewTurn turn, ViewCall.Called called, String before, String about) {
			assertThat(called.summaries()).as(about).isLessThanOrEqualTo(turn.rules.has(Part.SUMMARY) ? 1 : 0);
			if (called.summaries() == 0 || turn.hasSummarizerThatFails()) {
				assertThat(summary()).as("%s: nothing has changed", about).isEqualTo(before);
			}
			else {
				assertThat(summary()).as("%s: summarized", about).isNotEqualTo(before);
			}
		}

		private void checkLog(ViewTurn turn, ViewCall.Called called, boolean completes, String about) {
			List<String> expected = new ArrayList<>(this.log);
			if (completes) {
				expected.addAll(turn.said());
				this.mood = turn.mood(turn.modelCalls() - 1, this.mood);
				assertThat(Lines.of(called.result().items().stream().map((item) -> item.message()).toList())).as(about)
					.isEqualTo(turn.said());
				if (turn.rules.has(Part.INPUTS)) {
					this.questionsWithParameters.add(turn.number);
				}
			}
			assertThat(log()).as(about).isEqualTo(expected);
			this.log = expected;
			assertThat(session().map((session) -> session.attributes().getOrDefault("mood", "")).orElse("")).as(about)
				.isEqualTo(this.mood);
		}

		private void checkStatus(ViewTurn turn, ViewCall.Called called, boolean completes, String about) {
			TurnStatus status = (called.failure() instanceof SessionRefusedException) ? TurnStatus.REFUSED
					: TurnStatus.FAILED;
			assertThat(newest().status()).as(about).isEqualTo(completes ? TurnStatus.COMPLETED : status);
		}

		private void checkSnapshot(ViewTurn turn, ViewCall.Called called, String about) {
			SentHistory snapshot = Conversations.of(ViewProperties.this.store)
				.get(this.key)
				.snapshot(newest().number())
				.orElseThrow();
			List<Message> first = ViewChecks.withoutSystem(called.prompts().get(0).getInstructions());
			List<Message> history = first.subList(0, first.size() - turn.saidBefore(0).size());
			// a snapshot has the ids of calls as the log has them, also those that are
			// repeated
			List<Message> shown = DistinctIds.of(snapshot.messages());
			assertThat(shown).as("%s: snapshot", about).isEqualTo(history);
			assertThat(Lines.of(shown)).as("%s: snapshot", about).isEqualTo(Lines.of(history));
			assertThat(snapshot.isComplete()).as("%s: snapshot", about).isTrue();
		}

		private Turn newest() {
			return ViewProperties.this.store.turns(this.key, Tail.newest(1)).get(0);
		}

		private Optional<Session> session() {
			return ViewProperties.this.store.find(this.key);
		}

		private String summary() {
			return session().map(Session::summaryId).orElse("");
		}

		private List<String> log() {
			return Lines.of(ViewProperties.this.store.messages(this.key));
		}

		private static List<List<Message>> requests(ViewCall.Called called) {
			return called.prompts().stream().map(Prompt::getInstructions).toList();
		}

		private static Message calls(String id) {
			return AssistantMessage.builder()
				.content("")
				.toolCalls(List.of(new ToolCall(id, "function", "t", "{}"), new ToolCall(id, "function", "t", "{}")))
				.build();
		}

		private static Message results(String id) {
			return ToolResponseMessage.builder()
				.responses(List.of(new ToolResponse(id, "t", "r".repeat(90)), new ToolResponse(id, "t", "42")))
				.build();
		}

	}

}
