package io.sessionkit.context;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.ViewRules.Part;
import io.sessionkit.guard.WordGuard;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel.Lines;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * A random turn under one combination of rules: what is asked, what the model does, and
 * what of it belongs into the log.
 */
final class ViewTurn {

	private static final int LONG = 80;

	private static final String MAIL = "me%d@example.org";

	static final String STOP_WORD = "xylophone";

	final ViewRules rules;

	final Trim trim;

	final Prune prune;

	final int number;

	final ClientSetup setup;

	final List<UserMessage> input;

	/** The tool rounds. */
	final List<AssistantMessage> rounds = new ArrayList<>();

	final String answer;

	private final boolean fails;

	final int summaryKind;

	final int summaryTrigger;

	final int keepTurns;

	final int mergeKind;

	final int hookKind;

	final WordGuard guard;

	final long hookSeed;

	final List<String> context;

	ViewTurn(ViewRules rules, Random random, int number) {
		this.rules = rules;
		this.number = number;
		this.trim = rules.trim(random);
		this.prune = rules.has(Part.PRUNE) ? Prune.keepLastToolResults(random.nextInt(4)) : Prune.NONE;
		this.setup = ClientSetup.all().get(random.nextInt(ClientSetup.all().size()));
		this.input = input(random);
		for (int i = Math.min(random.nextInt(6), random.nextInt(6)); i > 0; i--) {
			this.rounds.add(calls(random));
		}
		this.answer = "a" + number + "." + something(random);
		this.fails = random.nextInt(10) == 0;
		this.summaryKind = random.nextInt(8);
		this.summaryTrigger = 2 + random.nextInt(12);
		// more turns than are sent cannot be kept from a summary
		this.keepTurns = Math.min(random.nextInt(3), this.trim.maxTurns());
		this.mergeKind = random.nextInt(6);
		this.hookKind = random.nextInt(7);
		this.hookSeed = random.nextLong();
		this.guard = WordGuard.values()[random.nextInt(WordGuard.values().length)];
		this.context = new ArrayList<>(List.of("c" + number + "."));
	}

	private List<UserMessage> input(Random random) {
		List<UserMessage> messages = new ArrayList<>();
		if (random.nextInt(8) == 0) {
			messages.add(new UserMessage("n" + this.number + "." + something(random)));
		}
		messages.add(UserMessage.builder()
			.text(question() + something(random))
			.metadata(Map.of(ViewRules.PIN, random.nextInt(6) == 0))
			.build());
		return messages;
	}

	/**
	 * Rarely a word that is not allowed, often an address, mostly nothing of interest.
	 */
	private String something(Random random) {
		return switch (random.nextInt(30)) {
			case 0 -> " the " + STOP_WORD + " plays";
			case 1, 2, 3, 4, 5, 6, 7, 8 -> " write to " + MAIL.formatted(this.number) + " now";
			case 9, 10, 11, 12, 13 -> " " + "long ".repeat(20);
			default -> "";
		};
	}

	private AssistantMessage calls(Random random) {
		List<ToolCall> calls = new ArrayList<>();
		String id = (random.nextInt(3) == 0) ? "" : "r" + this.number + "-" + this.rounds.size() + "-";
		for (int i = random.nextInt(3); i >= 0; i--) {
			boolean writes = this.rules.has(Part.STATE) && random.nextInt(3) == 0;
			String value = switch (random.nextInt(4)) {
				case 0 -> "v" + "x".repeat(LONG);
				case 1 -> "to " + MAIL.formatted(this.number);
				default -> "v" + i;
			};
			if (writes) {
				value = "m" + this.number + "-" + this.rounds.size() + "-" + i;
			}
			calls.add(SessionAdvisorTests.call(id.isEmpty() ? "" : id + i, writes ? "write" : "t", value));
		}
		return AssistantMessage.builder().content("").toolCalls(calls).build();
	}

	String question() {
		return "q" + this.number + ".";
	}

	boolean isRefusedAtOnce() {
		return this.rules.has(Part.STOP_WORDS)
				&& this.input.stream().anyMatch((message) -> message.getText().contains(STOP_WORD));
	}

	boolean fails() {
		return this.fails;
	}

	boolean isRefused() {
		return isRefusedAtOnce() || (this.rules.has(Part.STOP_WORDS) && !this.fails && this.answer.contains(STOP_WORD));
	}

	boolean completes() {
		return !this.fails && !isRefused();
	}

	int modelCalls() {
		return isRefusedAtOnce() ? 0 : this.rounds.size() + 1;
	}

	/**
	 * Returns the messages of the turn before a model call, a line for each.
	 */
	List<String> saidBefore(int call) {
		List<Message> said = new ArrayList<>();
		if (this.rules.has(Part.MERGE) && this.mergeKind == 2) {
			said.add(note());
		}
		said.addAll(this.input);
		List<String> lines = new ArrayList<>(Lines.of(said));
		for (AssistantMessage round : this.rounds.subList(0, call)) {
			lines.addAll(Lines.of(List.of(round)));
			StringBuilder results = new StringBuilder("tool");
			round.getToolCalls()
				.forEach((tool) -> results.append(' ').append(tool.name()).append('=').append(value(tool)));
			lines.add(results.toString());
		}
		return lines.stream().map(this::redacted).toList();
	}

	List<String> said() {
		return Stream.concat(saidBefore(this.rounds.size()).stream(), Stream.of(redacted("assistant: " + this.answer)))
			.toList();
	}

	/**
	 * The mood as of a model call.
	 */
	String mood(int call, String before) {
		return this.rounds.subList(0, call)
			.stream()
			.flatMap((round) -> round.getToolCalls().stream())
			.filter((tool) -> tool.name().equals("write"))
			.map(ViewTurn::value)
			.reduce(before, (earlier, later) -> later);
	}

	private String redacted(String line) {
		return this.rules.has(Part.REDACTOR) ? line.replace(MAIL.formatted(this.number), "[email]") : line;
	}

	private static String value(ToolCall call) {
		return call.arguments().replaceAll("\\{\"value\":\"(.*)\"}", "$1");
	}

	UserMessage note() {
		return new UserMessage("n" + this.number + "-merged.");
	}

	boolean hasSummarizerThatFails() {
		return this.summaryKind < 2;
	}

}
