package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SentHistory;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.internal.retention.RetentionOnce;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what summaries and resets have of turns that retention deletes.
 */
class RetainedSummaryTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ScriptedChatModel writer = new ScriptedChatModel();

	private SessionStore store;

	private Conversation thread;

	private ChatClient chat;

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		Conversations conversations = Conversations.builder(this.store)
			.trim(Trim.NONE.pins(Pins.firstUser()))
			.summarize(Summarize.by(this.writer).triggerMessages(1000).keepTurns(1).build())
			.build();
		this.thread = conversations.get(this.key);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	private void ask(int from, int to) {
		for (int i = from; i <= to; i++) {
			this.model.says("a" + i);
			ask("q" + i);
		}
	}

	private void ask(String text) {
		this.chat.prompt().user(text).advisors(SessionAdvisor.session(this.key)).call().content();
	}

	private void retain(int turns) {
		Session session = this.store.find(this.key).orElseThrow();
		RetentionOnce.run(this.store, Retention.keepLastTurns(turns).batch(1), this.key, session.head());
	}

	private List<String> view() {
		return Lines.of(this.thread.view());
	}

	private static List<String> turns(int from, int to) {
		List<String> lines = new ArrayList<>();
		for (int i = from; i <= to; i++) {
			lines.add("user: q" + i);
			lines.add("assistant: a" + i);
		}
		return lines;
	}

	private List<String> summaries() {
		return this.store.records(this.key, SessionStore.SUMMARY).stream().map(SessionRecord::payload).toList();
	}

	@ParameterizedTest
	@EnumSource
	void summaryStaysInForceWhenTheOnlyTurnBehindItIsDeleted(TestStores kind) {
		on(kind);
		ask(1, 4);
		this.writer.says("the story");
		this.thread.summarize(true);
		retain(1);
		assertThat(this.thread.delete(4)).isEqualTo(2);
		assertThat(view()).hasSize(2).last().asString().contains("the story");
		ask(5, 5);
		assertThat(this.model.lastRequestLines()).hasSize(3).endsWith("user: q5");
		assertThat(this.model.lastRequestLines().get(1)).contains("the story");
	}

	@ParameterizedTest
	@EnumSource
	void summaryGoesIfATurnIsDeletedByItsNumberThatItCoversAndRetentionHasDeleted(TestStores kind) {
		on(kind);
		ask(1, 4);
		this.writer.says("the story");
		this.thread.summarize(true);
		ask(5, 6);
		retain(2);
		assertThat(this.thread.delete(6)).isEqualTo(2);
		assertThat(view()).hasSize(4).contains("user: q5");
		assertThat(this.thread.delete(1)).isZero();
		assertThat(summaries()).isEmpty();
		assertThat(this.store.find(this.key).orElseThrow().summaryTurn()).isZero();
		assertThat(view()).isEqualTo(turns(5, 5));
		ask(7, 7);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q5", "assistant: a5", "user: q7");
		assertThat(this.thread.delete(2)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void summaryStaysIfATurnIsDeletedOnceMoreThatItHasNotSeen(TestStores kind) {
		on(kind);
		ask(1, 8);
		retain(7);
		assertThat(this.thread.delete(3)).isEqualTo(2);
		this.writer.says("the story");
		this.thread.summarize(true);
		assertThat(summaries()).hasSize(1);
		assertThat(this.thread.delete(3)).isZero();
		assertThat(summaries()).hasSize(1);
		assertThat(view()).anyMatch((line) -> line.contains("the story"));
	}

	/** Also if nothing before it is left, as if retention had deleted it. */
	@ParameterizedTest
	@EnumSource
	void summaryStaysIfATurnBehindThoseThatRetentionHasDeletedIsDeletedOnceMore(TestStores kind) {
		on(kind);
		ask(1, 8);
		retain(7);
		assertThat(this.thread.delete(2)).isEqualTo(2);
		assertThat(this.thread.delete(3)).isEqualTo(2);
		this.writer.says("the story");
		this.thread.summarize(true);
		assertThat(summaries()).hasSize(1);
		assertThat(this.thread.delete(3)).isZero();
		assertThat(summaries()).hasSize(1);
		assertThat(view()).anyMatch((line) -> line.contains("the story"));
	}

	@ParameterizedTest
	@EnumSource
	void messagesThatASummaryHasPinnedGoWithTheirTurn(TestStores kind) {
		on(kind);
		ask(1, 4);
		this.writer.says("the story");
		this.thread.summarize(true);
		assertThat(view()).hasSize(6).contains("user: q1");
		ask(5, 5);
		retain(3);
		assertThat(view()).hasSize(6).doesNotContain("user: q1").endsWith("user: q5", "assistant: a5");
		assertThat(view().get(1)).contains("the story");
		assertThat(this.thread.summary().map(Summary::pinned)).contains(List.of());
		assertThat(summaries()).noneMatch((payload) -> payload.contains("q1"));
		SentHistory shown = this.thread.snapshot(5).orElseThrow();
		assertThat(shown.isComplete()).isTrue();
		assertThat(Lines.of(shown.messages())).contains("user: q1", "user: q4");
		this.thread.undo(1);
		assertThat(view()).hasSize(4);
		this.thread.redo(1);
		assertThat(view()).hasSize(6);
		assertThat(view().get(1)).contains("the story");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void messagesOfASeedThatAResetHasKeptGoWithTheirTurn(TestStores kind) {
		on(kind);
		this.thread.seed(List.of(new UserMessage("q1"), new AssistantMessage("a1"), new UserMessage("q2"),
				new AssistantMessage("a2")));
		ask(3, 3);
		this.thread.reset();
		ask(4, 4);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant: a2", "user: q4");
		retain(3);
		assertThat(view()).containsExactly("user: q2", "assistant: a2", "user: q4", "assistant: a4");
		ask(5, 5);
		retain(2);
		assertThat(view()).isEqualTo(turns(4, 5));
		assertThat(summaries()).noneMatch((payload) -> payload.contains("q1") || payload.contains("q2"));
		for (long turn = 4; turn <= 5; turn++) {
			assertThat(this.thread.snapshot(turn).orElseThrow().isComplete()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void snapshotOfATurnThatWasOpenDuringADeletionHasWhatASummaryHadPinned(TestStores kind) {
		on(kind);
		for (int i = 1; i <= 4; i++) {
			// no other snapshot shows these
			this.store.add(this.key, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		this.writer.says("the story");
		this.thread.summarize(true);
		this.model.step((prompt) -> {
			retain(1);
			return Flux.just(this.model.chunk("a5", List.of(), true));
		});
		ask("q5");
		SentHistory shown = this.thread.snapshot(5).orElseThrow();
		assertThat(shown.isComplete()).isTrue();
		assertThat(Lines.of(shown.messages())).contains("user: q1", "assistant: a1", "user: q4");
		assertThat(summaries()).noneMatch((payload) -> payload.contains("q1"));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void summaryThatIsWrittenMeanwhileBringsNoPinnedMessageBack(TestStores kind) {
		on(kind);
		ask(1, 4);
		this.writer.says("the story");
		this.thread.summarize(true);
		ask(5, 6);
		this.writer.step((prompt) -> {
			retain(3);
			return Flux.just(this.writer.chunk("more of it", List.of(), true));
		});
		this.thread.summarize(true);
		assertThat(summaries()).noneMatch((payload) -> payload.contains("q1"));
		assertThat(view()).doesNotContain("user: q1").endsWith("user: q6", "assistant: a6");
		this.writer.says("all of it");
		this.thread.summarize(true);
		assertThat(summaries()).noneMatch((payload) -> payload.contains("q1"));
		assertThat(view().get(1)).contains("all of it");
	}

}
