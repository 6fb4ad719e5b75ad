package io.sessionkit.context;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.ViewRules.Part;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.extension.BriefHistory;
import io.sessionkit.extension.KeywordTurns;
import io.sessionkit.extension.PlainCopies;
import io.sessionkit.guard.Redactor;
import io.sessionkit.guard.StopWords;
import io.sessionkit.hook.AttributePrompt;
import io.sessionkit.hook.HistoryBlock;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * Calls a {@link ViewTurn} with a new client of its own. Two calls do the same.
 */
final class ViewCall {

	/** The observations of a call. */
	record Called(List<Prompt> prompts, List<List<String>> linesWhenSent, List<Message> view, int summaries,
			@Nullable TurnResult result, @Nullable RuntimeException failure, List<String> hookFaults) {
	}

	private static final class ModelFailure extends RuntimeException {

	}

	private static final ToolCallback ECHO = SessionAdvisorTests.echo("t");

	private static final ToolCallback WRITE = FunctionToolCallback
		.builder("write", (SessionAdvisorTests.Value value) -> {
			new SessionContext().putAttribute("mood", value.value());
			return value.value();
		})
		.description("writes the mood")
		.inputType(SessionAdvisorTests.Value.class)
		.toolCallResultConverter((result, type) -> String.valueOf(result))
		.build();

	private static final SessionHook REDACTOR = Redactor.standard();

	private static final SessionHook MOOD = AttributePrompt.of("Mood: {mood:none}.");

	private final ViewTurn turn;

	ViewCall(ViewTurn turn) {
		this.turn = turn;
	}

	/**
	 * @param lastCall the model call that fails; a large number for none but what is
	 * planned
	 */
	Called on(SessionStore store, SessionKey key, int lastCall) {
		ScriptedChatModel model = new ScriptedChatModel().reports(0);
		List<List<String>> lines = Collections.synchronizedList(new ArrayList<>());
		List<Message> view = new ArrayList<>();
		for (int i = 0; i <= this.turn.rounds.size(); i++) {
			Flux<ChatResponse> reply = (i >= lastCall) ? Flux.error(new ModelFailure()) : reply(model, i);
			model.step((prompt) -> {
				if (lines.isEmpty()) {
					view.addAll(Conversations.of(store).get(key).view());
				}
				lines.add(Lines.of(prompt.getInstructions()));
				return reply;
			});
		}
		ScriptedChatModel summarizer = summarizer();
		Probe probe = new Probe(hooks());
		Conversations.Builder builder = Conversations.builder(store)
			.trim(this.turn.trim)
			.prune(this.turn.prune)
			.hooks(probe.all);
		if (this.turn.rules.has(Part.SUMMARY)) {
			builder.summarize(rule(summarizer));
		}
		if (this.turn.rules.has(Part.MERGE)) {
			builder.merge(merge());
		}
		if (this.turn.rules.has(Part.INPUTS)) {
			builder.turnParameters(Set.of("context")).replay(Set.of("context"));
		}
		TurnResult result = null;
		RuntimeException failure = null;
		try (Conversations conversations = builder.build()) {
			result = SessionAdvisor.turn(this.turn.setup.response(spec(model, conversations, key))).orElseThrow();
		}
		catch (SessionRefusedException | ModelFailure ex) {
			failure = ex;
		}
		return new Called(model.prompts(), lines, view, summarizer.prompts().size(), result, failure, probe.faults);
	}

	private ChatClient.ChatClientRequestSpec spec(ScriptedChatModel model, Conversations conversations,
			SessionKey key) {
		return this.turn.setup.builder(model, SessionAdvisor.of(conversations))
			.defaultTools(ECHO, WRITE)
			.build()
			.prompt()
			.messages(List.copyOf(this.turn.input))
			.advisors(SessionAdvisor.session(key))
			.advisors((advisors) -> advisors.param("context", this.turn.context));
	}

	private Flux<ChatResponse> reply(ScriptedChatModel model, int call) {
		if (call < this.turn.rounds.size()) {
			List<ToolCall> calls = this.turn.rounds.get(call).getToolCalls();
			return Flux.range(0, calls.size())
				.map((i) -> model.chunk("", List.of(calls.get(i)), i == calls.size() - 1));
		}
		int middle = this.turn.answer.length() / 2;
		return this.turn.fails() ? Flux.error(new ModelFailure())
				: Flux.just(model.chunk(this.turn.answer.substring(0, middle), List.of(), false),
						model.chunk(this.turn.answer.substring(middle), List.of(), true));
	}

