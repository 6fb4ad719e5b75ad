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
 * What one turn sends: the history, its input, and what becomes of both in a request.
 * Safe for use by many threads once the turn has begun.
 */
final class TurnPrompt {

	private final History history;

	private final ViewTrimmer trimmer;

	private final RequestView requestView;

	private final SnapshotTaker snapshots;

	private final Calibration calibration;

	private List<Message> input;

	/** What is sent; null if it is the history and the input behind it. */
	private @Nullable Merged merged;

	TurnPrompt(TurnRequest request, TurnViews.Opened opened, StoreOptions options, TurnRules rules, TurnViews views) {
		this.input = request.input();
		Session base = opened.header();
		long head = (base != null) ? base.head() : 0;
		List<ViewLine> lines = new ToolPruner(rules.prune(), options.tokens())
			.prune(ViewLine.of(opened.view(), options), head, this.input);
		this.history = History.of(ReplayedInputs.show(lines, rules.inputs(), options.tokens()),
				(base != null) ? base.checkpoint() : 0, head, rules.trim(), request.limit(), this.input);
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
	 * The places in the history at which its turns begin.
	 * @param end how much of the history is looked at
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
	 * @throws io.sessionkit.InvalidSequenceException if not
	 */
	void checkPassed(SessionKey key, SequenceGuard guard) {
		// older calls that limits leave last are not those that were answered just now
		boolean answersNothing = CarriedTurns.beginsWithResults(this.input) && this.history.carried().isEmpty();
		PassedMessages.check(key, answersNothing ? List.of() : history(), this.input, guard.repair());
	}

	/**
	 * The part of the history that a merge may do with as it likes: without the calls
	 * whose results the turn begins with.
	 */
	List<Message> mergeable() {
		return history().subList(0, history().size() - this.history.carried().size());
	}

	/**
	 * Hooks have made another input of what the caller has passed.
	 * @throws IllegalStateException if results are lost by that
	 */
	void changed(SessionKey key, List<Message> messages, SequenceGuard guard) {
		List<Message> passed = this.input;
		this.input = messages;
		PassedMessages.checkChanged("A beforeTurn hook", key, passed, messages, messages(), guard.repair());
	}

	/**
	 * A merge has made of history and input what is sent.
	 * @throws IllegalStateException if results are lost by that
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
	 * What goes behind the system text when the turn begins.
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
	 * A request as hooks are to see it.
	 * @param said what the turn has behind its input
	 */
	synchronized List<Message> beforeHooks(List<Message> request, List<Transcript.Entry> said) {
		return this.requestView.beforeHooks(request, with(said, current()));
	}

	/**
	 * Where the current turn begins in a request.
	 * @param said what the turn has behind its input
	 */
	int turnStart(List<Message> request, List<Transcript.Entry> said) {
		return CurrentTurn.start(request, with(said, current()));
	}

	/**
	 * A request as it is to be sent.
	 * @param whole the request before the hooks
	 * @param passed what hooks have made of it
	 * @param said what the turn has behind its input
	 */
	synchronized List<Message> afterHooks(List<Message> whole, HookRun.Passed<List<Message>> passed,
			List<Transcript.Entry> said) {
		// not of the whole: what no hook has seen may not be sent
		return (passed.replaced() || this.merged != null)
				? this.requestView.ofChanged(passed.value(), whole, with(said, current()))
				: this.requestView.of(passed.value(), with(said, current()));
	}

	/**
	 * What really leaves.
	 * @param said what the turn has behind its input
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
	 * What trimming leaves alone at the beginning of the turn: the calls whose results it
	 * begins with, and all from its first new message on, also what a merge has put
	 * behind that.
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
