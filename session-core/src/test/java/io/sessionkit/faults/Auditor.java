package io.sessionkit.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.faults.Book.Fate;
import io.sessionkit.faults.Book.Question;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Proves that what a store holds is what callers were told: no turn lost, none doubled,
 * no thread that a provider would refuse, no tool run twice or against a rejection.
 */
final class Auditor {

	private final SessionStore store;

	private final Book book;

	private final Sessions sessions;

	Auditor(SessionStore store, Book book, Sessions sessions) {
		this.store = store;
		this.book = book;
		this.sessions = sessions;
	}

	void audit() {
		awaitQuiet();
		assertThat(this.book.unnamed).as("exceptions that no page names").isEmpty();
		assertThat(this.book.invalidRequests).as("what is wrong with requests").isEmpty();
		try (GateAudit gates = new GateAudit(this.store, this.book)) {
			this.sessions.gated().forEach(gates::audit);
		}
		this.sessions.talks().forEach(this::auditTurns);
		this.sessions.gated().forEach(this::auditTurns);
		this.sessions.popped().forEach(this::auditMessages);
		this.sessions.all().forEach(this::auditThread);
	}

	void auditThreads() {
		awaitQuiet();
		assertThat(this.book.unnamed).as("exceptions that no page names").isEmpty();
		assertThat(this.book.invalidRequests).as("what is wrong with requests").isEmpty();
		this.sessions.all().forEach(this::auditThread);
		Stream.of(this.sessions.talks(), this.sessions.gated()).flatMap(List::stream).forEach(this::auditWholeTurns);
	}

	/**
	 * A server may still be busy with what was sent on a connection that is gone.
	 */
	private void awaitQuiet() {
		List<List<Object>> seen = new ArrayList<>();
		await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(100)).until(() -> {
			seen.add(this.sessions.all().<Object>map(this.store::find).toList());
			boolean leased = this.sessions.gated()
				.stream()
				.anyMatch((key) -> !this.store.records(key, TurnRecords.LEASE).isEmpty());
			return !leased && seen.size() > 2 && seen.get(seen.size() - 1).equals(seen.get(seen.size() - 3));
		});
	}

	/**
	 * Every turn is whole and there at most once; those that were confirmed are there.
	 */
	private void auditTurns(SessionKey key) {
		List<String> asked = questions(key);
		assertThat(asked).as("questions of %s", key).doesNotHaveDuplicates();
		Set<String> there = new HashSet<>(asked);
		Set<String> gone = Set.copyOf(Book.texts(this.book.deleted, key, Fate.DONE));
		Set<String> maybeGone = Set.copyOf(Book.texts(this.book.deleted, key, Fate.UNKNOWN));
		for (Question question : questionsAsked(key)) {
			String text = question.text();
			if (question.fate() == Fate.DONE && !gone.contains(text) && !maybeGone.contains(text)) {
				assertThat(there).as("confirmed turns of %s", key).contains(text);
			}
			if (question.fate() == Fate.NOT_DONE || gone.contains(text)) {
				assertThat(there).as("turns of %s that were refused or deleted", key).doesNotContain(text);
			}
		}
		assertThat(questionsAsked(key).stream().map(Question::text)).as("all that was asked in %s", key)
			.containsAll(asked);
		auditWholeTurns(key);
	}

	private void auditWholeTurns(SessionKey key) {
		for (Turn turn : this.store.turns(key, Tail.ALL)) {
			List<Message> messages = this.store.items(key, turn.number())
				.stream()
				.<Message>map(SessionItem::message)
				.toList();
			assertThat(messages).as("items of turn %s of %s", turn.number(), key).hasSize(turn.items());
			if (turn.status() == TurnStatus.COMPLETED && !messages.isEmpty()) {
				assertThat(messages.get(messages.size() - 1).getText())
					.as("end of turn %s of %s: %s", turn.number(), key, Lines.of(messages))
					.isEqualTo(AnsweringModel.ANSWER + messages.get(0).getText());
				assertThat(messages.stream().filter((message) -> message.getMessageType() == MessageType.USER))
					.hasSize(1);
			}
		}
	}

	private List<Question> questionsAsked(SessionKey key) {
		return this.book.questions.stream().filter((question) -> question.key().equals(key)).toList();
	}

	private List<String> questions(SessionKey key) {
		return this.store.messages(key)
			.stream()
			.filter((message) -> message.getMessageType() == MessageType.USER)
			.map(Message::getText)
			.toList();
	}

	/**
	 * Every message is in the log or was handed out, once. Of those whose caller was told
	 * that nobody knows, at most one each is missing.
	 */
	private void auditMessages(SessionKey key) {
		List<String> log = this.store.messages(key).stream().map(Message::getText).toList();
		List<String> taken = Book.texts(this.book.popped, key, Fate.DONE);
		List<String> both = Stream.concat(log.stream(), taken.stream()).toList();
		assertThat(both).as("messages of %s and those taken from it", key).doesNotHaveDuplicates();
		Set<String> missing = Book.texts(this.book.questions, key, Fate.DONE)
			.stream()
			.flatMap((text) -> Stream.of(text, AnsweringModel.ANSWER + text))
			.collect(Collectors.toSet());
		missing.removeAll(Set.copyOf(both));
		assertThat(missing).as("messages of %s that nobody has", key)
			.hasSizeLessThanOrEqualTo(Book.texts(this.book.popped, key, Fate.UNKNOWN).size());
		Set<String> refused = Set.copyOf(Book.texts(this.book.questions, key, Fate.NOT_DONE));
		assertThat(both).as("messages of %s", key)
			.doesNotContainAnyElementsOf(refused.isEmpty() ? Set.of("-") : refused);
	}

	/**
	 * The header says what is there, and the thread can be sent to a provider.
	 */
	private void auditThread(SessionKey key) {
		assertThat(ValidSequence.faults(this.store.messages(key))).as("thread of %s", key).isEmpty();
		this.store.open(key, Window.ALL).ifPresent((view) -> auditHeader(key, view));
	}

	private void auditHeader(SessionKey key, SessionView view) {
		Session session = view.session();
		List<Turn> turns = this.store.turns(key, Tail.ALL);
		assertThat(turns).extracting(Turn::number)
			.containsExactlyElementsOf(LongStream.rangeClosed(1, session.turns()).boxed().toList());
		assertThat(turns).extracting(Turn::id).doesNotHaveDuplicates();
		assertThat(view.items()).hasSize((int) session.totals().items());
		assertThat(view.items().stream().mapToLong(SessionItem::tokens).sum()).isEqualTo(session.totals().tokens());
		List<Long> sequences = this.store.items(key, Tail.ALL).stream().map(SessionItem::sequence).toList();
		assertThat(sequences).isSorted().doesNotHaveDuplicates();
		assertThat(view.summary() != null).as("summary").isEqualTo(session.summaryId() != null);
	}

}
