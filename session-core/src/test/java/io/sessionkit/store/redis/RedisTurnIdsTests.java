package io.sessionkit.store.redis;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A turn is found by its id, whatever the id names: the place of the turn, another one,
 * or none.
 */
class RedisTurnIdsTests {

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static LettuceConnectionFactory connections;

	private final String prefix = "ids-" + UUID.randomUUID() + ":";

	private final SessionKey key = SessionKey.of("owner", "t1");

	private final StoredKeys keys = StoredKeys.in(connections, this.prefix);

	private SessionStore store = new RedisSessionStore(connections, OPTIONS, this.prefix);

	@BeforeAll
	static void start() {
		connections = RedisServers.alone().connections();
	}

	@AfterAll
	static void stop() {
		connections.destroy();
	}

	@Test
	void idThatNamesItsPlaceIsKeptNowhereElse() {
		for (int number = 1; number <= 12; number++) {
			assertThat(add(number + "-x")).isEqualTo(committed(number));
		}
		assertThat(keptIds()).isEmpty();
		assertThat(this.keys.leftOf(this.key)).isEqualTo(2);
		for (int number = 1; number <= 12; number++) {
			assertRepeated(number + "-x", number);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "abc", "1-x", "2-x", "4-x", "7-x", "07-x", "-1-x", "0-x", "3", "99999999999999999999-x",
			"999999999999999-x", "12345678-1111-4222-8333-123456789abc" })
	void idThatNamesAnotherPlaceOrNoneIsKept(String id) {
		add("1-a");
		add("2-b");
		assertThat(add(id)).isEqualTo(committed(3));
		assertThat(keptIds()).isEqualTo(Map.of(id, "3"));
		for (int number = 4; number <= 9; number++) {
			assertThat(add(number + "-y")).isEqualTo(committed(number));
			assertRepeated(id, 3);
		}
		assertThat(keptIds()).isEqualTo(Map.of(id, "3"));
	}

	@Test
	void idThatNamedALaterPlaceIsNotStoredThereOnceMore() {
		add("3-x");
		add("2-x");
		assertRepeated("3-x", 1);
		assertThat(add("3-y")).isEqualTo(committed(3));
		assertRepeated("3-x", 1);
		assertRepeated("3-y", 3);
		assertThat(add("4-x")).isEqualTo(committed(4));
	}

	@Test
	void idsOfOpenRefusedAndSiblingTurnsAreFoundToo() {
		add("1-a");
		Session base = header();
		assertThat(commit(Commit.on(base), "2-open", TurnStatus.AWAITING_APPROVAL, 0).turn()).isEqualTo(2);
		assertThat(commit(Commit.on(header()), "2-open", TurnStatus.AWAITING_APPROVAL, 0).outcome())
			.isEqualTo(Outcome.REPEATED);
		assertThat(commit(Commit.on(header()), "2-open", TurnStatus.COMPLETED, 1).outcome())
			.isEqualTo(Outcome.COMMITTED);
		assertThat(commit(Commit.on(header()), "other", TurnStatus.FAILED, 0).turn()).isEqualTo(3);
		assertThat(commit(Commit.on(header()), "3-x", TurnStatus.FAILED, 0).turn()).isEqualTo(4);
		assertThat(keptIds()).isEqualTo(Map.of("other", "3", "3-x", "4"));
		assertRepeated("2-open", 2);
		assertRepeated("other", 3);
		assertRepeated("3-x", 4);
		this.store.commit(Commit.on(header()).header(HeaderChange.NONE.head("other", 1)));
		assertThat(add("5-x")).isEqualTo(new CommitResult(Outcome.COMMITTED, header().version(), 5, 6));
		assertRepeated("5-x", 5);
		assertRepeated("2-open", 2);
	}

	@Test
	void idIsFreeAgainAfterErasing() {
		add("abc");
		add("2-x");
		this.store.erase(this.key);
		assertThat(this.keys.leftOf(this.key)).isZero();
		assertThat(add("2-x")).isEqualTo(committed(1));
		assertThat(add("abc")).isEqualTo(committed(2));
	}

	@Test
	void keptIdsEndWithTheirSession() {
		this.store = new RedisSessionStore(connections, OPTIONS.timeToLive(Duration.ofHours(1)), this.prefix);
		add("1-x");
		assertThat(this.keys.redis().getExpire(this.keys.turns(this.key))).isPositive();
		for (String id : List.of("abc", "3-x", "def")) {
			add(id);
			assertThat(this.keys.redis().getExpire(this.keys.ids(this.key))).isPositive();
		}
	}

	/** Compared with what a map does. */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4 })
	void anyIdsInAnyOrder(long seed) {
		Random random = new Random(seed);
		Map<String, Long> stored = new LinkedHashMap<>();
		for (int i = 0; i < 120; i++) {
			String id = switch (random.nextInt(4)) {
				case 0 -> stored.size() + 1 + "-x";
				case 1 -> 1 + random.nextInt(80) + "-x";
				case 2 -> "0" + random.nextInt(20) + "-x";
				default -> "id " + random.nextInt(40);
			};
			Session base = this.store.open(this.key, Window.turns(3)).map((view) -> view.session()).orElse(null);
			Commit commit = (base != null) ? Commit.on(base) : Commit.first(this.key);
			CommitResult result = commit(commit, id, TurnStatus.COMPLETED, 0);
			Long before = stored.putIfAbsent(id, stored.size() + 1L);
			assertThat(result.outcome()).as(id).isEqualTo((before != null) ? Outcome.REPEATED : Outcome.COMMITTED);
			assertThat(result.turn()).as(id).isEqualTo(stored.get(id));
		}
		Map<Object, Object> kept = new LinkedHashMap<>();
		stored.forEach((id, number) -> {
			if (!id.startsWith(number + "-")) {
				kept.put(id, number.toString());
			}
		});
		assertThat(keptIds()).isEqualTo(kept);
	}

	private void assertRepeated(String id, long number) {
		Session session = header();
		CommitResult expected = new CommitResult(Outcome.REPEATED, session.version(), number, 0);
		assertThat(commit(Commit.on(session), id, TurnStatus.COMPLETED, 0)).as(id).isEqualTo(expected);
		assertThat(commit(Commit.first(this.key), id, TurnStatus.COMPLETED, 0)).as(id).isEqualTo(expected);
		assertThat(header()).isEqualTo(session);
	}

	private CommitResult add(String id) {
		Commit commit = this.store.find(this.key).map(Commit::on).orElseGet(() -> Commit.first(this.key));
		return commit(commit, id, TurnStatus.COMPLETED, 0);
	}

	private CommitResult commit(Commit commit, String id, TurnStatus status, int part) {
		Turn turn = Turn.builder(id, OPTIONS.now()).status(status, status.isOpen() ? null : OPTIONS.now()).build();
		return this.store.commit(
				commit.turn(new TurnWrite(turn, part, List.of(new NewItem(new UserMessage("q"), OPTIONS.now(), 1)))));
	}

	private CommitResult committed(long number) {
		return new CommitResult(Outcome.COMMITTED, header().version(), number, number);
	}

	private Session header() {
		return this.store.find(this.key).orElseThrow();
	}

	private Map<Object, Object> keptIds() {
		return this.keys.redis().opsForHash().entries(this.keys.ids(this.key));
	}

}
