package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random threads, driven through real clients, on one store: turns with tool rounds and
 * parallel calls, empty ids, calls by whole and by stream, limits, failures of the model
 * and of the store, writers in between, hooks that turn the request inside out. After
 * each turn the invariants are checked:
 * <ol>
 * <li>every request that left is a valid sequence that ends with the current turn,</li>
 * <li>limits hold, or the breach is reported,</li>
 * <li>what is stored is what was said, whatever the request left out,</li>
 * <li>a failure leaves what a reader could have seen before or after the whole turn,</li>
 * <li>where nothing was made to fail, nothing fails.</li>
 * </ol>
 */
abstract class ThreadProperties {

	private static final int TURNS = 6;

	/**
	 * The store to try.
	 */
	protected abstract SessionStore store();

	/**
	 * Returns the number of threads of {@value #TURNS} turns to try.
	 */
	protected abstract int threads();

	@Test
	void invariantsHoldInRandomThreads() {
		long first = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		int threads = threads() * Integer.getInteger("sessionkit.times", 1);
		System.out.println(getClass().getSimpleName() + ": seeds " + first + " to " + (first + threads - 1));
		for (long seed = first; seed < first + threads; seed++) {
			new RandomThread(seed, store()).run();
		}
	}

	private static final class RandomThread {

		private final long seed;

		private final Random random;

		private final ObservedStore store;

		private List<SessionHook> hooks = List.of();

		private final SessionKey key = SessionKey.of("properties", UUID.randomUUID().toString());

		private ScriptedChatModel model = new ScriptedChatModel();

		private final AtomicInteger names = new AtomicInteger();

		private List<String> log = List.of();

		RandomThread(long seed, SessionStore store) {
			this.seed = seed;
			this.random = new Random(seed);
			this.store = new ObservedStore(store);
		}

		void run() {
			for (int i = 0; i < TURNS; i++) {
				if (this.random.nextInt(8) == 0) {
					addByHand();
				}
				turn();
			}
		}

		/**
		 * Adds messages as applications may do it themselves, whole or not.
		 */
		private void addByHand() {
			List<Message> messages = switch (this.random.nextInt(5)) {
				case 0 -> List.of(new AssistantMessage(name("greeting")));
				case 1 -> List.of(calls(2, ""));
				case 2 -> List.of(new UserMessage(name("u")), calls(2, "x"), results("x0"));
				case 3 -> List.of(results("orphan"), new UserMessage(name("u")));
				default -> List.of(new UserMessage(name("u")), new AssistantMessage(name("a")));
			};
			this.store.add(this.key, messages);
			this.log = log();
		}

		private void turn() {
			this.model = new ScriptedChatModel();
			Trim trim = trim();
			this.hooks = hooks();
			ClientSetup setup = ClientSetup.all().get(this.random.nextInt(ClientSetup.all().size()));
			List<String> script = script();
			Fault fault = fault();
			boolean race = this.random.nextInt(12) == 0 && fault == Fault.NONE;
			if (race) {
				this.store.beforeCommit(() -> {
					this.store.beforeCommit(() -> {
					});
					this.store.add(this.key, List.of(new UserMessage(name("race"))));
				});
			}
			this.store.failAt(fault);
			String question = name("q");
			Boolean overLimit = call(setup, trim, question);
			this.store.failAt(Fault.NONE);
			this.store.beforeCommit(() -> {
			});
			if (fault == Fault.NONE && !race && !script.isEmpty()) {
				assertThat(overLimit).as("%s: nothing has failed", this).isNotNull();
			}
			checkRequests(question, trim, overLimit);
			checkLog(question, script, fault, race, overLimit != null);
		}

