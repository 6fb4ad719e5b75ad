package io.sessionkit.store;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A store that loses writes, in a failover or because a backup is restored, while
 * somebody works on what is lost and others write as much as was lost.
 */
abstract class LostWritesContract extends CommitContract {

	static Stream<UnaryOperator<Commit>> changes() {
		return Stream.of((on) -> on.turn(completed("q", "a")),
				(on) -> on.turns(List.of(completed("q"), completed("r"))),
				(on) -> on.turn(turn(TurnStatus.FAILED, 2, "q")),
				(on) -> on.turn(turn(TurnStatus.AWAITING_APPROVAL, 2, "q")),
				(on) -> on.turn(completed("q", "a")).records(List.of(RecordWrite.put("note", "1", "text"))),
				(on) -> on.records(List.of(RecordWrite.put("note", "1", "text"))),
				(on) -> on.header(HeaderChange.NONE.title("title")),
				(on) -> on.header(HeaderChange.NONE.head(Session.MAIN, 1)),
				(on) -> on.header(HeaderChange.NONE.head("retry", 1)).turn(completed("q", "a")),
				(on) -> on.header(HeaderChange.NONE.summary(2, "s"))
					.records(List.of(RecordWrite.put(SessionStore.SUMMARY, "s", "text"))),
				(on) -> on.delete(Set.of(1L)), (on) -> on.oldest(new Oldest(1, 2)));
	}

	@ParameterizedTest
	@MethodSource("changes")
	void commitOnALostTurnIsAConflict(UnaryOperator<Commit> change) {
		SessionKey key = key();
		threadOf(key, 1);
		Runnable backup = backup(key);
		if (backup == null) {
			Assumptions.abort("Not applicable: nothing can get under this store to take writes back.");
			return;
		}
		threadOf(key, 1);
		Session lost = store().open(key, Window.ALL).orElseThrow().session();
		backup.run();
		write(another(), key, "kept", 1);
		assertThat(store().commit(change.apply(Commit.on(lost))).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(texts(store().open(key, Window.ALL).orElseThrow().items())).containsExactly("q1", "a1", "q kept",
				"a kept");
		assertThat(store().turns(key, Tail.ALL)).hasSize(2);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 5 })
	void commitOnLostTurnsIsAConflictHoweverManyThereWere(int turns) {
		SessionKey key = key();
		threadOf(key, 1);
		Runnable backup = backup(key);
		if (backup == null) {
			Assumptions.abort("Not applicable: nothing can get under this store to take writes back.");
			return;
		}
		write(store(), key, "lost", turns);
		Session lost = store().open(key, Window.ALL).orElseThrow().session();
		backup.run();
		write(another(), key, "kept", turns);
		assertThat(store().commit(Commit.on(lost).turn(completed("q", "a"))).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(view(key, Window.ALL)).hasSize(2 + 2 * turns).endsWith("q kept", "a kept");
	}

	private static void write(SessionStore store, SessionKey key, String text, int turns) {
		for (int i = 0; i < turns; i++) {
			Session now = store.find(key).orElseThrow();
			store.commit(Commit.on(now).turn(completed("q " + text, "a " + text)));
		}
	}

	/**
	 * Both histories have the same numbers, sizes and totals.
	 */
	@Test
	void answerToALostTurnDoesNotBecomeHistory() {
		SessionKey key = key();
		ScriptedChatModel model = new ScriptedChatModel().says("a1").says("lost");
		ask(store(), model, key, "q1");
		Runnable backup = backup(key);
		if (backup == null) {
			Assumptions.abort("Not applicable: nothing can get under this store to take writes back.");
			return;
		}
		ask(store(), model, key, "q lost");
		model.step((prompt) -> {
			backup.run();
			CompletableFuture.runAsync(() -> ask(another(), new ScriptedChatModel().says("kept"), key, "q kept"))
				.join();
			return Flux.just(model.chunk("a3", List.of(), true));
		}).says("a4");
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(store(), model, key, "q3"));
		Conversation thread = Conversations.of(store()).get(key);
		assertThat(thread.turns(Tail.ALL)).hasSize(3);
		assertThat(thread.snapshot(3)).isEmpty();
		ask(store(), model, key, "q4");
		assertThat(model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q kept",
				"assistant: kept", "user: q4");
	}

	private static void ask(SessionStore store, ScriptedChatModel model, SessionKey key, String question) {
		ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(store)))
			.build()
			.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(key))
			.call()
			.content();
	}

}
