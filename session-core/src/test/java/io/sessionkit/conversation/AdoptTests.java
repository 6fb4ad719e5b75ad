package io.sessionkit.conversation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.SetClock;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Turns that are adopted again, and while others write.
 */
class AdoptTests {

	private final SetClock clock = new SetClock();

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()).clock(this.clock)));

	private final Conversation thread = Conversations.of(this.store).get(SessionKey.of("t1"));

	@Test
	void turnThatIsDeletedMeanwhileDoesNotComeBack() {
		this.thread.addTurn(said("q1", "a1"), null);
		this.thread.addTurn(said("q2", "a2"), null);
		this.thread.undo(1);
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.thread.delete(2);
		});
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.adopt(2));
		assertThat(this.thread.messages()).extracting(Message::getText).containsExactly("q1", "a1");
	}

	@Test
	void turnIsHistoryOnceHoweverOftenItIsAdopted() {
		undoneTurn();
		assertThat(this.thread.adopt(2).number()).isEqualTo(3);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.adopt(2))
			.withMessageContaining("as turn 3");
		assertThat(texts()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void turnIsAdoptedOnceByTwoAtOnce() throws Exception {
		undoneTurn();
		CyclicBarrier both = new CyclicBarrier(2);
		AtomicInteger commits = new AtomicInteger();
		this.store.beforeCommit(() -> {
			if (commits.incrementAndGet() <= 2) {
				await(both);
			}
		});
		List<CompletableFuture<Turn>> adopting = List.of(CompletableFuture.supplyAsync(() -> this.thread.adopt(2)),
				CompletableFuture.supplyAsync(() -> this.thread.adopt(2)));
		adopting.forEach((each) -> each.exceptionally((ex) -> null).join());
		assertThat(adopting).filteredOn(CompletableFuture::isCompletedExceptionally).hasSize(1);
		assertThat(texts()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void turnWhoseCopyWasUndoneIsAdoptedAgain() {
		undoneTurn();
		this.thread.adopt(2);
		this.thread.undo(1);
		assertThat(this.thread.adopt(2).number()).isEqualTo(4);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.adopt(3))
			.withMessageContaining("as turn 4");
		assertThat(texts()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void copyIsNotAdoptedOnTheBranchOfItsOriginal() {
		this.thread.addTurn(said("q1", "a1"), null);
		this.thread.addTurn(said("q2", "a2"), null);
		this.thread.branch("side", 2);
		this.thread.adopt(2);
		this.thread.switchTo(Session.MAIN);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.thread.adopt(3))
			.withMessageContaining("as turn 2");
	}

	/** The mark of a copy names a turn of the session that was forked. */
	@Test
	void turnOfAForkIsNotTakenForThatOfTheOriginal() {
		for (int i = 1; i <= 3; i++) {
			this.thread.addTurn(said("q" + i, "a" + i), null);
			this.thread.undo(1);
		}
		this.thread.adopt(3);
		this.thread.fork(SessionKey.of("t2"));
		Conversation fork = Conversations.of(this.store).get(SessionKey.of("t2"));
		this.clock.pass(Duration.ofSeconds(1));
		fork.addTurn(said("q4", "a4"), null);
		fork.addTurn(said("q5", "a5"), null);
		fork.undo(1);
		assertThat(fork.adopt(3).number()).isEqualTo(4);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> fork.adopt(3))
			.withMessageContaining("as turn 4");
	}

	/** Turn 2 is beside the history of one turn then. */
	private void undoneTurn() {
		this.thread.addTurn(said("q1", "a1"), null);
		this.thread.addTurn(said("q2", "a2"), null);
		this.thread.undo(1);
	}

	private List<String> texts() {
		return this.thread.messages().stream().map(Message::getText).toList();
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(10, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static List<Message> said(String question, String answer) {
		return List.of(new UserMessage(question), new AssistantMessage(answer));
	}

}