		/**
		 * @return whether the breach of a limit was reported; null if the call failed
		 */
		private Boolean call(ClientSetup setup, Trim trim, String question) {
			SessionAdvisor advisor = SessionAdvisor
				.of(Conversations.builder(this.store).trim(trim).hooks(this.hooks).build());
			ChatClient chat = setup.builder(this.model, advisor).defaultTools(SessionAdvisorTests.echo("t")).build();
			try {
				return SessionAdvisor
					.turn(setup.response(chat.prompt().user(question).advisors(SessionAdvisor.session(this.key))))
					.orElseThrow()
					.overLimit();
			}
			catch (CommitFailedException | SessionConflictException | StoreUnavailableException | ModelFailure ex) {
				return null;
			}
		}

		private void checkRequests(String question, Trim trim, Boolean overLimit) {
			for (Prompt prompt : this.model.prompts()) {
				List<Message> request = prompt.getInstructions();
				List<String> lines = Lines.of(request);
				assertThat(ValidSequence.faults(request)).as("%s: %s", this, lines).isEmpty();
				assertThat(lines.stream().filter(("user: " + question)::equals)).as("%s: %s", this, lines).hasSize(1);
				if (this.hooks.isEmpty()) {
					assertThat(doubleQuestions(lines)).as("%s: %s", this, lines).isEmpty();
				}
				long earlier = lines.stream().filter((line) -> line.startsWith("user: q")).count() - 1;
				assertThat(earlier).as("%s: %s", this, lines).isLessThanOrEqualTo(trim.maxTurns());
				long current = request.size() - lines.indexOf("user: " + question);
				long all = request.stream().filter((message) -> message.getMessageType() != MessageType.SYSTEM).count();
				if (all > trim.maxMessages()) {
					assertThat(all).as("%s: only the current turn may be over", this).isEqualTo(current);
					assertThat(overLimit).as("%s: the breach is reported", this).isNotEqualTo(false);
				}
				MessageType last = request.get(request.size() - 1).getMessageType();
				assertThat(last).as("%s", this).isIn(MessageType.USER, MessageType.TOOL);
			}
		}

		/**
		 * A question that is followed by another message of the user was never answered.
		 * Only what was put into the thread by hand may stand like that.
		 */
		private static List<String> doubleQuestions(List<String> lines) {
			List<String> found = new ArrayList<>();
			for (int i = 1; i < lines.size(); i++) {
				if (lines.get(i).startsWith("user: ") && lines.get(i - 1).startsWith("user: q")) {
					found.add(lines.get(i - 1));
				}
			}
			return found;
		}

		private void checkLog(String question, List<String> script, Fault fault, boolean race, boolean succeeded) {
			List<String> turn = new ArrayList<>(List.of("user: " + question));
			turn.addAll(script);
			List<String> now = log();
			List<String> whole = new ArrayList<>(this.log);
			whole.addAll(turn);
			if (succeeded) {
				assertThat(now).as("%s", this).isEqualTo(whole);
			}
			else if (race) {
				assertThat(now.subList(0, this.log.size())).as("%s", this).isEqualTo(this.log);
				assertThat(now).as("%s: the other's message alone", this).doesNotContain("user: " + question);
			}
			else if (fault == Fault.ANSWER && !script.isEmpty()) {
				assertThat(now).as("%s", this).isIn(this.log, whole);
			}
			else {
				assertThat(now).as("%s", this).isEqualTo(this.log);
			}
			this.log = now;
		}

		private Trim trim() {
			return switch (this.random.nextInt(4)) {
				case 0 -> Trim.keepLastTurns(this.random.nextInt(4));
				case 1 -> Trim.keepLastMessages(1 + this.random.nextInt(12));
				case 2 -> Trim.keepLastTurns(1 + this.random.nextInt(3)).maxMessages(2 + this.random.nextInt(10));
				default -> Trim.NONE;
			};
		}

		/**
		 * Hooks on the request: most leave the thread as it is, since they are none.
		 */
		private List<SessionHook> hooks() {
			List<SessionHook> some = new ArrayList<>();
			for (int i = this.random.nextInt(4); i > 1; i--) {
				some.add(hook(this.random.nextInt(5), this.random.nextLong()));
			}
			return some;
		}

