package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/**
 * The rules of the {@link DemoChatModel}: one prompt in, one reply out, nothing kept.
 */
final class DemoReply {

	private static final JsonMapper JSON = JsonMapper.builder().build();

	private static final Pattern TIME = pattern("what time|what day|what(?:'s|’s| is) the (?:time|date)|today's date");

	private static final Pattern ROLL = pattern("\\b(?:roll|throw)\\b.*\\b(?:dice|die)\\b");

	private static final Pattern CANCEL = pattern("\\bcancel\\b.*\\borders?\\b");

	private static final Pattern ORDER = Pattern.compile("\\b\\d{3,}\\b");

	private static final Pattern BECAUSE = pattern("\\bbecause\\s+(.+?)\\s*[.!]*\\s*$");

	/** The result as the tool words it; a rejection has another text. */
	private static final Pattern CANCELLED = Pattern.compile("Order \\S+ is cancelled \\([^()]*\\)\\.");

	private static final Pattern COUNT = pattern("\\b(two|three|four|five|[2-5])\\b");

	private static final Map<String, Integer> WORDS = Map.of("two", 2, "three", 3, "four", 4, "five", 5);

	/** A name. "I am tired" has none: after "I am" a name needs a capital letter. */
	private static final Pattern NAME = Pattern.compile("(?:(?i:\\bmy name is|\\bcall me)\\s+(\\p{L}[\\p{L}'’-]*))"
			+ "|(?:\\bI(?:'m|’m| am)\\s+(\\p{Lu}[\\p{L}'’-]*))");

	/** The first pattern that is found decides. */
	private static final List<Rule> RULES = List.of(
			new Rule(pattern("what(?:'s|’s| is) my name|who am i"), DemoReply::recalledName),
			new Rule(pattern("what did i (?:say|ask|write) first|my first (?:message|question)"),
					DemoReply::firstQuestion),
			new Rule(pattern("how many messages"), DemoReply::countedMessages),
			new Rule(pattern("what (?:did|have) (?:i|you) roll"), DemoReply::recalledRolls),
			new Rule(NAME, DemoReply::greeting), new Rule(pattern("\\bstory\\b"), (reply) -> DemoTexts.STORY),
			new Rule(pattern("how does (?:this|it) work|show me the code"), (reply) -> DemoTexts.HOW_IT_WORKS),
			new Rule(pattern("show me (?:some )?markdown"), (reply) -> DemoTexts.MARKDOWN),
			new Rule(pattern("write 35 ?kb"), (reply) -> DemoTexts.longMarkdown()),
			new Rule(pattern("please fail"), DemoReply::failure),
			new Rule(CANCEL, (reply) -> "Which order? Tell me its number, as in “Cancel order 4711”."),
			new Rule(pattern("^\\W*(?:hello|hi|hey|good (?:morning|evening))\\b"), DemoReply::hello));

	private final List<Message> messages;

	private final DemoSummary summary;

	private final DemoTurn turn;

	private final Set<String> offered;

	private DemoReply(Prompt prompt) {
		this.messages = prompt.getInstructions();
		this.summary = DemoSummary.in(this.messages);
		this.turn = new DemoTurn(this.messages);
		this.offered = offered(prompt.getOptions());
	}

	static AssistantMessage to(Prompt prompt) {
		return DemoSummary.askedFor(prompt)
			.map((summary) -> new AssistantMessage(summary.text()))
			.orElseGet(() -> answer(prompt));
	}

	private static AssistantMessage answer(Prompt prompt) {
		DemoReply reply = new DemoReply(prompt);
		List<ToolCall> calls = reply.wanted();
		if (calls.isEmpty()) {
			return new AssistantMessage(reply.said());
		}
		return reply.unavailable(calls)
			.map(AssistantMessage::new)
			.orElseGet(() -> AssistantMessage.builder().content("").toolCalls(calls).build());
	}

