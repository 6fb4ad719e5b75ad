package io.sessionkit.context;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.sessionkit.SessionItem;
import io.sessionkit.Summary;
import io.sessionkit.context.ViewRules.Layout;
import io.sessionkit.context.ViewRules.Limit;
import io.sessionkit.context.ViewRules.Part;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The checks of each request of one turn.
 */
final class ViewChecks {

	/** In the place of a vocabulary: a function of all that a message says. */
	static final ToIntFunction<Message> TOKENS = (message) -> 4 + Lines.of(List.of(message)).get(0).length() / 4;

	/** The questions of users, each with a name of its own. */
	private static final Pattern QUESTION = Pattern.compile("\\b[qs]\\d+\\.");

	private final ViewTurn turn;

	private final ViewCall.Called called;

	private final String name;

	ViewChecks(ViewTurn turn, ViewCall.Called called, String name) {
		this.turn = turn;
		this.called = called;
		this.name = name;
	}

	/**
	 * @param mood what the state says of the mood before the turn
	 * @param summary the summary after which the view starts
	 * @param questionsWithInputs the questions whose turn has kept an input
	 */
	void requests(String mood, Optional<Summary> summary, Set<Integer> questionsWithParameters) {
		boolean breach = false;
		Set<String> pinned = new TreeSet<>(pinned(summary.isPresent()));
		summary.ifPresent((each) -> each.pinned()
			.stream()
			.map(SessionItem::message)
			.filter(UserMessage.class::isInstance)
			.forEach((message) -> pinned.addAll(questions(message.getText()))));
		for (int call = 0; call < this.called.prompts().size(); call++) {
			List<Message> request = this.called.prompts().get(call).getInstructions();
			List<Message> said = withoutSystem(request);
			String about = this.name + ", call " + call + ": " + Lines.of(request);
			List<String> own = this.turn.saidBefore(call);
			assertThat(Lines.of(request)).as("%s: not changed later", about)
				.isEqualTo(this.called.linesWhenSent().get(call));
			valid(request, about);
			currentTurn(said, own, about);
			breach |= breach(said, own.size(), about);
			history(request, said, own, about);
			pins(said, own, pinned(summary.isPresent()), about);
			pruned(said.subList(0, said.size() - own.size()), pinned, about);
			system(request, this.turn.mood(call, mood), about);
			parameters(request, questionsWithParameters, about);
		}
		if (this.turn.rules.limit() == Limit.NONE) {
			beginWithTheOneBefore();
		}
		if (this.called.result() != null && breach) {
			assertThat(this.called.result().overLimit()).as("%s: the breach is reported", this.name).isTrue();
		}
		if (this.called.result() != null && this.turn.rules.leaveHistoryInItsPlace()
				&& !this.turn.rules.has(Part.REDACTOR)) {
			assertThat(this.called.result().overLimit()).as("%s: reported without a breach", this.name)
				.isEqualTo(breach);
		}
	}

	private void valid(List<Message> request, String about) {
		assertThat(ValidSequence.faults(request)).as(about).isEmpty();
		assertThat(SequenceGuard.strict().apply(request)).as(about).isSameAs(request);
		MessageType last = request.get(request.size() - 1).getMessageType();
		assertThat(last).as(about).isIn(MessageType.USER, MessageType.TOOL);
		assertThat(request).as(about).noneMatch((message) -> message.getMetadata().containsKey("spoilt"));
		List<String> lines = Lines.of(request);
		for (int i = 1; i < lines.size() && this.turn.rules.leaveHistoryInItsPlace(); i++) {
			assertThat(lines.get(i).startsWith("user: ") && lines.get(i - 1).startsWith("user: q"))
				.as("%s: a question without an answer", about)
				.isFalse();
		}
	}

	/**
	 * The turn is there as a whole, at the end.
	 */
	private void currentTurn(List<Message> said, List<String> own, String about) {
		List<String> end = new ArrayList<>(Lines.of(said).subList(said.size() - own.size(), said.size()));
		if (this.turn.rules.layout() == Layout.USER_TEXT) {
			assertThat(end.get(0)).as(about).endsWith(own.get(0).substring("user: ".length()));
			end.set(0, own.get(0));
		}
		assertThat(end).as(about).isEqualTo(own);
	}

