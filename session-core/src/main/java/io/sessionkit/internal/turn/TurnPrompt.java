package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.internal.message.CurrentTurn;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.internal.snapshot.VerbatimMessages;
import io.sessionkit.internal.view.Calibration;
import io.sessionkit.internal.view.CarriedTurns;
import io.sessionkit.internal.view.History;
import io.sessionkit.internal.view.Merged;
import io.sessionkit.internal.view.PassedMessages;
import io.sessionkit.internal.view.RequestSize;
import io.sessionkit.internal.view.RequestView;
import io.sessionkit.internal.view.ToolPruner;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewTrimmer;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * The messages that one turn sends: the history, its input, and the form of both in a
 * request. Safe for use by many threads once the turn has begun.
 */
final class TurnPrompt {

	private final History history;

	private final ViewTrimmer trimmer;

	private final RequestView requestView;

	private final SnapshotTaker snapshots;

	private final Calibration calibration;

	private List<Message> input;

	/** The messages to send; null if they are the history followed by the input. */
	private @Nullable Merged merged;

	TurnPrompt(TurnRequest request, TurnViews.Opened opened, StoreOptions options, TurnRules rules, TurnViews views) {
		this.input = request.input();
		Session base = opened.header();
		long head = (base != null) ? base.head() : 0;
		List<ViewLine> lines = new ToolPruner(rules.prune(), options.tokens())
			.prune(ViewLine.of(opened.view(), options), head, this.input);
		this.history = History.of(ReplayedParameters.show(lines, rules.parameters(), options.tokens()),
				(base != null) ? base.summaryTurn() : 0, head, rules.trim(), request.limit(), this.input);
		RequestSize size = new RequestSize(this.history.lines(), options.tokens(),
				views.memory().factor(request.key()));
		this.trimmer = new ViewTrimmer(request.key(), this.history, rules.trim(), size);
		this.requestView = new RequestView(request.key(), this.trimmer, rules.guard());
		this.calibration = new Calibration(request.key(), views.memory(), size, options.tokens(), views.countsTokens());
		this.snapshots = new SnapshotTaker(lines, new VerbatimMessages(request.key(), head, options.codec()),
				rules.keepsSystemText());
	}

	List<Message> history() {
		return this.history.messages();
	}

	/**
	 * Returns the positions in the history at which its turns begin.
	 * @param end the end of the part of the history to search
	 */
	List<Integer> turnStarts(int end) {
		return this.history.starts().stream().filter((start) -> start < end).toList();
	}

	List<Message> input() {
		return this.input;
	}

	void input(List<Message> messages) {
		this.input = messages;
	}

	/**
	 * Checks that all of the input can be sent.
	 * @throws io.sessionkit.InvalidSequenceException if it cannot
	 */
	void checkPassed(SessionKey key, SequenceGuard guard) {
		// if a limit cut off the calls that these results answer, the calls that end
		// the history now are older ones
		boolean answersNothing = CarriedTurns.beginsWithResults(this.input) && this.history.carried().isEmpty();
		PassedMessages.check(key, answersNothing ? List.of() : history(), this.input, guard.repair());
	}

	/**
	 * Returns the part of the history that a merge may change freely. It does not contain
	 * the calls whose results the turn begins with.
	 */
	List<Message> mergeable() {
		return history().subList(0, history().size() - this.history.carried().size());
	}

	/**
	 * Replaces the input of the caller by what hooks have made of it.
	 * @throws IllegalStateException if tool results are lost by that
	 */
	void changed(SessionKey key, List<Message> messages, SequenceGuard guard) {
		List<Message> passed = this.input;
		this.input = messages;
		PassedMessages.checkChanged("A beforeTurn hook", key, passed, messages, messages(), guard.repair());
	}

	/**
	 * Replaces the history and the input by what a merge has made of them.
	 * @throws IllegalStateException if tool results are lost by that
	 */
	void merged(SessionKey key, Merged result, SequenceGuard guard) {
		if (!result.isPlain(mergeable(), this.input)) {
			Merged whole = result.behind(this.history.carried());
			PassedMessages.checkChanged("The HistoryMerge", key, this.input, result.input(), whole.messages(),
					guard.repair());
			this.input = result.input();
			this.merged = whole;
		}
	}

	/**
	 * Returns the messages that follow the system text when the turn begins.
	 */
	List<Message> messages() {
		if (this.merged != null) {
			return this.merged.messages();
		}
		List<Message> messages = new ArrayList<>(history());
		messages.addAll(this.input);
		return messages;
	}

	/**
	 * Returns a request as hooks see it.
	 * @param said the messages of the turn after its input
	 */
	synchronized List<Message> beforeHooks(List<Message> request, List<Transcript.Entry> said) {
		return this.requestView.beforeHooks(request, with(said, current()));
	}

	/**
	 * Returns the position in a request at which the current turn begins.
	 * @param said the messages of the turn after its input
	 */
	int turnStart(List<Message> request, List<Transcript.Entry> said) {
		return CurrentTurn.start(request, with(said, current()));
	}

	/**
	 * Returns a request as it is sent.
	 * @param whole the request before the hooks
	 * @param passed the request as hooks have left it
	 * @param said the messages of the turn after its input
	 */
	synchronized List<Message> afterHooks(List<Message> whole, HookRun.Passed<List<Message>> passed,
			List<Transcript.Entry> said) {
		// not made from the whole request: what no hook has seen must not be sent
		return (passed.replaced() || this.merged != null)
				? this.requestView.ofChanged(passed.value(), whole, with(said, current()))
				: this.requestView.of(passed.value(), with(said, current()));
	}

	/**
	 * Records the prompt that is really sent.
	 * @param said supplies the messages of the turn after its input
	 */
	synchronized void sent(Prompt prompt, Supplier<List<Transcript.Entry>> said) {
		this.calibration.sent(prompt);
		if (this.snapshots.taken() == null) {
			this.snapshots.take(prompt.getInstructions(), with(said.get(), this.input));
		}
	}

	synchronized boolean isOverLimit() {
		return this.trimmer.isOverLimit();
	}

	SnapshotTaker snapshots() {
		return this.snapshots;
	}

	Calibration calibration() {
		return this.calibration;
	}

	/**
	 * Returns the messages at the beginning of the turn that trimming leaves alone: the
	 * calls whose results the turn begins with, and everything from its first new message
	 * on, including what a merge has added after that.
	 */
	private List<Message> current() {
		if (this.merged != null) {
			return this.merged.current(this.history.carried());
		}
		List<Message> current = new ArrayList<>(this.history.carried());
		current.addAll(this.input);
		return current;
	}

	private static List<Message> with(List<Transcript.Entry> said, List<Message> opening) {
		List<Message> turn = new ArrayList<>(opening);
		said.forEach((entry) -> turn.add(entry.message()));
		return turn;
	}

}