	private static Set<String> offered(@Nullable ChatOptions options) {
		if (!(options instanceof ToolCallingChatOptions tools) || tools.getToolCallbacks() == null) {
			return Set.of();
		}
		return tools.getToolCallbacks()
			.stream()
			.map((tool) -> tool.getToolDefinition().name())
			.collect(Collectors.toSet());
	}

	private List<ToolCall> wanted() {
		List<ToolCall> calls = new ArrayList<>(this.turn.nextCheck().stream().toList());
		if (!calls.isEmpty() || last() instanceof ToolResponseMessage) {
			return calls;
		}
		if (TIME.matcher(question()).find()) {
			calls.add(call(calls.size(), ChatTools.CURRENT_TIME, "{}"));
		}
		if (ROLL.matcher(question()).find()) {
			for (int die = dice(); die > 0; die--) {
				calls.add(call(calls.size(), ChatTools.ROLL_DIE, "{\"sides\":6}"));
			}
		}
		for (String order : ordersToCancel()) {
			calls
				.add(call(calls.size(), OrderTools.CANCEL_ORDER, JSON.writeValueAsString(new Cancel(order, reason()))));
		}
		return calls;
	}

	private List<String> ordersToCancel() {
		return CANCEL.matcher(question()).find() ? ORDER.matcher(question()).results().map(MatchResult::group).toList()
				: List.of();
	}

	private String reason() {
		Matcher because = BECAUSE.matcher(question());
		return because.find() ? because.group(1) : "asked for in the chat";
	}

	private ToolCall call(int index, String name, String arguments) {
		return new ToolCall("call-" + this.messages.size() + "-" + index, "function", name, arguments);
	}

	private int dice() {
		Matcher count = COUNT.matcher(question());
		if (!count.find()) {
			return 1;
		}
		String number = count.group(1);
		return WORDS.getOrDefault(number.toLowerCase(Locale.ROOT), Character.digit(number.charAt(0), 10));
	}

	private Optional<String> unavailable(List<ToolCall> calls) {
		return calls.stream()
			.map(ToolCall::name)
			.filter((name) -> !this.offered.contains(name))
			.findFirst()
			.map((name) -> "For that I need the tool `" + name + "`, and this call does not offer it.");
	}

	private String said() {
		List<ToolResponse> results = this.turn.results();
		if (results.isEmpty()) {
			return text();
		}
		return this.turn.checkedOrders()
			.orElseGet(() -> this.turn.isInterrupted() ? told(results) + "\n\n" + text() : told(results));
	}

	private String told(List<ToolResponse> results) {
		List<String> sentences = new ArrayList<>();
		results.stream()
			.filter((result) -> result.name().equals(ChatTools.CURRENT_TIME))
			.map((result) -> "It is " + plain(result.responseData()) + ".")
			.forEach(sentences::add);
		List<String> rolls = rolls(results);
		if (!rolls.isEmpty()) {
			sentences.add("You rolled " + joined(rolls) + ".");
		}
		results.stream()
			.filter((result) -> result.name().equals(OrderTools.CANCEL_ORDER))
			.map((result) -> toldOfOrder(plain(result.responseData())))
			.forEach(sentences::add);
		return sentences.isEmpty() ? "The tools have answered, and I do not know what to make of it."
				: String.join(" ", sentences);
	}

	private static String toldOfOrder(String result) {
		Matcher cancelled = CANCELLED.matcher(result);
		return cancelled.find() ? cancelled.group() : "Nothing was cancelled. I was told: “" + result + "”";
	}

	private String text() {
		return RULES.stream()
			.filter((rule) -> rule.pattern().matcher(question()).find())
			.findFirst()
			.map((rule) -> rule.reply().apply(this))
			.orElse(DemoTexts.UNDERSTOOD);
	}

	private String greeting() {
		return "Nice to meet you, " + name().orElse("stranger")
				+ ". I keep nothing myself; ask me later, and the history of this thread will tell me.";
	}

	private String hello() {
		return "Hello" + name().map((name) -> ", " + name).orElse("")
				+ "! I am an offline demo. Tell me your name, or ask me what time it is.";
	}

