package io.sessionkit.faults;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.faults.Book.Fate;
import io.sessionkit.faults.Book.Question;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;

import org.springframework.ai.chat.messages.Message;

/**
 * One of those who talk all at once, on sessions that they share. It notes what it was
 * told.
 */
final class Caller implements Runnable {

	/** Questions that begin so make the model call the tool that needs consent. */
	static final String GATED = "gate";

	/** Questions that begin so make the model call the other tool. */
	static final String FREE = "tool";

	private static final String PLAIN = "say";

	/** The exceptions that the docs name for failures of a store, or of others. */
	private static final Set<Class<? extends SessionException>> NAMED = Set.of(StoreUnavailableException.class,
			CommitFailedException.class, SessionConflictException.class, TurnOpenException.class,
			TurnInProgressException.class, DecisionRefusedException.class, ResumeRefusedException.class,
			SessionNotFoundException.class, SessionLostException.class);

	private final String name;

	private final App app;

	private final Book book;

	private final Sessions sessions;

	private final Random random;

	private final int actions;

	/** The time to wait while the store is away. */
	private final Duration patience;

	private int asked;

	Caller(String name, App app, Book book, Sessions sessions, long seed, int actions, Duration patience) {
		this.name = name;
		this.app = app;
		this.book = book;
		this.sessions = sessions;
		this.random = new Random(seed);
		this.actions = actions;
		this.patience = patience;
	}

	@Override
	public void run() {
		for (int i = 0; i < this.actions; i++) {
			int dice = this.random.nextInt(100);
			if (dice < 30) {
				attempt("gated", () -> gated(oneOf(this.sessions.gated())));
			}
			else if (dice < 50) {
				attempt("pops", () -> popped(oneOf(this.sessions.popped())));
			}
			else {
				talk(oneOf(this.sessions.talks()), dice);
			}
		}
	}

	private void talk(SessionKey key, int dice) {
		if (dice < 85) {
			attempt("ask", () -> ask(key, (dice < 65) ? FREE : PLAIN));
		}
		else if (dice < 90) {
			attempt("delete", () -> delete(key));
		}
		else if (dice < 93) {
			attempt("title", () -> this.app.thread(key).title(this.name));
		}
		else if (dice < 96) {
			attempt("state", () -> this.app.thread(key).putAttribute("by", this.name));
		}
		else {
			attempt("read", () -> read(key));
		}
	}

	private SessionKey oneOf(List<SessionKey> keys) {
		return keys.get(this.random.nextInt(keys.size()));
	}

	/**
	 * Does something that may fail in the ways that the pages name.
	 */
	private void attempt(String what, Runnable action) {
		try {
			action.run();
			this.book.count(what);
		}
		catch (RuntimeException | Error ex) {
			this.book.count(what + " " + ex.getClass().getSimpleName());
			if (!NAMED.contains(ex.getClass())) {
				this.book.unnamed.add(ex);
			}
			else if (ex instanceof StoreUnavailableException) {
				LockSupport.parkNanos(this.patience.toNanos());
			}
		}
	}

	private void ask(SessionKey key, String kind) {
		String text = kind + " " + this.name + "-" + (++this.asked);
		Fate fate = Fate.UNKNOWN;
		try {
			this.app.call(key, text, this.random.nextInt(4) == 0);
			fate = Fate.DONE;
		}
		catch (SessionConflictException | SessionLostException | TurnOpenException ex) {
			fate = Fate.NOT_DONE;
			throw ex;
		}
		finally {
			this.book.questions.add(new Question(key, text, fate));
		}
	}

	private void read(SessionKey key) {
		this.app.thread(key).messages();
		this.app.thread(key).turns(Tail.newest(5));
		this.app.thread(key).view();
	}

	private void delete(SessionKey key) {
		List<Turn> turns = this.app.thread(key).turns(Tail.newest(6));
		Optional<Turn> turn = turns.stream()
			.filter((one) -> one.status() == TurnStatus.COMPLETED && one.items() > 0)
			.findFirst();
		List<SessionItem> items = turn.map((one) -> this.app.thread(key).items(one.number())).orElse(List.of());
		if (items.isEmpty()) {
			return;
		}
		String text = String.valueOf(items.get(0).message().getText());
		Fate fate = Fate.UNKNOWN;
		try {
			fate = (this.app.thread(key).delete(turn.get().number()) > 0) ? Fate.DONE : Fate.NOT_DONE;
		}
		catch (SessionConflictException ex) {
			fate = Fate.NOT_DONE;
			throw ex;
		}
		finally {
			this.book.deleted.add(new Question(key, text, fate));
		}
	}

	private void popped(SessionKey key) {
		if (this.random.nextInt(3) > 0) {
			ask(key, PLAIN);
			return;
		}
		Fate fate = Fate.UNKNOWN;
		String text = "?";
		try {
			Optional<Message> taken = this.app.thread(key).pop();
			text = taken.map(Message::getText).orElse("");
			fate = taken.isPresent() ? Fate.DONE : Fate.NOT_DONE;
		}
		finally {
			this.book.popped.add(new Question(key, text, fate));
		}
	}

	private void gated(SessionKey key) {
		List<ToolApproval> pending = this.app.approvals().pending(key);
		boolean open = this.app.thread(key).session().filter((session) -> session.openTurn() != 0).isPresent();
		if (!open) {
			ask(key, (this.random.nextInt(3) > 0) ? GATED : PLAIN);
			return;
		}
		pending.forEach((call) -> attempt("decide", () -> decide(call)));
		try {
			this.app.call(key, null, this.random.nextInt(4) == 0);
		}
		catch (NothingWaitsException ex) {
			this.book.count("somebody else has ended the turn");
		}
	}

	private void decide(ToolApproval call) {
		if (call.status() == ApprovalStatus.UNCERTAIN) {
			// also where the answer is not heard: then it may be stored all the same
			this.book.answered.add(call.id());
			this.app.approvals().decide(call, Decision.answer(this.name, "answered"));
		}
		else if (this.random.nextInt(4) == 0) {
			this.app.approvals().decide(call, Decision.reject(this.name));
			this.book.rejected.add(call.id());
		}
		else {
			this.app.approvals().approve(call, this.name);
		}
	}

}
