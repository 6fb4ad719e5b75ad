package io.sessionkit.context;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnOpenException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryBlock;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.ToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random threads on which now the client runs the tools and now the application, which
 * passes their results in calls to come, under limits, pins, summaries, pruning, blocks,
 * merges, hooks, replayed parameters, failing models and both durabilities. Each call
 * uses another mixture of these. What reaches the model is valid and ends with all that
 * belongs to the question; or the call is refused, and the thread is what it was.
 */
class CarriedTurnProperties {

	/** Requests that are checked. There are more if something rare was not met. */
	private static final int REQUESTS = Integer.getInteger("sessionkit.requests", 6_000);

	private static final List<String> TO_MEET = List.of("carried", "carried twice", "results and a message",
			"some results", "refused", "refused for the merge", "failed at once", "failed later", "continued",
			"carried and continued", "paused", "summaries", "pinned results", "left unanswered");

	private static final int CALLS = 8;

	private static final ToolCallback ECHO = SessionAdvisorTests.echo("t");

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens(ViewChecks.TOKENS));

	private final Map<String, Integer> met = new HashMap<>();

	private static final class ModelFailure extends RuntimeException {

	}

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
	void everyRequestHasAllThatWasPassedOrTheCallIsRefused() {
		long first = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		System.out.println("CarriedTurnProperties: seed " + first);
		for (long seed = first; areTooFew(this.met.getOrDefault("requests", 0)); seed++) {
			RandomThread thread = new RandomThread(seed, "seed " + first + ", thread " + (seed - first));
			for (int i = 0; i < CALLS; i++) {
				thread.call();
			}
			this.store.erase(thread.key);
		}
		System.out.println("CarriedTurnProperties: " + this.met);
		assertThat(this.met.keySet()).containsAll(TO_MEET);
	}

	private boolean areTooFew(int requests) {
		return requests < REQUESTS || (requests < 10 * REQUESTS && !this.met.keySet().containsAll(TO_MEET));
	}

	private void meet(String what, boolean so) {
		if (so) {
			this.met.merge(what, 1, Integer::sum);
		}
	}

	/** The input of one call, and what becomes of it. */
	private record Input(List<Message> messages, boolean carries, boolean valid) {

		boolean hasResults() {
			return this.messages.stream().anyMatch(ToolResponseMessage.class::isInstance);
		}

	}

	/**
	 * The messages that a turn adds behind its input.
	 *
	 * @param rounds the calls that the client runs
	 * @param reply what ends the turn
	 * @param fails the model call that fails; one that is not made for none
	 */
	private record Script(List<AssistantMessage> rounds, AssistantMessage reply, int fails) {

		boolean isFailing() {
			return this.fails <= this.rounds.size();
		}

		List<Message> saidBefore(int call) {
			List<Message> said = new ArrayList<>();
			for (AssistantMessage round : this.rounds.subList(0, call)) {
				said.add(round);
				said.add(answers(round.getToolCalls()));
			}
			return said;
		}

		Script withoutFailure() {
			return new Script(this.rounds, this.reply, Integer.MAX_VALUE);
		}

	}

	private static ToolResponseMessage answers(List<ToolCall> calls) {
		return ToolResponseMessage.builder().responses(calls.stream().map((call) -> answer(call)).toList()).build();
	}

	private static ToolResponse answer(ToolCall call) {
		return new ToolResponse(call.id(), call.name(), call.arguments().replaceAll("\\{\"value\":\"(.*)\"}", "$1"));
	}

	private final class RandomThread {

		private final Random random;

		private final String name;

		private final SessionKey key = SessionKey.of("carried", UUID.randomUUID().toString());

		/** The content of the store. */
		private List<String> log;

		/** The messages that the linked turns at the end of the thread send. */
		private List<Message> chain = List.of();

		private int links;

		/** Calls at the end of the thread that the application is to run. */
		private List<ToolCall> pending = List.of();

		/** A turn that stays open, since the model failed after a round was stored. */
		private @Nullable Open open;

		private int number;

		private record Open(List<Message> own, List<Message> stored, Script script, int next) {
		}

		RandomThread(long seed, String name) {
			this.random = new Random(seed);
			this.name = name;
			for (int i = this.random.nextInt(4); i > 0; i--) {
				add(seed());
			}
			this.log = log();
		}

		private void add(List<Message> messages) {
			CarriedTurnProperties.this.store.add(this.key, messages);
			Message last = messages.get(messages.size() - 1);
			this.pending = (last instanceof AssistantMessage reply) ? reply.getToolCalls() : List.of();
			this.chain = this.pending.isEmpty() ? List.of() : messages;
			this.links = 0;
		}

		private List<Message> seed() {
			Message user = question("s");
			AssistantMessage calls = calls(1 + this.random.nextInt(3));
			return switch (this.random.nextInt(6)) {
				case 0 -> List.of(new AssistantMessage("greeting"));
				case 1 -> List.of(user, calls);
				case 2 -> List.of(answers(calls.getToolCalls()), user);
				case 3 -> List.of(user, calls, answers(calls.getToolCalls()), new AssistantMessage("a"));
				default -> List.of(user, new AssistantMessage("a"));
			};
		}

		private UserMessage question(String kind) {
			return UserMessage.builder()
				.text(kind + ++this.number + "." + (this.random.nextInt(4) == 0 ? " long".repeat(20) : ""))
				.metadata(Map.of(ViewRules.PIN, this.random.nextInt(6) == 0))
				.build();
		}

		private AssistantMessage calls(int count) {
			boolean nameless = this.random.nextInt(4) == 0;
			List<ToolCall> calls = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				String value = "v" + ++this.number + "x".repeat(this.random.nextBoolean() ? 80 : 0);
				calls.add(SessionAdvisorTests.call(nameless ? "" : "c" + this.number, "t", value));
			}
			return AssistantMessage.builder().content("").toolCalls(calls).build();
		}

		void call() {
			Call call = new Call(this.random);
			String about = this.name + ", call " + this.number + " under " + call;
			if (this.open != null) {
				goOn(call, about);
				return;
			}
			Input input = input();
			Script script = script(call);
			List<Message> own = call.merged(input.messages());
			Outcome outcome = run(call, script, 0, input.messages());
			if (!input.valid()) {
				assertRefused(outcome, InvalidSequenceException.class, about);
				meet("refused", true);
				return;
			}
			if (call.dropsResults(input)) {
				assertRefused(outcome, IllegalStateException.class, about);
				meet("refused for the merge", true);
				return;
			}
			List<Message> before = input.carries() ? this.chain : List.of();
			check(outcome, call, before, own, script, 0, about);
			end(call, script, own, outcome, about);
			meet("carried", input.carries());
			meet("carried twice", input.carries() && this.links > 1);
			meet("results and a message", input.carries() && input.messages().size() > 1);
		}

		/** Returns an input: mostly one that fits, sometimes one that does not. */
		private Input input() {
			List<ToolCall> waiting = this.pending;
			if (waiting.isEmpty()) {
				return switch (this.random.nextInt(12)) {
					case 0 -> new Input(List.of(answers(calls(1).getToolCalls())), false, false);
					case 1 -> new Input(List.of(question("q"), answers(calls(1).getToolCalls())), false, false);
					default -> new Input(List.of(question("q")), false, true);
				};
			}
			boolean distinct = waiting.stream().noneMatch((call) -> call.id().isEmpty());
			List<ToolResponse> results = new ArrayList<>(answers(waiting).getResponses());
			List<Message> messages = new ArrayList<>();
			boolean valid = true;
			switch (this.random.nextInt(14)) {
				case 0 -> {
					meet("left unanswered", true);
					return new Input(List.of(question("q")), false, true);
				}
				case 1 -> {
					return new Input(List.of(question("q"), results(results)), false, false);
				}
				case 2 -> {
					results.add(this.random.nextInt(results.size() + 1), new ToolResponse("unknown", "t", "r"));
					valid = false;
				}
				case 3 -> {
					results.add(new ToolResponse(results.get(0).id(), "t", "another"));
					valid = false;
				}
				case 4, 5 -> {
					if (distinct && results.size() > 1) {
						results.remove(this.random.nextInt(results.size()));
						meet("some results", true);
					}
				}
				case 6 -> {
					if (distinct) {
						Collections.shuffle(results, this.random);
					}
				}
				case 7 -> messages.add(results(List.of(results.remove(0))));
				default -> {
				}
			}
			if (!results.isEmpty()) {
				messages.add(results(results));
			}
			for (int i = this.random.nextInt(4); i > 2; i--) {
				messages.add(question("q"));
			}
			return new Input(messages, true, valid);
		}

		private ToolResponseMessage results(List<ToolResponse> results) {
			boolean pinned = this.random.nextInt(4) == 0;
			meet("pinned results", pinned);
			return ToolResponseMessage.builder()
				.responses(List.copyOf(results))
				.metadata(Map.of(ViewRules.PIN, pinned))
				.build();
		}

		private Script script(Call call) {
			List<AssistantMessage> rounds = new ArrayList<>();
			AssistantMessage reply = new AssistantMessage("a" + ++this.number + ".");
			if (call.application) {
				reply = (this.random.nextInt(3) > 0) ? calls(1 + this.random.nextInt(3)) : reply;
			}
			else {
				for (int i = this.random.nextInt(4); i > 0; i--) {
					rounds.add(calls(1 + this.random.nextInt(2)));
				}
			}
			int fails = (this.random.nextInt(5) == 0) ? this.random.nextInt(rounds.size() + 1) : Integer.MAX_VALUE;
			return new Script(rounds, reply, fails);
		}

		private void goOn(Call call, String about) {
			Open turn = this.open;
			if (call.application || this.random.nextInt(3) == 0) {
				Outcome refused = run(call, turn.script().withoutFailure(), turn.next(), List.of(question("q")));
				assertRefused(refused, TurnOpenException.class, about);
				meet("paused", true);
				return;
			}
			Script script = this.random.nextInt(4) == 0
					? new Script(turn.script().rounds(), turn.script().reply(),
							turn.next() + this.random.nextInt(turn.script().rounds().size() + 1 - turn.next()))
					: turn.script().withoutFailure();
			Outcome outcome = run(call, script, turn.next(), List.of());
			check(outcome, call, turn.own(), List.of(), script, turn.next(), about);
			if (script.isFailing()) {
				assertThat(outcome.failure()).as(about).isInstanceOf(ModelFailure.class);
				assertThat(log()).as(about).isEqualTo(this.log);
				// a turn that continues stores its rounds whatever the durability
				this.open = new Open(turn.own(), turn.stored(), script, script.fails());
				return;
			}
			assertThat(outcome.failure()).as(about).isNull();
			this.open = null;
			complete(turn.stored(), script, about);
			meet("continued", true);
			meet("carried and continued", turn.stored().get(0) instanceof ToolResponseMessage);
		}

		private void end(Call call, Script script, List<Message> own, Outcome outcome, String about) {
			if (!script.isFailing()) {
				assertThat(outcome.failure()).as(about).isNull();
				boolean carries = own.get(0) instanceof ToolResponseMessage;
				List<Message> before = carries ? this.chain : List.of();
				this.links = carries ? this.links + 1 : 0;
				List<Message> sent = sent(before, own);
				complete(own, script, about);
				List<Message> all = new ArrayList<>(sent);
				all.addAll(script.saidBefore(script.rounds().size()));
				all.add(script.reply());
				this.pending = script.reply().getToolCalls();
				this.chain = this.pending.isEmpty() ? List.of() : all;
				return;
			}
			assertThat(outcome.failure()).as(about).isInstanceOf(ModelFailure.class);
			assertThat(log()).as(about).isEqualTo(this.log);
			meet("failed at once", script.fails() == 0);
			meet("failed later", script.fails() > 0);
			if (call.durability == Durability.STEP && script.fails() > 0) {
				boolean carries = own.get(0) instanceof ToolResponseMessage;
				this.open = new Open(sent(carries ? this.chain : List.of(), own), own, script, script.fails());
			}
		}

		private void complete(List<Message> own, Script script, String about) {
			List<Message> said = new ArrayList<>(own);
			said.addAll(script.saidBefore(script.rounds().size()));
			said.add(script.reply());
			List<String> expected = new ArrayList<>(this.log);
			expected.addAll(Lines.of(said));
			assertThat(log()).as(about).isEqualTo(expected);
			this.log = expected;
			this.pending = List.of();
			this.chain = List.of();
		}

		private void assertRefused(Outcome outcome, Class<? extends Throwable> how, String about) {
			assertThat(outcome.failure()).as(about).isInstanceOf(how);
			assertThat(outcome.failure().getMessage()).as(about).contains(this.key.id()).doesNotContain("xxxx");
			assertThat(outcome.prompts()).as(about).isEmpty();
			assertThat(log()).as(about).isEqualTo(this.log);
		}

		private record Outcome(List<Prompt> prompts, @Nullable RuntimeException failure) {
		}

		private Outcome run(Call call, Script script, int from, List<Message> input) {
			ScriptedChatModel model = new ScriptedChatModel().reports(0);
			for (int i = from; i <= script.rounds().size(); i++) {
				if (i == script.fails()) {
					model.fails(new ModelFailure());
					break;
				}
				AssistantMessage reply = (i < script.rounds().size()) ? script.rounds().get(i) : script.reply();
				if (reply.hasToolCalls()) {
					model.calls(reply.getToolCalls().toArray(ToolCall[]::new));
				}
				else {
					model.says(reply.getText());
				}
			}
			RuntimeException failure = null;
			ScriptedChatModel summaries = call.summarizer();
			try (Conversations conversations = call.conversations(CarriedTurnProperties.this.store, summaries)) {
				call.setup.response(call.client(model, conversations)
					.prompt()
					.messages(List.copyOf(input))
					.advisors(SessionAdvisor.session(this.key))
					.advisors(SessionAdvisor.limit(call.limit))
					.advisors((advisors) -> advisors.param("context", List.of("k" + this.number))));
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
			meet("summaries", !summaries.prompts().isEmpty());
			CarriedTurnProperties.this.met.merge("requests", model.prompts().size(), Integer::sum);
			return new Outcome(model.prompts(), failure);
		}

		private void check(Outcome outcome, Call call, List<Message> before, List<Message> own, Script script, int from,
				String about) {
			List<Message> opening = sent(before, own);
			int calls = Math.min(script.rounds().size(), script.fails()) - from + 1;
			assertThat(outcome.prompts().size()).as("%s: model calls, %s", about, outcome.failure()).isEqualTo(calls);
			for (int i = 0; i < calls; i++) {
				List<Message> request = outcome.prompts().get(i).getInstructions();
				List<Message> said = new ArrayList<>(opening);
				said.addAll(script.saidBefore(from + i));
				String which = about + ", model call " + i + ": " + Lines.of(request);
				assertThat(ValidSequence.faults(request)).as(which).isEmpty();
				assertThat(SequenceGuard.strict().apply(request)).as(which).isSameAs(request);
				List<String> lines = Lines.of(request);
				assertThat(lines.size()).as(which).isGreaterThanOrEqualTo(said.size());
				List<String> end = new ArrayList<>(lines.subList(lines.size() - said.size(), lines.size()));
				List<String> expected = new ArrayList<>(Lines.of(said));
				for (int k = 0; k < end.size(); k++) {
					if (end.get(k).startsWith("user: ") && end.get(k).contains(said.get(k).getText())) {
						// with a block of history in front, or with what is replayed
						// behind
						end.set(k, expected.get(k));
					}
				}
				assertThat(end).as(which).isEqualTo(expected);
			}
		}

		/**
		 * Returns the beginning of a turn as the model gets it: each call with its
		 * results.
		 */
		private List<Message> sent(List<Message> before, List<Message> own) {
			List<Message> sent = new ArrayList<>(before);
			List<ToolResponse> results = new ArrayList<>();
			int i = 0;
			while (i < own.size() && own.get(i) instanceof ToolResponseMessage tools) {
				results.addAll(tools.getResponses());
				i++;
			}
			if (i > 0) {
				sent.add(ToolResponseMessage.builder().responses(inOrder(results)).build());
			}
			sent.addAll(own.subList(i, own.size()));
			return sent;
		}

		private List<ToolResponse> inOrder(List<ToolResponse> results) {
			List<ToolResponse> inOrder = new ArrayList<>();
			for (int i = 0; i < this.pending.size(); i++) {
				ToolCall call = this.pending.get(i);
				int place = i;
				inOrder.add(call.id().isEmpty() ? results.get(place)
						: results.stream()
							.filter((result) -> result.id().equals(call.id()))
							.findFirst()
							.orElse(new ToolResponse(call.id(), call.name(), SequenceGuard.NO_RESULT)));
			}
			return inOrder;
		}

		private List<String> log() {
			return Lines.of(CarriedTurnProperties.this.store.messages(this.key));
		}

	}

	/** The conditions of one call. */
	private static final class Call {

		private final boolean application;

		private final ClientSetup setup;

		private final Trim trim;

		private final int limit;

		private final Prune prune;

		private final int merge;

		private final int layout;

		private final int hook;

		private final int summary;

		private final int keepTurns;

		private final int trigger;

		private final Durability durability;

		private final long seed;

		private final UserMessage note = new UserMessage("note of the merge");

		Call(Random random) {
			this.application = random.nextInt(3) > 0;
			List<ClientSetup> setups = this.application ? ClientSetup.all()
				.stream()
				.filter((each) -> each.loop() == ClientSetup.ToolLoop.AUTOMATIC)
				.toList() : ClientSetup.all();
			this.setup = setups.get(random.nextInt(setups.size()));
			Trim trim = switch (random.nextInt(5)) {
				case 0 -> Trim.NONE;
				case 1 -> Trim.keepLastTurns(random.nextInt(3));
				case 2 -> Trim.keepLastMessages(1 + random.nextInt(8));
				case 3 -> Trim.keepLastTokens(10 + random.nextInt(100));
				default -> Trim.keepLastTurns(1 + random.nextInt(3))
					.maxMessages(1 + random.nextInt(10))
					.maxTokens(20 + random.nextInt(200));
			};
			this.trim = switch (random.nextInt(4)) {
				case 0 -> trim.pins(Pins.firstUser().andMetadata(ViewRules.PIN));
				case 1 -> trim.pins(Pins.NONE.andMetadata(ViewRules.PIN));
				default -> trim;
			};
			this.limit = (random.nextInt(4) == 0) ? random.nextInt(6) : Integer.MAX_VALUE;
			this.prune = (random.nextInt(3) == 0) ? Prune.keepLastToolResults(random.nextInt(3)) : Prune.NONE;
			this.merge = random.nextInt(16);
			this.layout = random.nextInt(4);
			this.hook = random.nextInt(8);
			this.summary = random.nextInt(8);
			// more turns than are sent cannot be kept from a summary
			this.keepTurns = Math.min(random.nextInt(3), this.trim.maxTurns());
			this.trigger = 2 + random.nextInt(8);
			this.durability = random.nextBoolean() ? Durability.STEP : Durability.TURN;
			this.seed = random.nextLong();
		}

		ScriptedChatModel summarizer() {
			ScriptedChatModel summarizer = new ScriptedChatModel().reports(0);
			return (this.summary == 0) ? summarizer.fails(new ModelFailure()) : summarizer.says("SUM");
		}

		Conversations conversations(SessionStore store, ScriptedChatModel summaries) {
			Conversations.Builder builder = Conversations.builder(store)
				.trim(this.trim)
				.prune(this.prune)
				.durability(this.durability)
				.hooks(hooks());
			HistoryMerge merge = merge();
			if (merge != null) {
				builder.merge(merge);
			}
			if (this.summary < 4) {
				builder.summarize(Summarize.by(summaries)
					.mode(Summarize.Mode.BEFORE)
					.triggerMessages(this.trigger)
					.keepTurns(this.keepTurns)
					.timeout(Duration.ofMinutes(1))
					.build());
			}
			if (this.hook < 4) {
				builder.turnParameters(Set.of("context")).replay(Set.of("context"));
			}
			return builder.build();
		}

		ChatClient client(ScriptedChatModel model, Conversations conversations) {
			ChatClient.Builder builder = this.setup.builder(model, SessionAdvisor.of(conversations));
			if (this.application) {
				builder.defaultAdvisors(AdvisorParams.toolCallingAdvisorAutoRegister(false));
			}
			return builder.defaultToolCallbacks(ECHO).build();
		}

		private @Nullable HistoryMerge merge() {
			return switch (this.merge) {
				case 0 -> (context, history, now) -> joined(history, now);
				case 1 -> (context, history,
						now) -> joined(history.subList(Math.max(0, history.size() - 3), history.size()), now);
				case 2 -> (context, history, now) -> now;
				case 3 -> (context, history, now) -> joined(joined(history, List.of(this.note)), now);
				case 4 -> (context, history, now) -> joined(history, now).stream()
					.filter((message) -> !(message instanceof ToolResponseMessage))
					.toList();
				case 5 -> HistoryMerge.keepLastTurns(1);
				case 6 -> (context, history, now) -> joined(joined(history, now), List.of(this.note));
				case 7 -> (context, history, now) -> joined(history, now).stream().map(Call::anew).toList();
				default -> null;
			};
		}

		/** The input as the merge leaves it. */
		List<Message> merged(List<Message> input) {
			return switch (this.merge) {
				case 3 -> joined(List.of(this.note), input);
				case 6 -> joined(input, List.of(this.note));
				default -> input;
			};
		}

		/**
		 * Returns whether the merge parts results from their calls, or leaves them out.
		 */
		boolean dropsResults(Input input) {
			return (this.merge == 3 || this.merge == 4) && input.hasResults();
		}

		private static Message anew(Message message) {
			return switch (message.getMessageType()) {
				case USER -> new UserMessage(message.getText());
				case TOOL ->
					ToolResponseMessage.builder().responses(((ToolResponseMessage) message).getResponses()).build();
				case ASSISTANT -> AssistantMessage.builder()
					.content(message.getText())
					.toolCalls(((AssistantMessage) message).getToolCalls())
					.build();
				case SYSTEM -> new SystemMessage(message.getText());
			};
		}

		private static List<Message> joined(List<? extends Message> first, List<? extends Message> second) {
			List<Message> joined = new ArrayList<>(first);
			joined.addAll(second);
			return joined;
		}

		private List<SessionHook> hooks() {
			List<SessionHook> hooks = new ArrayList<>();
			if (this.hook % 2 == 0) {
				hooks.add(new SessionHook() {

					@Override
					public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
						return changed(request);
					}

				});
			}
			if (this.layout == 0) {
				hooks.add(HistoryBlock.inSystemText());
			}
			if (this.layout == 1) {
				hooks.add(HistoryBlock.inUserText());
			}
			return hooks;
		}

		/** Another history, and the turn behind it. */
		private HookResult<List<Message>> changed(ModelRequest request) {
			Random choice = new Random(this.seed);
			List<Message> history = new ArrayList<>(request.history());
			if (history.isEmpty()) {
				return HookResult.keep();
			}
			int index = choice.nextInt(history.size());
			switch (choice.nextInt(4)) {
				case 0 -> history.subList(0, index).clear();
				case 1 -> history.remove(index);
				case 2 -> history.add(index, new UserMessage("injected"));
				default -> Collections.shuffle(history, choice);
			}
			return HookResult.replace(joined(joined(request.system(), history), request.turn()));
		}

		@Override
		public String toString() {
			return (this.application ? "application " : "client ") + this.setup + " " + this.trim + " limit "
					+ this.limit + " prune " + this.prune.keepToolResults() + " merge " + this.merge + " layout "
					+ this.layout + " hook " + this.hook + " summary " + this.summary + " keep " + this.keepTurns
					+ " trigger " + this.trigger + " " + this.durability;
		}

	}

}