	private String recalledName() {
		return name().map((name) -> "Your name is " + name + ". You told me so in this thread.")
			.orElse("I do not know. Nothing in the history that I was sent says it.");
	}

	private String firstQuestion() {
		List<String> questions = questions();
		if (questions.size() == 1) {
			return "This is the first thing that you have said here.";
		}
		if (!this.summary.isEmpty()) {
			return "The summary that I was sent begins with: “" + questions.get(0) + "”";
		}
		return "The first thing that I was sent from you is: “" + questions.get(0) + "”";
	}

	private String countedMessages() {
		long sent = this.messages.stream().filter((message) -> message.getMessageType() != MessageType.SYSTEM).count();
		if (!this.summary.isEmpty()) {
			return "With this question I was sent " + sent
					+ " messages. Two of them are the summary of what came before. From you: " + asked().size()
					+ ". The rest is what I answered and what the tools returned.";
		}
		return "With this question I was sent " + sent + ((sent == 1) ? " message" : " messages") + ", "
				+ questions().size() + " of them from you. The rest is what I answered and what the tools returned.";
	}

	private String recalledRolls() {
		Stream<String> summarized = this.summary.lines()
			.stream()
			.flatMap((line) -> line.results().stream())
			.filter((result) -> result.tool().equals(ChatTools.ROLL_DIE))
			.map(DemoSummary.Result::data);
		Stream<String> sent = this.messages.stream()
			.filter(ToolResponseMessage.class::isInstance)
			.map(ToolResponseMessage.class::cast)
			.flatMap((results) -> rolls(results.getResponses()).stream());
		List<String> rolls = Stream.concat(summarized, sent).toList();
		return rolls.isEmpty() ? "Nothing yet, as far as the history says."
				: "The history says: " + joined(rolls) + ".";
	}

	private String failure() {
		throw new IllegalStateException("The demo model was asked to fail.");
	}

	private Optional<String> name() {
		return questions().stream().flatMap((text) -> nameIn(text).stream()).reduce((a, b) -> b);
	}

	/**
	 * Returns the last name that the user gives in a text.
	 */
	static Optional<String> nameIn(String text) {
		return NAME.matcher(text).results().reduce((a, b) -> b).map((found) -> {
			String name = (found.group(1) != null) ? found.group(1) : found.group(2);
			return Character.toTitleCase(name.charAt(0)) + name.substring(1);
		});
	}

	/**
	 * Returns what the user has said as far as the prompt knows, in a summary or as it
	 * was said.
	 */
	private List<String> questions() {
		return Stream.concat(this.summary.lines().stream().map(DemoSummary.Line::question), asked().stream()).toList();
	}

	private List<String> asked() {
		return this.messages.stream()
			.filter(UserMessage.class::isInstance)
			.map(Message::getText)
			.skip(this.summary.isEmpty() ? 0 : 1)
			.toList();
	}

	private String question() {
		List<String> questions = questions();
		return questions.isEmpty() ? "" : questions.get(questions.size() - 1);
	}

	private Message last() {
		return this.messages.get(this.messages.size() - 1);
	}

	private static List<String> rolls(List<ToolResponse> results) {
		return results.stream()
			.filter((result) -> result.name().equals(ChatTools.ROLL_DIE))
			.map((result) -> plain(result.responseData()))
			.toList();
	}

	/** Decodes a result; text results come as JSON strings. */
	static String plain(String data) {
		return (data.length() > 1 && data.startsWith("\"") && data.endsWith("\""))
				? data.substring(1, data.length() - 1) : data;
	}

	private static String joined(List<String> parts) {
		int last = parts.size() - 1;
		return (last == 0) ? parts.get(0) : String.join(", ", parts.subList(0, last)) + " and " + parts.get(last);
	}

	private static Pattern pattern(String regex) {
		return Pattern.compile(regex, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
	}

	private record Cancel(String orderNumber, String reason) {
	}

	private record Rule(Pattern pattern, Function<DemoReply, String> reply) {
	}

}
