package io.sessionkit.context;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.AdvisorNames;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.view.DistinctIds;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random threads, driven through real clients, on one store: hooks that change the
 * history, limits, summaries, moves of the head to other branches, advisors that copy and
 * add, failures. At the end the snapshot of every turn is what that turn's first model
 * call was sent, without system text and the turn's own messages.
 */
public abstract class SnapshotProperties {

	private static final int TURNS = 8;

	/**
	 * The store to try.
	 */
	protected abstract SessionStore store();

	/**
	 * Returns the number of threads of {@value #TURNS} turns to try.
	 */
	protected abstract int threads();

	@Test
	void snapshotOfEachTurnIsWhatWasSentForGood() {
		long first = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		int threads = threads() * Integer.getInteger("sessionkit.times", 1);
		System.out.println(getClass().getSimpleName() + ": seeds " + first + " to " + (first + threads - 1));
		int messages = 0;
		for (long seed = first; seed < first + threads; seed++) {
			messages += new RandomThread(seed, store()).run();
		}
		assertThat(messages).as("messages in all snapshots").isGreaterThan(threads * TURNS);
	}

	private static final class RandomThread {

		private final long seed;

		private final Random random;

		private final SessionStore store;

		private final SessionKey key = SessionKey.of("snapshots", UUID.randomUUID().toString());

		/** By the number of the turn: what its first request had before its question. */
		private final Map<Long, List<Message>> sent = new TreeMap<>();

		private int names;

		RandomThread(long seed, SessionStore store) {
			this.seed = seed;
			this.random = new Random(seed);
			this.store = store;
		}

		int run() {
			for (int i = 0; i < TURNS; i++) {
				switch (this.random.nextInt(8)) {
					case 0 -> this.store.add(this.key, List.of(new UserMessage(name()), new AssistantMessage(name())));
					case 1, 2 -> moveSummary();
					case 3 -> moveHead();
					default -> {
					}
				}
				turn();
			}
			check();
			return this.sent.values().stream().mapToInt(List::size).sum();
		}

		private void turn() {
			ScriptedChatModel model = script();
			String question = name();
			ClientSetup setup = ClientSetup.all().get(this.random.nextInt(ClientSetup.all().size()));
			SessionAdvisor advisor = SessionAdvisor
				.of(Conversations.builder(this.store).trim(trim()).hooks(hooks()).build());
			ChatClient chat = setup.builder(model, advisor)
				.defaultTools(SessionAdvisorTests.echo("t"))
				.defaultAdvisors(List.copyOf(advisors()))
				.build();
			try {
				setup.response(chat.prompt().user(question).advisors(SessionAdvisor.session(this.key)));
			}
			catch (RuntimeException ex) {
				// a failed turn has its snapshot too
				assertThat(ex).as("%s", this)
					.satisfiesAnyOf((thrown) -> assertThat(thrown).isInstanceOf(ModelFailure.class),
							(thrown) -> assertThat(thrown).hasRootCauseInstanceOf(ModelFailure.class));
			}
			Turn turn = this.store.turns(this.key, Tail.newest(1)).get(0);
			this.sent.put(turn.number(), history(model.prompts().get(0), question));
		}

		private static List<Message> history(Prompt prompt, String question) {
			List<Message> messages = prompt.getInstructions()
				.stream()
				.filter((message) -> !(message instanceof SystemMessage))
				.toList();
			for (int i = 0; i < messages.size(); i++) {
				if (messages.get(i).getText() != null && messages.get(i).getText().contains(question)) {
					return messages.subList(0, i);
				}
			}
			throw new AssertionError("The question is not in " + Lines.of(messages));
		}

		private void check() {
			Conversation conversation = Conversations.of(this.store).get(this.key);
			this.sent.forEach((turn, history) -> {
				Optional<SentHistory> snapshot = conversation.snapshot(turn);
				assertThat(snapshot).as("%s: turn %s", this, turn).isPresent();
				// a snapshot has the ids of calls as the log has them, also those that
				// are repeated
				List<Message> shown = DistinctIds.of(snapshot.get().messages());
				assertThat(Lines.of(shown)).as("%s: turn %s", this, turn).isEqualTo(Lines.of(history));
				assertThat(shown).as("%s: turn %s", this, turn).isEqualTo(history);
				assertThat(snapshot.get().missing()).as("%s: turn %s", this, turn).isZero();
			});
			assertThat(this.sent).hasSize(TURNS);
		}

		private void moveSummary() {
			Optional<Session> session = this.store.find(this.key).filter((header) -> header.head() > 0);
			session.ifPresent((header) -> {
				List<Long> path = path(header.head());
				long turn = path.get(this.random.nextInt(path.size()));
				String id = name();
				TestSummaries.move(this.store, this.key, turn, id, "summary " + id);
			});
		}

		private List<Long> path(long head) {
			Map<Long, Long> parents = new TreeMap<>();
			this.store.turns(this.key, Tail.ALL).forEach((turn) -> parents.put(turn.number(), turn.parent()));
			List<Long> path = new ArrayList<>();
			for (long turn = head; turn > 0; turn = parents.get(turn)) {
				path.add(turn);
			}
			return path;
		}

