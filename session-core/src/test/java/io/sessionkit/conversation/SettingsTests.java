package io.sessionkit.conversation;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionSettings;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The settings of a session as applications change them, on every store.
 */
class SettingsTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private final SessionKey key = SessionKey.of("owner", UUID.randomUUID().toString());

	private Conversation conversation;

	private Conversation other;

	private void on(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.conversation = Conversations.of(store).get(this.key);
		this.other = Conversations.of(store).get(this.key);
	}

	@ParameterizedTest
	@EnumSource
	void settingsAreChangedOneByOneAndReadBack(TestStores kind) {
		on(kind);
		assertThat(this.conversation.settings()).isEqualTo(SessionSettings.NONE);
		turn();
		this.conversation.settings((settings) -> settings.limit(50));
		this.conversation.settings((settings) -> settings.trim((trim) -> trim.maxTurns(5)));
		this.conversation.tags(Set.of("support"));
		this.conversation.timeToLive(Duration.ofDays(7));
		Session session = this.other.session().orElseThrow();
		assertThat(session.settings()).isEqualTo(SessionSettings.NONE.limit(50).trim((trim) -> trim.maxTurns(5)));
		assertThat(session.tags()).containsExactly("support");
		assertThat(session.timeToLive()).isEqualTo(Duration.ofDays(7));
		this.conversation.tags(Set.of());
		this.conversation.timeToLive(Duration.ZERO);
		session = this.other.session().orElseThrow();
		assertThat(session.tags()).isEmpty();
		assertThat(session.timeToLive()).isNull();
		assertThat(session.settings().limit()).isEqualTo(50);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void absentSessionHasNoSettingsToChangeAndIsCreatedWithThem(TestStores kind) {
		on(kind);
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> this.conversation.settings((settings) -> settings.limit(1)))
			.withMessageContaining("create");
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> this.conversation.tags(Set.of("tag")));
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> this.conversation.timeToLive(Duration.ofDays(1)));
		assertThat(this.conversation.session()).isEmpty();
		SessionSettings limit = SessionSettings.NONE.limit(1);
		assertThat(this.conversation.create(HeaderChange.NONE.settings(limit))).isTrue();
		turn();
		assertThat(this.conversation.settings()).isEqualTo(limit);
	}

	@ParameterizedTest
	@EnumSource
	void whatTwoChangeAtOnceIsBothKept(TestStores kind) {
		on(kind);
		turn();
		AtomicInteger asked = new AtomicInteger();
		this.conversation.settings((settings) -> {
			if (asked.incrementAndGet() == 1) {
				this.other.settings((theirs) -> theirs.summarize(false));
			}
			return settings.limit(9);
		});
		assertThat(asked).hasValue(2);
		assertThat(this.conversation.settings()).isEqualTo(SessionSettings.NONE.limit(9).summarize(false));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void whoMeetsOthersEachTimeWritesNothingAndIsTold(TestStores kind) {
		on(kind);
		turn();
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> this.conversation.settings((settings) -> {
				this.other.title(UUID.randomUUID().toString());
				return settings.limit(9);
			}))
			.withMessageContaining("its settings were to be written");
		assertThat(this.conversation.settings()).isEqualTo(SessionSettings.NONE);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void movesAndResetsKeepSettingsAForkCopiesThemAndErasingEndsThem(TestStores kind) {
		on(kind);
		turn();
		turn();
		SessionSettings settings = SessionSettings.NONE.limit(4).retention((kept) -> kept.maxTurns(8));
		this.conversation.settings((none) -> settings);
		this.conversation.undo(1);
		this.conversation.redo(1);
		this.conversation.branch("other", 2);
		this.conversation.reset();
		this.conversation.switchTo(Session.MAIN);
		assertThat(this.conversation.settings()).isEqualTo(settings);
		SessionKey copy = SessionKey.of("owner", UUID.randomUUID().toString());
		this.conversation.fork(copy);
		Conversations all = Conversations.of(STORES.get(kind));
		assertThat(all.get(copy).settings()).isEqualTo(settings);
		this.conversation.settings((mine) -> mine.limit(null));
		assertThat(all.get(copy).settings()).as("of the copy").isEqualTo(settings);
		this.conversation.erase();
		turn();
		assertThat(this.conversation.settings()).isEqualTo(SessionSettings.NONE);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void settingsWhoseAnswerWasLostAreSetAgainWithoutAnotherWrite(TestStores kind) {
		on(kind);
		turn();
		ObservedStore lossy = new ObservedStore(STORES.get(kind));
		Conversation losing = Conversations.of(lossy).get(this.key);
		lossy.failAt(ObservedStore.Fault.ANSWER);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> losing.settings((settings) -> settings.limit(4)));
		lossy.failAt(ObservedStore.Fault.NONE);
		Session written = this.conversation.session().orElseThrow();
		losing.settings((settings) -> settings.limit(4));
		assertThat(this.conversation.session()).contains(written);
		assertThat(written.settings().limit()).isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void changeThatIsRefusedOrThrowsWritesNothing(TestStores kind) {
		on(kind);
		turn();
		Session before = this.conversation.session().orElseThrow();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.conversation.settings((settings) -> settings.limit(-1)));
		assertThatIllegalStateException().isThrownBy(() -> this.conversation.settings((settings) -> {
			throw new IllegalStateException("no");
		}));
		assertThat(this.conversation.session()).contains(before);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void changeThatChangesNothingWritesNothing(TestStores kind) {
		on(kind);
		turn();
		this.conversation.settings((settings) -> settings.limit(4));
		Session before = this.conversation.session().orElseThrow();
		this.conversation.settings((settings) -> settings.limit(4));
		assertThat(this.conversation.session()).contains(before);
	}

	private void turn() {
		this.conversation.addTurn(List.of(new UserMessage("q"), new AssistantMessage("a")), null);
	}

}
