package io.sessionkit.context;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SequenceGuardTests {

	private static final int CASES = 5_000;

	private final SequenceGuard guard = SequenceGuard.repairing();

	@Test
	void aValidSequenceIsReturnedAsItIs() {
		List<Message> valid = List.of(new SystemMessage("s"), user("q"), calls("a", "b"), results("a", "b"), says("r"),
				user("q"));
		assertThat(this.guard.apply(valid)).isSameAs(valid);
	}

	@Test
	void aMissingResultGetsASyntheticOne() {
		assertThat(lines(user("q"), calls("a", "b"), results("a"), user("q"))).containsExactly("user: q",
				"assistant t({}) t({})", "tool t=a t=" + SequenceGuard.NO_RESULT, "user: q");
	}

	@Test
	void callsWithoutAnyResultGetSyntheticOnes() {
		assertThat(lines(user("q"), calls("a"), user("q"))).containsExactly("user: q", "assistant t({})",
				"tool t=" + SequenceGuard.NO_RESULT, "user: q");
	}

	@Test
	void resultsComeInTheOrderOfTheCalls() {
		assertThat(lines(user("q"), calls("a", "b"), results("b", "a"))).containsExactly("user: q",
				"assistant t({}) t({})", "tool t=a t=b");
	}

	@Test
	void resultsThatWereSplitAreJoined() {
		assertThat(lines(user("q"), calls("a", "b"), results("a"), results("b"))).containsExactly("user: q",
				"assistant t({}) t({})", "tool t=a t=b");
	}

	@Test
	void idsThatAreAllEmptyAreMatchedByPosition() {
		assertThat(lines(user("q"), calls("", ""), results("", ""))).containsExactly("user: q", "assistant t({}) t({})",
				"tool t= t=");
		assertThat(lines(user("q"), calls("", ""), results(""))).containsExactly("user: q", "assistant t({}) t({})",
				"tool t= t=" + SequenceGuard.NO_RESULT);
	}

	/** Ollama's model has them if the server sends none. */
	@Test
	void idsThatAreAbsentAreMatchedByPosition() {
		AssistantMessage calls = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall(null, "function", "t", "{}"), new ToolCall(null, "function", "t", "{}")))
			.build();
		Message results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse(null, "t", "a"), new ToolResponse(null, "t", "b")))
			.build();
		assertThat(lines(user("q"), calls, results)).containsExactly("user: q", "assistant t({}) t({})",
				"tool t=a t=b");
		assertThat(lines(user("q"), calls))
			.endsWith("tool t=" + SequenceGuard.NO_RESULT + " t=" + SequenceGuard.NO_RESULT);
	}

	@Test
	void orphanResultsGo() {
		assertThat(lines(user("q"), results("a"), says("r"), results("b"), user("q"))).containsExactly("user: q",
				"assistant: r", "user: q");
	}

	@Test
	void resultsOfOtherCallsGo() {
		assertThat(lines(user("q"), calls("a"), results("a", "x"), says("r"))).containsExactly("user: q",
				"assistant t({})", "tool t=a", "assistant: r");
	}

	@Test
	void blankSystemTextGoesAndTheRestComesFirstAndOnce() {
		assertThat(lines(new SystemMessage(""), user("q"))).containsExactly("user: q");
		assertThat(lines(user("q"), new SystemMessage("s"), new SystemMessage("s"))).containsExactly("system: s",
				"user: q");
		assertThat(lines(new SystemMessage("a"), user("q"), new SystemMessage("b"))).containsExactly("system: a\n\nb",
				"user: q");
	}

	@Test
	void repliesInFrontOfTheFirstQuestionGo() {
		assertThat(lines(says("welcome"), user("q"))).containsExactly("user: q");
		assertThat(lines(new SystemMessage("s"), calls("a"), results("a"), user("q"))).containsExactly("system: s",
				"user: q");
	}

	@Test
	void aStrictGuardNamesThePlaceAndNoText() {
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(() -> SequenceGuard.strict().apply(List.of(user("secret"), results("a"))))
			.withMessageContaining("message 1 of 2")
			.withMessageContaining("USER, TOOL")
			.withMessageNotContaining("secret");
	}

	@Test
	void whateverComesInAValidSequenceGoesOut() {
		for (long seed = 0; seed < CASES; seed++) {
			List<Message> in = random(new Random(seed));
			List<Message> before = List.copyOf(in);
			List<String> linesBefore = Lines.of(in);
			List<Message> out = this.guard.apply(in);
			assertThat(faultsUnlessNobodyAsked(out)).as("seed %d: %s", seed, linesBefore).isEmpty();
			assertThat(this.guard.apply(out)).as("seed %d: a repaired sequence is valid", seed).isSameAs(out);
			assertThat(in).as("seed %d: the input is not touched", seed).isEqualTo(before);
			assertThat(Lines.of(in)).isEqualTo(linesBefore);
			assertThat(out.stream().filter(UserMessage.class::isInstance).toList())
				.as("seed %d: what a person said stays", seed)
				.isEqualTo(in.stream().filter(UserMessage.class::isInstance).toList());
			if (ValidSequence.faults(in).isEmpty()) {
				assertThat(out).as("seed %d: a valid sequence stays", seed).isSameAs(in);
			}
		}
	}

	/**
	 * Without any user message there is no conversation to start with one.
	 */
	private static List<String> faultsUnlessNobodyAsked(List<Message> messages) {
		List<String> faults = new ArrayList<>(ValidSequence.faults(messages));
		if (messages.stream().noneMatch(UserMessage.class::isInstance)) {
			faults.removeIf((fault) -> fault.startsWith("starts with"));
		}
		return faults;
	}

	private static List<Message> random(Random random) {
		List<Message> messages = new ArrayList<>();
		int size = random.nextInt(12);
		for (int i = 0; i < size; i++) {
			messages.add(switch (random.nextInt(9)) {
				case 0 -> new SystemMessage(random.nextBoolean() ? "" : "s" + random.nextInt(2));
				case 1, 2 -> user("q" + i);
				case 3, 4 -> says("r" + i);
				case 5, 6 -> calls(ids(random));
				default -> results(ids(random));
			});
		}
		return messages;
	}

	private static String[] ids(Random random) {
		String[] ids = new String[1 + random.nextInt(3)];
		boolean empty = random.nextInt(3) == 0;
		for (int i = 0; i < ids.length; i++) {
			ids[i] = empty ? "" : String.valueOf((char) ('a' + random.nextInt(3)));
		}
		return ids;
	}

	private List<String> lines(Message... messages) {
		return Lines.of(this.guard.apply(List.of(messages)));
	}

	private static Message user(String text) {
		return new UserMessage(text);
	}

	private static Message says(String text) {
		return new AssistantMessage(text);
	}

	private static Message calls(String... ids) {
		List<ToolCall> calls = List.of(ids).stream().map((id) -> new ToolCall(id, "function", "t", "{}")).toList();
		return AssistantMessage.builder().content("").toolCalls(calls).build();
	}

	private static Message results(String... ids) {
		List<ToolResponse> responses = List.of(ids).stream().map((id) -> new ToolResponse(id, "t", id)).toList();
		return ToolResponseMessage.builder().responses(responses).build();
	}

}