	private boolean breach(List<Message> said, int own, String about) {
		int tokens = said.stream().mapToInt(TOKENS).sum();
		boolean breach = said.size() > this.turn.trim.maxMessages() || tokens > this.turn.trim.maxTokens();
		if (breach && this.turn.rules.layout() != Layout.USER_TEXT) {
			assertThat(said).as("%s: only the current turn may be over %s", about, this.turn.trim).hasSize(own);
		}
		return breach;
	}

	private void history(List<Message> request, List<Message> said, List<String> own, String about) {
		String text = String.join("\n", Lines.of(request));
		List<String> questions = questions(text);
		if (!this.turn.rules.has(Part.CUSTOM_HOOK)) {
			assertThat(questions).as("%s: sent once", about).doesNotHaveDuplicates();
		}
		int turns = (int) questions.stream().filter((question) -> !question.equals(this.turn.question())).count();
		assertThat(turns).as("%s: turns of history", about).isLessThanOrEqualTo(this.turn.trim.maxTurns());
		if (this.turn.rules.has(Part.REDACTOR)) {
			assertThat(text).as(about).doesNotContain("@example.org");
		}
		if (this.turn.rules.leaveHistoryInItsPlace()) {
			for (int i = 0; i < said.size(); i++) {
				boolean marked = said.get(i).getMetadata().containsKey("sessionkit.summary");
				assertThat(!marked || i < 2).as("%s: a summary comes first", about).isTrue();
			}
		}
		if (isLeftAlone() && ValidSequence.faults(this.called.view()).isEmpty()) {
			List<String> whole = new ArrayList<>(Lines.of(withoutSystem(this.called.view())));
			whole.addAll(own);
			assertThat(Lines.of(said)).as("%s: nothing is lost", about).isEqualTo(whole);
		}
	}

	private boolean isLeftAlone() {
		ViewRules rules = this.turn.rules;
		return rules.leaveHistoryInItsPlace() && rules.limit() == Limit.NONE && !rules.has(Part.PRUNE)
				&& !rules.has(Part.REDACTOR) && !rules.has(Part.INPUTS);
	}

	/**
	 * Pinned messages are the last to go, except for those that have no room at all.
	 */
	private void pins(List<Message> said, List<String> own, Set<String> pinned, String about) {
		if (!this.turn.rules.has(Part.PINS) || !this.turn.rules.leaveHistoryInItsPlace()) {
			return;
		}
		Set<String> others = new TreeSet<>(questions(String.join("\n", Lines.of(questions()))));
		others.removeAll(pinned);
		List<String> sent = questions(String.join("\n", Lines.of(said.subList(0, said.size() - own.size()))));
		if (sent.stream().anyMatch(others::contains) && !this.turn.rules.has(Part.INPUTS)
				&& !this.turn.rules.has(Part.REDACTOR) && this.turn.rules.limit() != Limit.ALL) {
			assertThat(pinned).as("%s: pinned are left out only without room", about)
				.allMatch((question) -> sent.contains(question) || hasNoRoom(said, sent, question));
		}
	}

	/**
	 * Returns whether a request cannot have a pinned turn too. Turns of one question are
	 * pinned together, so those beside it count.
	 */
	private boolean hasNoRoom(List<Message> said, List<String> sent, String question) {
		List<Message> with = new ArrayList<>(said);
		List<Message> view = withoutSystem(this.called.view());
		List<Integer> starts = IntStream.range(0, view.size())
			.filter((i) -> view.get(i) instanceof UserMessage user && !questions(user.getText()).isEmpty())
			.boxed()
			.toList();
		for (int turn = 0; turn < starts.size(); turn++) {
			if (questions(view.get(starts.get(turn)).getText()).contains(question)) {
				int from = starts.get(Math.max(0, turn - 1));
				int to = (turn + 2 < starts.size()) ? starts.get(turn + 2) : view.size();
				with.addAll(view.subList((turn == 0) ? 0 : from, to));
			}
		}
		return with.size() > this.turn.trim.maxMessages() || sent.size() >= this.turn.trim.maxTurns()
				|| with.stream().mapToInt(TOKENS).sum() > this.turn.trim.maxTokens();
	}

