package io.sessionkit.store.memory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.sessionkit.store.SessionStoreFixture.AT;
import static io.sessionkit.store.SessionStoreFixture.completed;
import static io.sessionkit.store.SessionStoreFixture.items;
import static io.sessionkit.store.SessionStoreFixture.next;
import static io.sessionkit.store.SessionStoreFixture.texts;
import static io.sessionkit.store.SessionStoreFixture.turn;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class SessionDocumentTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	@Test
	void textComesBackAsAnEqualDocument() {
		SessionDocument document = eventful();
		SessionDocument read = document(document.toText());
		assertThat(read.session()).isEqualTo(document.session());
		assertThat(read.turns(Tail.ALL)).isEqualTo(document.turns(Tail.ALL));
		assertThat(read.items(Tail.ALL)).isEqualTo(document.items(Tail.ALL));
		assertThat(read.items(4)).isEqualTo(document.items(4));
		assertThat(read.open(Window.ALL)).isEqualTo(document.open(Window.ALL));
		assertThat(read.records(SessionStore.SUMMARY)).isEqualTo(document.records(SessionStore.SUMMARY));
		assertThat(read.records("lease")).isEqualTo(document.records("lease"));
		assertThat(read.toText()).isEqualTo(document.toText());
	}

	@Test
	void documentOfVersion1IsRead() throws IOException {
		String text = version1();
		SessionDocument read = document(text);
		SessionDocument same = eventful();
		assertThat(read.turns(Tail.ALL)).isEqualTo(same.turns(Tail.ALL));
		assertThat(read.items(Tail.ALL)).isEqualTo(same.items(Tail.ALL));
		assertThat(read.records("lease")).isEqualTo(same.records("lease"));
		assertThat(read.records(SessionStore.SUMMARY)).isEqualTo(same.records(SessionStore.SUMMARY));
		assertThat(read.session().orElseThrow().attributes()).isEqualTo(Map.of("count", 1L));
		// each turn named the summary that was in force when it was the head
		assertThat(read.session().orElseThrow().summaryTurn()).isZero();
		assertThat(changed(document(text.replace("AWAITING_APPROVAL", "CANCELLED")
			.replace("\"openTurn\":{\"$t\":\"long\",\"v\":\"4\"}", "\"openTurn\":{\"$t\":\"long\",\"v\":\"0\"}")),
				Commit.any(KEY).header(HeaderChange.NONE.head("other", 2)))
			.session()
			.orElseThrow()
			.summaryId()).isEqualTo("summary");
		// before there were incarnations, the time of creation told sessions apart
		assertThat(read.session().orElseThrow().incarnation()).isEqualTo(AT.toString());
		assertThat(document(read.toText()).session()).isEqualTo(read.session());
	}

	@Test
	void documentOfVersion1IsReadWithAllThatItMayHold() throws IOException {
		String text = version1()
			.replaceFirst("\"turns\":",
					"\"checkpoints\":[{\"id\":\"summary\",\"turn\":{\"\\$t\":\"long\",\"v\":\"1\"}}],\"turns\":")
			.replace("\"failure\":null", "\"failure\":null,\"inputs\":{\"state\":\"kept\"},\"verdicts\":"
					+ "[{\"hook\":\"h\",\"phase\":\"BEFORE_TURN\",\"outcome\":\"PASSED\",\"reason\":null}]");
		Turn turn = document(text).turns(Tail.ALL).get(0);
		assertThat(turn.parameters()).isEqualTo(Map.of("state", "kept"));
		assertThat(turn.verdicts()).singleElement().extracting(Verdict::kind).isEqualTo(Verdict.Kind.PASSED);
		assertThat(document(document(text).toText()).turns(Tail.ALL)).isEqualTo(document(text).turns(Tail.ALL));
	}

	@Test
	void documentIsWrittenInTheWordsOfTheInterfaces() throws IOException {
		assertThat(document(version1()).toText()).contains("\"document\":2", "\"attributes\"", "\"summaryTurn\"")
			.doesNotContain("\"state\"", "checkpoint", "\"inputs\"", "\"outcome\"");
	}

	private String version1() throws IOException {
		try (InputStream resource = getClass().getResourceAsStream("document-v1.json")) {
			return new String(Objects.requireNonNull(resource).readAllBytes(), StandardCharsets.UTF_8).strip();
		}
	}

	@Test
	void openTurnGoesOnAfterItWasText() {
		TurnWrite waiting = turn(TurnStatus.AWAITING_APPROVAL, 0, "q1", "call");
		SessionDocument document = document(changed(absent(), Commit.first(KEY).turn(waiting)).toText());
		assertThat(document.commit(Commit.any(KEY).turn(waiting)).result().outcome()).isEqualTo(Outcome.REPEATED);
		SessionDocument after = changed(document,
				Commit.any(KEY).turn(next(waiting, TurnStatus.COMPLETED, "result", "a1")));
		assertThat(texts(after.items(Tail.ALL))).containsExactly("q1", "call", "result", "a1");
	}

	@Test
	void changeLeavesTheDocumentAsItWas() {
		SessionDocument before = eventful();
		String text = before.toText();
		changed(before,
				Commit.any(KEY)
					.turn(turn(TurnStatus.FAILED, 3, "q"))
					.delete(Set.of(1L))
					.header(HeaderChange.NONE.title("")));
		assertThat(before.put(RecordWrite.put("lease", "a", "later"))).isPresent();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> before.commit(Commit.any(KEY).header(HeaderChange.NONE.head(Session.MAIN, 77))));
		assertThat(before.toText()).isEqualTo(text);
	}

	@Test
	void conflictReturnsTheSameDocument() {
		SessionDocument document = eventful();
		SessionDocument.Changed changed = document.commit(Commit.first(KEY).turn(completed("q", "a")));
		assertThat(changed.result().outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(changed.document()).isSameAs(document);
	}

	@Test
	void nothingIsReadInAnAbsentSession() {
		SessionDocument absent = absent();
		assertThat(absent.key()).isEqualTo(KEY);
		assertThat(absent.session()).isEmpty();
		assertThat(absent.open(Window.ALL)).isEmpty();
		assertThat(absent.items(Tail.ALL)).isEmpty();
		assertThat(absent.items(1)).isEmpty();
		assertThat(absent.turns(Tail.ALL)).isEmpty();
		assertThat(absent.records("lease")).isEmpty();
		assertThat(absent.put(RecordWrite.put("lease", "a", "x"))).isEmpty();
		assertThatIllegalStateException().isThrownBy(absent::toText).withMessageContaining(KEY.toString());
	}

	@Test
	void expiredSessionIsAbsentAndBeginsAnew() {
		StoreOptions options = OPTIONS.timeToLive(Duration.ofMinutes(1));
		SessionDocument first = changed(SessionDocument.fromText(KEY, null, AT, options),
				Commit.first(KEY).turn(completed("q1", "a1")));
		Session base = first.session().orElseThrow();
		Instant expiry = AT.plusSeconds(60);
		assertThat(base.expiresAt()).isEqualTo(expiry);
		assertThat(SessionDocument.fromText(KEY, first.toText(), expiry.minusNanos(1000), options).session())
			.isPresent();
		SessionDocument expired = SessionDocument.fromText(KEY, first.toText(), expiry, options);
		assertThat(expired.session()).isEmpty();
		SessionDocument second = changed(expired, Commit.first(KEY).turn(completed("q2", "a2")));
		assertThat(texts(second.items(Tail.ALL))).containsExactly("q2", "a2");
		assertThat(second.commit(Commit.on(base).turn(completed("late"))).result().outcome())
			.isEqualTo(Outcome.CONFLICT);
	}

	@Test
	void recordThatHasExpiredLeavesTheText() {
		SessionDocument document = changed(absent(), Commit.first(KEY).turn(completed("q1", "a1")))
			.put(RecordWrite.create("lease", "a", "x").timeToLive(Duration.ofSeconds(1)))
			.orElseThrow();
		SessionDocument later = SessionDocument.fromText(KEY, document.toText(), AT.plusSeconds(1), OPTIONS);
		assertThat(later.records("lease")).isEmpty();
		assertThat(later.toText()).doesNotContain("lease");
	}

	@Test
	void commitOfAnotherSessionIsRefused() {
		SessionKey other = SessionKey.of("owner", "other");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> absent().commit(Commit.first(other).turn(completed("q", "a"))))
			.withMessageContaining(KEY.toString())
			.withMessageContaining(other.toString());
	}

	@Test
	void textOfAnotherSessionIsRefused() {
		String text = eventful().toText();
		SessionKey other = SessionKey.of("other", "thread");
		assertThatExceptionOfType(UnreadablePayloadException.class)
			.isThrownBy(() -> SessionDocument.fromText(other, text, AT, OPTIONS))
			.withMessageContaining(other.toString());
	}

	@Test
	void newerVersionIsRefused() {
		String text = eventful().toText().replace("\"document\":2", "\"document\":3");
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(() -> document(text))
			.withMessageContaining("version 3");
	}

	@Test
	void missingFieldIsNamed() {
		String text = eventful().toText().replace("\"startedAt\"", "\"begunAt\"");
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> document(text))
			.withMessageContaining(KEY.toString())
			.withMessageContaining("startedAt");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "spoilt", "{\"v\":1,\"t\":\"values\",\"values\":{}}" })
	void textThatIsNoDocumentIsRefused(String text) {
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> document(text))
			.withMessageContaining(KEY.toString());
	}

	@ParameterizedTest
	@ValueSource(strings = { "\"status\":\"COMPLETED\">\"status\":\"UNHEARD_OF\"",
			"\"head\":{\"$t\":\"long\",\"v\":\"3\"}>\"head\":{\"$t\":\"long\",\"v\":\"5\"}",
			"\"parent\":{\"$t\":\"long\",\"v\":\"1\"}>\"parent\":{\"$t\":\"long\",\"v\":\"2\"}" })
	void valueThatCannotBeIsRefused(String change) {
		String text = eventful().toText();
		int to = change.indexOf('>');
		String spoilt = text.replace(change.substring(0, to), change.substring(to + 1));
		assertThat(spoilt).isNotEqualTo(text);
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> document(spoilt))
			.withMessageContaining(KEY.toString());
	}

	/**
	 * A session that has something in every field.
	 */
	private static SessionDocument eventful() {
		List<Round> rounds = List.of(new Round("model", new TokenUsage(1, 2, 3, 4)), new Round(null, TokenUsage.NONE));
		SessionDocument document = changed(absent(),
				Commit.first(KEY)
					.turn(write("turn 1", 0, TurnStatus.COMPLETED, rounds, "q1", "a1"))
					.header(HeaderChange.NONE.title("Títle").tags(Set.of("b", "a")).attributes(Map.of("count", 1L))));
		document = changed(document,
				Commit.any(KEY).turn(write("turn 2", 0, TurnStatus.COMPLETED, List.of(), "q2", "a2")));
		document = changed(document,
				Commit.any(KEY)
					.header(HeaderChange.NONE.summary(1, "summary").timeToLive(Duration.ofDays(30)))
					.records(List.of(new RecordWrite(SessionStore.SUMMARY, "summary", 0, "what was said", null, 1))));
		document = changed(document, Commit.any(KEY).header(HeaderChange.NONE.head("other", 1)));
		document = changed(document,
				Commit.any(KEY).turn(write("turn 3", 0, TurnStatus.COMPLETED, List.of(), "q3", "a3")));
		document = changed(document,
				Commit.any(KEY).turn(write("turn 4", 3, TurnStatus.AWAITING_APPROVAL, rounds, "q4")));
		document = changed(document, Commit.any(KEY).delete(Set.of(6L)));
		return document.put(new RecordWrite("lease", "a", 0, "x", Duration.ofHours(1), 1)).orElseThrow();
	}

	private static TurnWrite write(String id, long parent, TurnStatus status, List<Round> rounds, String... texts) {
		Turn turn = Turn.builder(id, AT)
			.after(parent, "other")
			.status(status, status.isOpen() ? null : AT.plusSeconds(1))
			.agent("agent")
			.model("model")
			.rounds(rounds)
			.tools(Map.of("tool", "digest"))
			.build();
		return new TurnWrite(turn, 0, items(texts));
	}

	private static SessionDocument changed(SessionDocument document, Commit commit) {
		SessionDocument.Changed changed = document.commit(commit);
		assertThat(changed.result().outcome()).isEqualTo(Outcome.COMMITTED);
		return changed.document();
	}

	private static SessionDocument absent() {
		return document(null);
	}

	private static SessionDocument document(@Nullable String text) {
		return SessionDocument.fromText(KEY, text, AT, OPTIONS);
	}

}
