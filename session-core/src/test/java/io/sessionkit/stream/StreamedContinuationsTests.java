package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same with calls that are streamed, so that pages read and stop them.
 */
class StreamedContinuationsTests extends TurnContinuationsTests {

	private final TurnStreams readers = TurnStreams.builder(this.here.conversations()).build();

	private final CompletableFuture<Void> answers = new CompletableFuture<>();

	/** The time for which a notice is claimed; null for the lease of its turn. */
	private @Nullable Duration claim;

	@Override
	TurnContinuations.Builder configured(TurnContinuations.Builder builder, Conversations conversations) {
		return builder.lease(this.claim)
			.streams((conversations == this.here.conversations()) ? this.readers
					: TurnStreams.builder(conversations).build());
	}

	/** Those of streams run on threads of Reactor, which may be older than the test. */
	@Override
	boolean runsToolsItself() {
		return false;
	}

	@Test
	void pageReadsTheTurnAsItGoesOn() {
		List<CallEvent> read = beginToRead(KEY);
		this.answers.complete(null);
		awaitOver();
		await().until(() -> read.get(read.size() - 1) instanceof CallEvent.Ended);
		assertThat(read).extracting(CallEvent::name)
			.containsExactly("begun", "tool-called", "tool-returned", "text", "text", "ended");
		assertThat(read).filteredOn(CallEvent.Text.class::isInstance)
			.containsExactly(new CallEvent.Text("It is "), new CallEvent.Text("done"));
		assertStatus(KEY, TurnStatus.COMPLETED);
		assertThat(this.cancelled).containsExactly("o1");
	}

	/** Its tool has run, so it stays open. */
	@Test
	void pageThatReadsTheTurnStopsIt() {
		List<StreamEvent> ids = new CopyOnWriteArrayList<>();
		List<CallEvent> read = beginToRead(KEY);
		this.readers.running(KEY).subscribe(ids::add);
		await().until(() -> !ids.isEmpty());
		assertThat(this.readers.stop(KEY, ids.get(0).id())).isTrue();
		awaitOver();
		await().until(() -> read.get(read.size() - 1) instanceof CallEvent.Ended);
		assertThat(read.get(read.size() - 1)).extracting("status").isEqualTo(TurnStatus.AWAITING_APPROVAL);
		assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
		assertThat(this.model.prompts()).hasSize(2);
		this.model.says("done");
		assertThat(this.here.resume(KEY)).contains("done");
		assertThat(this.cancelled).containsExactly("o1");
	}

	/** Its notice is claimed for a second, and the model takes longer. */
	@Test
	void callThatTakesLongerThanItsNoticeIsClaimedIsOverWhenItIsStopped() {
		this.claim = Duration.ofSeconds(1);
		beginToRead(KEY);
		List<StreamEvent> ids = new CopyOnWriteArrayList<>();
		this.readers.running(KEY).subscribe(ids::add);
		await().until(() -> !ids.isEmpty());
		await().during(Duration.ofSeconds(1)).until(() -> {
			pass(Duration.ofMillis(100));
			return this.model.prompts().size() == 2;
		});
		assertThat(this.readers.stop(KEY, ids.get(0).id())).isTrue();
		awaitOver();
		pass(Duration.ofMinutes(2));
		await().during(Duration.ofMillis(300)).until(() -> this.model.prompts().size() == 2);
		assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
	}

	/** The model holds its answer back in the middle. */
	private List<CallEvent> beginToRead(SessionKey key) {
		start(this.here, OFTEN);
		pause(key, "o1");
		this.model.step((prompt) -> Flux.just(this.model.chunk("It is ", List.of(), false))
			.concatWith(Mono.fromFuture(this.answers).thenReturn(this.model.chunk("done", List.of(), true))));
		this.here.approvals().approve(this.here.waiting(key), "anna");
		List<CallEvent> read = new CopyOnWriteArrayList<>();
		await().until(() -> {
			this.readers.running(key).map(StreamEvent::event).subscribe(read::add);
			return !read.isEmpty();
		});
		return read;
	}

}