	private ScriptedChatModel summarizer() {
		ScriptedChatModel summarizer = new ScriptedChatModel().reports(0);
		return switch (this.turn.summaryKind) {
			case 0 -> summarizer.fails(new ModelFailure());
			case 1 -> summarizer.says("  ");
			default -> summarizer.says("summary " + this.turn.number);
		};
	}

	private Summarize rule(ScriptedChatModel summarizer) {
		return Summarize.by(summarizer)
			.mode(Summarize.Mode.BEFORE)
			.triggerMessages(this.turn.summaryTrigger)
			.keepTurns(this.turn.keepTurns)
			.timeout(Duration.ofMinutes(1))
			.build();
	}

	private HistoryMerge merge() {
		return switch (this.turn.mergeKind) {
			case 0 -> (context, history, now) -> joined(history, now);
			case 1 -> (context, history,
					now) -> joined(history.subList(Math.max(0, history.size() - 3), history.size()), now);
			case 2 -> (context, history, now) -> joined(history, joined(List.of(this.turn.note()), now));
			case 3 -> new KeywordTurns("write to", 2);
			case 4 -> new PlainCopies();
			default -> (context, history, now) -> {
				history.forEach(ViewCall::spoil);
				now.forEach(ViewCall::spoil);
				return joined(history, now);
			};
		};
	}

	private static List<Message> joined(List<Message> first, List<Message> second) {
		List<Message> joined = new ArrayList<>(first);
		joined.addAll(second);
		return joined;
	}

	private static void spoil(Message copy) {
		copy.getMetadata().put("spoilt", true);
	}

	private List<SessionHook> hooks() {
		List<SessionHook> hooks = new ArrayList<>();
		if (this.turn.rules.has(Part.STOP_WORDS)) {
			hooks.add(this.turn.guard.refusing(ViewTurn.STOP_WORD));
		}
		if (this.turn.rules.has(Part.CUSTOM_HOOK)) {
			hooks.add((this.turn.hookKind == 6) ? new BriefHistory(30, 1_000)
					: TestHooks.beforeModel("custom", this::changed));
		}
		if (this.turn.rules.has(Part.REDACTOR)) {
			hooks.add(REDACTOR);
		}
		if (this.turn.rules.has(Part.STATE)) {
			hooks.add(MOOD);
		}
		switch (this.turn.rules.layout()) {
			case SYSTEM_TEXT -> hooks.add(HistoryBlock.inSystemText());
			case USER_TEXT -> hooks.add(HistoryBlock.inUserText());
			case MESSAGES -> {
			}
		}
		return hooks;
	}

	/**
	 * Another history, and the turn behind it.
	 */
	private HookResult<List<Message>> changed(List<Message> request) {
		Random choice = new Random(this.turn.hookSeed);
		int turn = 0;
		while (!String.valueOf(request.get(turn).getText()).matches("(?s)[nq]" + this.turn.number + "[.-].*")) {
			turn++;
		}
		int system = (request.get(0) instanceof SystemMessage) ? 1 : 0;
		List<Message> history = new ArrayList<>(request.subList(system, turn));
		if (!history.isEmpty()) {
			int index = choice.nextInt(history.size());
			switch (this.turn.hookKind) {
				case 0 -> request.forEach(ViewCall::spoil);
				case 1 -> history.subList(0, index).clear();
				case 2 -> history.remove(index);
				case 3 -> history.add(index, new UserMessage("injected"));
				case 4 -> Collections.shuffle(history, choice);
				default -> {
				}
			}
		}
		return (this.turn.hookKind == 0) ? HookResult.keep() : HookResult
			.replace(joined(joined(request.subList(0, system), history), request.subList(turn, request.size())));
	}

	/**
	 * Stands inside of the hooks and asks those that are to make the same of what they
	 * have made once more.
	 */
	private static final class Probe implements SessionHook {

		private final List<SessionHook> again;

		private final List<SessionHook> all;

		private final List<String> faults = Collections.synchronizedList(new ArrayList<>());

		Probe(List<SessionHook> hooks) {
			this.again = hooks.stream()
				.filter((hook) -> hook instanceof Redactor || hook instanceof StopWords || hook instanceof HistoryBlock)
				.toList();
			this.all = new ArrayList<>(hooks);
			this.all.add(this);
		}

		@Override
		public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
			for (SessionHook hook : this.again) {
				HookResult<List<Message>> result = hook.beforeModel(context, request);
				boolean same = result instanceof HookResult.Keep
						|| (result instanceof HookResult.Replace<List<Message>> replace
								&& replace.value().equals(request.messages()));
				if (!same) {
					this.faults.add(
							hook.name() + " makes something else of what it has made: " + Lines.of(request.messages()));
				}
			}
			return HookResult.keep();
		}

	}

}