		private void moveHead() {
			List<Turn> completed = this.store.turns(this.key, Tail.ALL)
				.stream()
				.filter((turn) -> turn.status() == TurnStatus.COMPLETED)
				.toList();
			if (!completed.isEmpty()) {
				long turn = completed.get(this.random.nextInt(completed.size())).number();
				this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.head(Session.MAIN, turn)));
			}
		}

		private ScriptedChatModel script() {
			ScriptedChatModel model = new ScriptedChatModel();
			for (int round = this.random.nextInt(3); round > 0; round--) {
				List<ToolCall> calls = new ArrayList<>();
				for (int i = this.random.nextInt(3); i >= 0; i--) {
					String id = this.random.nextBoolean() ? "" : name();
					calls.add(new ToolCall(id, "function", "t", "{\"value\":\"" + i + "\"}"));
				}
				model.calls(calls.toArray(ToolCall[]::new));
			}
			return (this.random.nextInt(6) == 0) ? model.fails(new ModelFailure()) : model.says(name());
		}

		private Trim trim() {
			return switch (this.random.nextInt(4)) {
				case 0 -> Trim.keepLastTurns(this.random.nextInt(4));
				case 1 -> Trim.keepLastMessages(1 + this.random.nextInt(12));
				default -> Trim.NONE;
			};
		}

		private List<SessionHook> hooks() {
			List<SessionHook> some = new ArrayList<>();
			for (int i = this.random.nextInt(4); i > 1; i--) {
				int kind = this.random.nextInt(5);
				long hookSeed = this.random.nextLong();
				some.add(TestHooks.beforeModel("hook" + kind, (request) -> changed(request, kind, hookSeed)));
			}
			return some;
		}

		/**
		 * A history that is not what it was; the current turn is left alone.
		 */
		private static HookResult<List<Message>> changed(List<Message> request, int kind, long hookSeed) {
			Random choice = new Random(hookSeed);
			int last = lastQuestion(request);
			List<Message> history = new ArrayList<>(request.subList(0, last));
			if (!history.isEmpty()) {
				int index = choice.nextInt(history.size());
				switch (kind) {
					case 0 -> history.subList(0, index).clear();
					case 1 -> history.remove(index);
					case 2 -> Collections.shuffle(history, choice);
					case 3 -> history.add(index, new UserMessage("injected"));
					default -> history.replaceAll(RandomThread::redacted);
				}
			}
			List<Message> all = new ArrayList<>(history);
			all.addAll(request.subList(last, request.size()));
			return HookResult.replace(all);
		}

		private static int lastQuestion(List<Message> request) {
			for (int i = request.size() - 1; i > 0; i--) {
				if (request.get(i) instanceof UserMessage) {
					return i;
				}
			}
			return 0;
		}

		private static Message redacted(Message message) {
			return (message instanceof UserMessage user)
					? UserMessage.builder().text(user.getText().replace("name1", "***")).build() : message;
		}

		private List<BaseAdvisor> advisors() {
			List<BaseAdvisor> some = new ArrayList<>();
			for (int i = this.random.nextInt(4); i > 1; i--) {
				some.add(advisor(this.random.nextInt(4), this.random.nextBoolean()));
			}
			return some;
		}

		private static BaseAdvisor advisor(int kind, boolean insideTheLoop) {
			return new BetweenAdvisor(insideTheLoop ? Ordered.LOWEST_PRECEDENCE - 2 : AdvisorNames.TURN_ORDER + 1) {

				@Override
				protected Prompt changed(Prompt prompt) {
					return switch (kind) {
						case 0 -> prompt.copy();
						case 1 -> prompt.augmentUserMessage(
								(user) -> user.mutate().text("Context: found.\n" + user.getText()).build());
						case 2 -> prompt.augmentSystemMessage("and polite");
						default -> withContextInFront(prompt);
					};
				}

			};
		}

		private static Prompt withContextInFront(Prompt prompt) {
			List<Message> messages = new ArrayList<>(prompt.getInstructions());
			int index = (messages.get(0) instanceof SystemMessage) ? 1 : 0;
			messages.add(index, new UserMessage("What was found."));
			return new Prompt(messages, prompt.getOptions());
		}

		private String name() {
			return "name" + ++this.names + ".";
		}

		@Override
		public String toString() {
			return "seed " + this.seed;
		}

	}

	/**
	 * Changes requests somewhere between the session and the model.
	 */
	abstract static class BetweenAdvisor implements BaseAdvisor {

		private final int order;

		BetweenAdvisor(int order) {
			this.order = order;
		}

		protected abstract Prompt changed(Prompt prompt);

		@Override
		public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
			return request.mutate().prompt(changed(request.prompt())).build();
		}

		@Override
		public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
			return response;
		}

		@Override
		public String getName() {
			return "between";
		}

		@Override
		public int getOrder() {
			return this.order;
		}

	}

	private static final class ModelFailure extends RuntimeException {

	}

	/**
	 * Summaries as a summary hook would write them.
	 */
	public static final class TestSummaries {

		private TestSummaries() {
		}

		public static void move(SessionStore store, SessionKey key, long turn, String id, String summary) {
			String payload = store.options()
				.codec()
				.encodeValues(key, Map.of("turn", turn, "since", 0L, "summary", summary, "at", Instant.EPOCH));
			store.commit(Commit.any(key)
				.header(HeaderChange.NONE.summary(turn, id))
				.records(List.of(RecordWrite.create(SessionStore.SUMMARY, id, payload))));
		}

	}

}
