package io.sessionkit.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The settings of a session, as a field of its header.
 */
abstract class SettingsContract extends LostWritesContract {

	private static final SessionSettings SOME = SessionSettings.NONE.limit(12).summarize(false);

	@Test
	void settingsComeBackEqual() {
		for (SessionSettings settings : List.of(SOME, SessionSettings.NONE.summarize(true),
				SessionSettings.NONE.limit(0).trim((trim) -> trim.maxTurns(0).maxMessages(1).maxTokens(1)),
				SessionSettings.NONE.limit(Integer.MAX_VALUE)
					.trim((trim) -> trim.maxTurns(Integer.MAX_VALUE)
						.maxMessages(Integer.MAX_VALUE)
						.maxTokens(Integer.MAX_VALUE))
					.retention((kept) -> kept.maxTurns(1).maxAge(Duration.ofDays(90).plusNanos(1))))) {
			SessionKey key = key();
			commit(Commit.first(key).turn(completed("q1", "a1")).header(HeaderChange.NONE.settings(settings)));
			assertThat(header(key).settings()).isEqualTo(settings);
			assertThat(another().find(key).orElseThrow().settings()).isEqualTo(settings);
		}
	}

	@Test
	void settingsAreAbsentUntilTheyAreSetAndRemovedByNone() {
		SessionKey key = key();
		Session before = threadOf(key, 1);
		assertThat(before.settings()).isEqualTo(SessionSettings.NONE);
		commit(Commit.on(before).header(HeaderChange.NONE.settings(SOME)));
		assertThat(header(key).settings()).isEqualTo(SOME);
		assertThat(header(key).version()).isGreaterThan(before.version());
		commit(Commit.any(key).header(HeaderChange.NONE.settings(SessionSettings.NONE)));
		assertThat(header(key).settings()).isEqualTo(SessionSettings.NONE);
	}

	@Test
	void settingsOfASessionThatIsCreatedWithoutATurnAreKeptByItsFirstTurn() {
		SessionKey key = key();
		commit(Commit.first(key).header(HeaderChange.NONE.settings(SOME)));
		assertThat(header(key).settings()).isEqualTo(SOME);
		commit(Commit.on(header(key)).turn(completed("q1", "a1")));
		assertThat(header(key).settings()).isEqualTo(SOME);
	}

	@Test
	void settingsStayWhateverElseIsWritten() {
		SessionKey key = key();
		commit(Commit.first(key).turn(turn(TurnStatus.FAILED, 0, "q")).header(HeaderChange.NONE.settings(SOME)));
		for (int i = 0; i < 3; i++) {
			commit(Commit.on(header(key)).turn(completed("q", "a")));
		}
		commit(Commit.any(key).turn(completed("q", "a")));
		TurnWrite open = turn(TurnStatus.AWAITING_APPROVAL, 5, "q");
		commit(Commit.on(header(key)).turn(open));
		commit(Commit.on(header(key)).turn(next(open, TurnStatus.COMPLETED, "a")));
		commit(Commit.any(key).header(HeaderChange.NONE.head("other", 3)));
		commit(Commit.any(key)
			.header(HeaderChange.NONE.title("title").tags(Set.of("tag")).timeToLive(Duration.ofDays(1))));
		commit(Commit.any(key).header(HeaderChange.NONE.attributes(Map.of("a", 1))));
		commit(Commit.on(header(key))
			.header(HeaderChange.NONE.summary(2, "summary"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "summary", "text"))));
		commit(Commit.any(key).delete(Set.of(2L)));
		assertThat(header(key).settings()).isEqualTo(SOME);
		assertThat(store().path(key, PathQuery.to(Point.at(2))).orElseThrow().view().session().settings())
			.isEqualTo(SOME);
		assertThat(store().list(key.owner(), Page.first(1))).extracting(Session::settings).containsExactly(SOME);
	}

	@Test
	void settingsAreWrittenWithAnyTurnAndLeaveTheRestAsItIs() {
		SessionKey key = key();
		commit(Commit.first(key).turn(completed("q1", "a1")).header(HeaderChange.NONE.title("title")));
		commit(Commit.on(header(key)).turn(completed("q2", "a2")).header(HeaderChange.NONE.settings(SOME)));
		assertThat(header(key).settings()).isEqualTo(SOME);
		SessionSettings other = SOME.limit(null);
		commit(Commit.any(key).turn(turn(TurnStatus.CANCELLED, 2, "q3")).header(HeaderChange.NONE.settings(other)));
		assertThat(header(key).settings()).isEqualTo(other);
		assertThat(header(key).title()).isEqualTo("title");
		assertThat(view(key, Window.ALL)).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void ofTwoWhoChangeSettingsOnOneHeaderOneIsRefused() {
		SessionKey key = key();
		Session seen = threadOf(key, 1);
		commit(Commit.on(seen).header(HeaderChange.NONE.settings(SOME)));
		Commit late = Commit.on(seen).header(HeaderChange.NONE.settings(SessionSettings.NONE.limit(3)));
		assertThat(another().commit(late).outcome()).isEqualTo(Outcome.CONFLICT);
		assertThat(header(key).settings()).isEqualTo(SOME);
	}

	@Test
	void whoKnowsTheViewSeesTheSettingsThatAnotherProcessHasWritten() {
		SessionKey key = key();
		threadOf(key, 2);
		store().open(key, Window.turns(2));
		another().commit(Commit.any(key).header(HeaderChange.NONE.settings(SOME)));
		SessionView opened = store().open(key, Window.turns(2)).orElseThrow();
		assertThat(opened.session().settings()).isEqualTo(SOME);
		assertThat(texts(opened.items())).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void sessionThatIsWrittenAnewHasNoSettings() {
		SessionKey key = key();
		commit(Commit.first(key).turn(completed("q1", "a1")).header(HeaderChange.NONE.settings(SOME)));
		store().erase(key);
		commit(Commit.first(key).turn(completed("q1", "a1")));
		assertThat(header(key).settings()).isEqualTo(SessionSettings.NONE);
	}

}