	/** Returns the questions of the view that the rules of the turn pin. */
	private Set<String> pinned(boolean summarized) {
		Set<String> pinned = new TreeSet<>();
		boolean first = !summarized;
		for (Message message : this.turn.rules.has(Part.PINS) ? questions() : List.<Message>of()) {
			List<String> asked = questions(message.getText());
			if (first || Boolean.TRUE.equals(message.getMetadata().get(ViewRules.PIN))) {
				pinned.addAll(asked);
			}
			first = first && asked.isEmpty();
		}
		return pinned;
	}

	private List<Message> questions() {
		return this.called.view()
			.stream()
			.filter((message) -> message instanceof UserMessage
					&& !message.getMetadata().containsKey("sessionkit.summary"))
			.toList();
	}

	private void pruned(List<Message> history, Set<String> pinned, String about) {
		if (!this.turn.rules.leaveHistoryInItsPlace()) {
			return;
		}
		int newer = 0;
		for (int i = history.size() - 1; i >= 0; i--) {
			if (history.get(i) instanceof ToolResponseMessage results) {
				if (pinned.contains(question(history, i))) {
					assertThat(results.getResponses()).as("%s: pinned, not pruned", about)
						.noneMatch((result) -> result.responseData().equals(Prune.PLACEHOLDER));
				}
				else if (newer >= this.turn.prune.keepToolResults()) {
					assertThat(results.getResponses()).as("%s: pruned", about)
						.extracting((result) -> result.responseData().length())
						.allMatch((length) -> length <= Prune.PLACEHOLDER.length());
				}
				// messages that the guard has added were not in the view
				newer += results.getResponses()
					.stream()
					.filter((result) -> !result.responseData().equals(SequenceGuard.NO_RESULT))
					.count();
			}
		}
	}

	/** Returns the question to whose turn a message belongs; empty if there is none. */
	private static String question(List<Message> history, int message) {
		for (int i = message; i >= 0; i--) {
			if (history.get(i) instanceof UserMessage user && !questions(user.getText()).isEmpty()) {
				return questions(user.getText()).get(0);
			}
		}
		return "";
	}

	private void system(List<Message> request, String mood, String about) {
		if (this.turn.rules.has(Part.STATE)) {
			assertThat(system(request)).as(about).contains(mood.isEmpty() ? "Mood: none." : "Mood: \"" + mood + "\".");
		}
		assertThat(system(request).contains("be brief")).as(about).isEqualTo(this.turn.setup.system());
	}

	private void parameters(List<Message> request, Set<Integer> questionsWithParameters, String about) {
		ViewRules rules = this.turn.rules;
		if (rules.has(Part.CUSTOM_HOOK) || rules.has(Part.MERGE)) {
			return;
		}
		String text = String.join("\n", Lines.of(request));
		for (int question : questionsWithParameters) {
			boolean there = rules.has(Part.INPUTS) && text.contains("q" + question + ".");
			assertThat(text.contains("[c" + question + ".]")).as("%s: input of %s", about, question).isEqualTo(there);
		}
	}

	private void beginWithTheOneBefore() {
		for (int call = 1; call < this.called.prompts().size(); call++) {
			List<Message> before = withoutSystem(this.called.prompts().get(call - 1).getInstructions());
			List<Message> now = withoutSystem(this.called.prompts().get(call).getInstructions());
			assertThat(now.subList(0, before.size())).as("%s, call %s", this.name, call).isEqualTo(before);
		}
	}

	static List<Message> withoutSystem(List<Message> request) {
		return request.stream().filter((message) -> !(message instanceof SystemMessage)).toList();
	}

	private static String system(List<Message> request) {
		return (request.get(0) instanceof SystemMessage system) ? system.getText() : "";
	}

	private static List<String> questions(String text) {
		List<String> questions = new ArrayList<>();
		Matcher matcher = QUESTION.matcher(text);
		while (matcher.find()) {
			questions.add(matcher.group());
		}
		return questions;
	}

}