		/**
		 * A hook that does the same each time that it is asked, to all but the last
		 * message.
		 */
		private SessionHook hook(int kind, long hookSeed) {
			return TestHooks.beforeModel("hook" + kind, (request) -> {
				Random choice = new Random(hookSeed);
				List<Message> changed = new ArrayList<>(request);
				int question = lastQuestion(request);
				switch (kind) {
					case 0 -> changed.subList(firstUser(request), turnStart(request, question, choice)).clear();
					case 1 -> drop(changed, question, choice);
					case 2 -> Collections.shuffle(changed.subList(0, question), choice);
					case 3 -> changed.add(choice.nextInt(question + 1), injected(choice));
					default -> changed.add(choice.nextInt(changed.size()), new UserMessage("injected"));
				}
				return HookResult.replace(changed);
			});
		}

		private static int lastQuestion(List<Message> request) {
			int last = 0;
			for (int i = 0; i < request.size(); i++) {
				if (Lines.of(request).get(i).startsWith("user: q")) {
					last = i;
				}
			}
			return last;
		}

		private static int firstUser(List<Message> request) {
			return (request.get(0).getMessageType() == MessageType.SYSTEM) ? 1 : 0;
		}

		private static int turnStart(List<Message> request, int question, Random choice) {
			List<Integer> starts = new ArrayList<>(List.of(firstUser(request), question));
			for (int i = firstUser(request); i < question; i++) {
				if (request.get(i) instanceof UserMessage) {
					starts.add(i);
				}
			}
			return starts.get(choice.nextInt(starts.size()));
		}

		private static void drop(List<Message> changed, int question, Random choice) {
			int index = choice.nextInt(changed.size());
			if (index != question && index != changed.size() - 1) {
				changed.remove(index);
			}
		}

		private static Message injected(Random choice) {
			return switch (choice.nextInt(4)) {
				case 0 -> new SystemMessage("injected");
				case 1 -> new AssistantMessage("injected");
				case 2 -> calls(2, "");
				default -> results("injected");
			};
		}

		private Fault fault() {
			return (this.random.nextInt(6) == 0) ? Fault.values()[this.random.nextInt(Fault.values().length)]
					: Fault.NONE;
		}

		/**
		 * Tells the model what to answer.
		 * @return what the turn adds behind its question; none if the model fails
		 */
		private List<String> script() {
			List<String> lines = new ArrayList<>();
			int rounds = this.random.nextInt(4);
			for (int round = 0; round < rounds; round++) {
				AssistantMessage calls = calls(1 + this.random.nextInt(3),
						this.random.nextInt(3) == 0 ? "" : "r" + round + "-");
				this.model.calls(calls.getToolCalls().toArray(ToolCall[]::new));
				lines.addAll(Lines.of(List.of(calls)));
				StringBuilder results = new StringBuilder("tool");
				for (int i = 0; i < calls.getToolCalls().size(); i++) {
					results.append(" t=").append(i);
				}
				lines.add(results.toString());
			}
			if (this.random.nextInt(8) == 0) {
				this.model.fails(new ModelFailure());
				return List.of();
			}
			String answer = name("a");
			this.model.says(answer);
			lines.add("assistant: " + answer);
			return lines;
		}

		private List<String> log() {
			return Lines.of(this.store.messages(this.key));
		}

		private String name(String kind) {
			return kind + this.names.incrementAndGet();
		}

		private static AssistantMessage calls(int count, String id) {
			List<ToolCall> calls = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				calls.add(new ToolCall(id.isEmpty() ? "" : id + i, "function", "t", "{\"value\":\"" + i + "\"}"));
			}
			return AssistantMessage.builder().content("").toolCalls(calls).build();
		}

		private static Message results(String id) {
			return ToolResponseMessage.builder().responses(List.of(new ToolResponse(id, "t", "0"))).build();
		}

		@Override
		public String toString() {
			return "seed " + this.seed;
		}

	}

	private static final class ModelFailure extends RuntimeException {

	}

}
