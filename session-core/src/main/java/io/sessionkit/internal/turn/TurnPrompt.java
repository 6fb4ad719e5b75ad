package io.sessionkit.internal.turn;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.internal.message.CurrentTurn;
import io.sessionkit.internal.opening.OpenedView;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnRules;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.internal.snapshot.VerbatimMessages;
import io.sessionkit.internal.view.Calibration;
import io.sessionkit.internal.view.CarriedTurns;
import io.sessionkit.internal.view.GivenHistory;
import io.sessionkit.internal.view.Merged;
import io.sessionkit.internal.view.PassedMessages;
import io.sessionkit.internal.view.RequestSize;
import io.sessionkit.internal.view.RequestView;
import io.sessionkit.internal.view.TokenMemory;
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

	private final SessionKey key;

	private final TurnRules rules;

	private final StoreOptions options;

	private final OpenedHistory opened;

	/** True once the model was called. */
	private volatile boolean asked;

	/** Null if nothing counts tokens. */
	private final @Nullable Calibration calibration;

	private final long head;

	private final TokenMemory memory;

	private List<Message> input;

	/** The messages to send; null if they are the history followed by the input. */
	private @Nullable Merged merged;

	/** Null until the first request is made. */
	private @Nullable ViewTrimmer trimmer;

	/** Null until the first request leaves, or the turn ends without one. */
	private @Nullable SnapshotTaker snapshots;

	TurnPrompt(TurnRequest request, OpenedView opened, TurnSetup setup) {
		this.key = request.key();
		this.rules = setup.rules();
		this.options = setup.store().options();
		this.input = request.input();
		this.memory = setup.views().memory();
		Session base = opened.seen();
		this.head = (base != null) ? base.head() : 0;
		this.opened = OpenedHistory.of(request, opened, setup);
		RequestSize size = this.opened.size();
		this.calibration = (size != null)
				? new Calibration(this.key, setup.views().memory(), size, this.options.tokens()) : null;
	}

	/** Returns whether a call has brought the history, so that it is sent as it is. */
	boolean isGiven() {
		return this.opened.isGiven();
	}

	List<ViewLine> lines() {
		return this.opened.history().lines();
	}

	List<Message> history() {
		return this.opened.history().messages();
	}

	/**
	 * Returns the positions in the history at which its turns begin.
	 * @param end the end of the part of the history to search
	 */
	List<Integer> turnStarts(int end) {
		return this.opened.history().starts().stream().filter((start) -> start < end).toList();
	}

	List<Message> input() {
		return this.input;
	}

	/**
	 * Returns the input as it is recorded.
	 * @param at the time of the input
	 */
	List<Transcript.Entry> asked(Instant at) {
		List<Transcript.Entry> asked = new ArrayList<>(this.input.size());
		for (Message message : this.input) {
			asked.add(new Transcript.Entry(message, at));
		}
		return asked;
	}

	void input(List<Message> messages) {
		this.input = messages;
	}

	/**
	 * Checks that all of the input can be sent.
	 * @throws io.sessionkit.context.InvalidSequenceException if it cannot
	 */
	void checkPassed() {
		if (isGiven()) {
			PassedMessages.check(this.key, history(), this.input, this.rules.sent().guard().repair());
			GivenHistory.check(this.key, history(), this.input, this.rules.sent().guard().repair());
			return;
		}
		// if a limit cut off the calls that these results answer, the calls that end
		// the history now are older ones
		boolean answersNothing = CarriedTurns.beginsWithResults(this.input) && carried().isEmpty();
		PassedMessages.check(this.key, answersNothing ? List.of() : history(), this.input,
				this.rules.sent().guard().repair());
	}

	/**
	 * Returns the part of the history that a merge may change freely. It does not contain
	 * the calls whose results the turn begins with.
	 */
	List<Message> mergeable() {
		return history().subList(0, history().size() - carried().size());
	}

	/**
	 * Replaces the input of the caller by what hooks have made of it.
	 * @throws IllegalStateException if tool results are lost by that
	 */
	void changed(List<Message> messages) {
		List<Message> passed = this.input;
		this.input = messages;
		PassedMessages.checkChanged("A beforeTurn hook", this.key, passed, messages, messages(),
				this.rules.sent().guard().repair());
	}

	/**
	 * Replaces the history and the input by what a merge has made of them.
	 * @throws IllegalStateException if tool results are lost by that
	 */
	void merged(Merged result) {
		if (!result.isPlain(mergeable(), this.input)) {
			Merged whole = result.behind(carried());
			PassedMessages.checkChanged("The HistoryMerge", this.key, this.input, result.input(), whole.messages(),
					this.rules.sent().guard().repair());
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
		return joined(history(), this.input);
	}

	/**
	 * Returns a request as hooks see it.
	 * @param said the messages of the turn after its input
	 */
	synchronized List<Message> beforeHooks(List<Message> request, List<Transcript.Entry> said) {
		return requestView().beforeHooks(request, () -> with(said, current()));
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
				? requestView().ofChanged(passed.value(), whole, () -> with(said, current()))
				: requestView().of(passed.value(), () -> with(said, current()));
	}

	private RequestView requestView() {
		ViewTrimmer known = this.trimmer;
		if (known == null) {
			known = new ViewTrimmer(this.key, this.opened.history(), this.opened.trim(), this.opened.size(),
					this.memory);
			this.trimmer = known;
		}
		return new RequestView(this.key, known, this.rules.sent().guard());
	}

	/** Begins a round: the model is called next. */
	void roundBegins() {
		this.asked = true;
		if (this.calibration != null) {
			this.calibration.begin();
		}
	}

	/**
	 * Records the prompt that is really sent.
	 * @param said supplies the messages of the turn after its input
	 */
	synchronized void sent(Prompt prompt, Supplier<List<Transcript.Entry>> said) {
		if (this.calibration != null) {
			this.calibration.sent(prompt);
		}
		if (snapshots().taken() == null) {
			snapshots().take(prompt.getInstructions(), with(said.get(), this.input));
		}
	}

	/**
	 * Records the tokens that the provider reported for the round.
	 */
	void answered(TokenUsage usage) {
		if (this.calibration != null) {
			this.calibration.answered(usage);
		}
	}

	synchronized boolean isOverLimit() {
		return this.trimmer != null && this.trimmer.isOverLimit();
	}

	/** Returns the estimated tokens of the history. */
	int tokens() {
		int tokens = 0;
		for (ViewLine line : lines()) {
			tokens += line.tokens();
		}
		return tokens;
	}

	/** Returns whether the model was asked. */
	boolean isAsked() {
		return this.asked;
	}

	/** Returns whether a limit has left out some of the history. */
	synchronized boolean isTrimmed() {
		return this.opened.isCut() || (this.trimmer != null && this.trimmer.hasTrimmed());
	}

	/**
	 * Returns what takes the snapshot of the turn.
	 */
	synchronized SnapshotTaker snapshots() {
		SnapshotTaker known = this.snapshots;
		if (known == null) {
			known = new SnapshotTaker(this.opened.view(),
					new VerbatimMessages(this.key, this.head, this.options.codec()), this.rules.kept().systemText());
			this.snapshots = known;
		}
		return known;
	}

	/**
	 * Returns the messages at the beginning of the turn that trimming leaves alone: the
	 * calls whose results the turn begins with, and everything from its first new message
	 * on, including what a merge has added after that.
	 */
	private List<Message> current() {
		if (this.merged != null) {
			return this.merged.current(carried());
		}
		return joined(carried(), this.input);
	}

	private List<Message> carried() {
		return this.opened.history().carried();
	}

	private static List<Message> with(List<Transcript.Entry> said, List<Message> opening) {
		List<Message> turn = new ArrayList<>(opening.size() + said.size());
		turn.addAll(opening);
		for (Transcript.Entry entry : said) {
			turn.add(entry.message());
		}
		return turn;
	}

	private static List<Message> joined(List<Message> first, List<Message> second) {
		List<Message> joined = new ArrayList<>(first.size() + second.size());
		joined.addAll(first);
		joined.addAll(second);
		return joined;
	}

}
