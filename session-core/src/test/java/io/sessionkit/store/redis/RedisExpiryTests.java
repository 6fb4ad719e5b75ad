package io.sessionkit.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.redis.OwnerIndex.Found;
import io.sessionkit.store.redis.RedisKeys.Pair;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The ids of expired sessions leave the lists of their owner although the owner writes no
 * more.
 */
class RedisExpiryTests {

	private static final String KIND = "note";

	/** With characters that SCAN would take for a pattern. */
	private final String prefix = "ex*[p]?\\-" + UUID.randomUUID() + ":";

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void idsOfExpiredSessionsLeaveTheIndexes(boolean cluster) {
		on(cluster, (store, keys) -> {
			StringRedisTemplate redis = keys.redis();
			List<String> owners = IntStream.range(0, 6).mapToObj((i) -> "owner " + i).toList();
			owners.forEach((owner) -> write(store, owner));
			assertThat(store.deleteExpired(100)).isZero();
			owners.forEach((owner) -> surelyGone(redis, keys, owner));
			assertThat(store.deleteExpired(5)).isEqualTo(5);
			int rest = 0;
			for (int removed = store.deleteExpired(100); removed > 0; removed = store.deleteExpired(100)) {
				rest += removed;
			}
			assertThat(rest).isEqualTo(7);
			for (String owner : owners) {
				assertThat(redis.opsForZSet().range(keys.sessions(owner), 0, -1)).containsExactlyInAnyOrder("stays",
						"lives");
				assertThat(redis.opsForZSet().range(keys.expiries(owner), 0, -1)).containsExactly("lives");
				assertThat(redis.opsForZSet().range(keys.recordsOf(owner, KIND), 0, -1))
					.containsExactlyInAnyOrder("stays", "lives");
				assertThat(store.list(owner, Page.first(10))).hasSize(2);
			}
		});
	}

	/** Turns let a session live on, and records are what its owner looks for. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void recordsOfASessionThatGoesOnStayInTheListOfTheirOwner(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			SessionStore brief = new RedisSessionStore(keys.redis().getRequiredConnectionFactory(),
					store.options().timeToLive(Duration.ofMinutes(30)), this.prefix);
			brief.add(key, List.of(new UserMessage("text")));
			assertThat(brief.put(key, RecordWrite.create(KIND, "1", "text"))).isTrue();
			for (int i = 0; i < 8; i++) {
				keys.passTime(key, KIND, Duration.ofMinutes(10));
				brief.add(key, List.of(new UserMessage("text")));
				assertThat(brief.deleteExpired(100)).isZero();
				assertThat(brief.records("owner", KIND, Page.first(5))).hasSize(1);
				assertThat(endOfEntry(keys, key)).isGreaterThanOrEqualTo(keys.endOf(key));
			}
			brief.commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofDays(1))));
			assertThat(endOfEntry(keys, key)).isGreaterThanOrEqualTo(keys.endOf(key));
			brief.commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
			assertThat(keys.redis().opsForZSet().range(keys.expiriesOf("owner", KIND), 0, -1)).isEmpty();
			brief.erase(key);
			assertThat(keys.redis().opsForZSet().range(keys.recordsOf("owner", KIND), 0, -1)).isEmpty();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void entriesOfExpiredCallsLeaveTheIndexOfAllOwnersAlthoughNobodyReadsIt(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			store.add(key, List.of(new UserMessage("text")));
			for (int i = 0; i < 450; i++) {
				RecordWrite call = RecordWrite.create("approval", "c" + i, "text");
				assertThat(store.put(key, (i % 2 == 0) ? call.timeToLive(Duration.ofMillis(1)) : call)).isTrue();
			}
			await().until(() -> store.records(key, "approval").size() == 225);
			assertThat(keys.shared(key)).hasSize(450);
			if (cluster) {
				assertThat(store.deleteExpired(1000)).isZero();
				keys.passTimeOfShared(key, Duration.ofMinutes(16));
				// ends the pass that has begun
				assertThat(store.deleteExpired(1000)).isZero();
			}
			int removed = 0;
			for (int last = store.deleteExpired(30); last > 0; last = store.deleteExpired(30)) {
				assertThat(last).isLessThanOrEqualTo(30);
				removed += last;
			}
			assertThat(removed).isEqualTo(225);
			assertThat(keys.shared(key)).hasSize(225);
			assertThat(store.oldestRecords("approval", null, 1000).records()).hasSize(225);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void recordThatHasExpiredLeavesTheHashOfALivingSession(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			SessionKey other = SessionKey.of("other", "t1");
			for (SessionKey each : List.of(key, other)) {
				store.add(each, List.of(new UserMessage("text")));
				store.put(each, RecordWrite.create(KIND, "stays", "text"));
				store.put(each, RecordWrite.create(KIND, "lives", "text").timeToLive(Duration.ofHours(1)));
				for (int i = 0; i < 150; i++) {
					store.put(each, RecordWrite.create("stream", "s." + i, "text").timeToLive(Duration.ofMillis(1)));
				}
				await().until(() -> store.record(each, "stream", "s.149").isEmpty());
			}
			int removed = 0;
			for (int last = store.deleteExpired(40); last > 0; last = store.deleteExpired(40)) {
				assertThat(last).isLessThanOrEqualTo(40);
				removed += last;
			}
			assertThat(removed).isEqualTo(300);
			for (SessionKey each : List.of(key, other)) {
				assertThat(keys.redis().opsForHash().keys(keys.records(each)))
					.containsExactlyInAnyOrder(KIND + "\0stays", KIND + "\0lives", "expires");
				assertThat(store.records(each, KIND)).hasSize(2);
			}
		});
	}

	/** Nobody deletes expired records here, and those of the other kinds stay. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void recordThatHasExpiredLeavesTheHashWithTheNextLookAtItsKind(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			store.add(key, List.of(new UserMessage("text")));
			for (String kind : List.of(KIND, "other", "third")) {
				store.put(key, RecordWrite.create(kind, "1", "text").timeToLive(Duration.ofMillis(1)));
				await().until(() -> store.record(key, kind, "1").isEmpty());
			}
			assertThat(store.records(key, KIND)).isEmpty();
			assertThat(store.turn(key, 1, Set.of("other")).orElseThrow().records()).isEmpty();
			assertThat(keys.redis().opsForHash().keys(keys.records(key))).containsExactlyInAnyOrder("third\0" + 1,
					"expires");
			assertThat(store.deleteExpired(10)).isEqualTo(1);
			assertThat(keys.redis().hasKey(keys.records(key))).isFalse();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void textOfADeletedMessageIsNotKeptInAnExpiredStream(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			store.add(key, List.of(new UserMessage("a secret")));
			store.add(key, List.of(new UserMessage("another question")));
			store.put(key, RecordWrite.create("stream", "s.0", "a secret").timeToLive(Duration.ofMillis(1)));
			await().until(() -> store.record(key, "stream", "s.0").isEmpty());
			assertThat(keys.redis().opsForHash().values(keys.records(key)).toString()).contains("a secret");
			Conversations.of(store).get(key).delete(1);
			assertThat(keys.redis().opsForHash().values(keys.records(key)).toString()).doesNotContain("a secret");
			assertThat(keys.redis().opsForList().range(keys.turns(key), 0, -1).toString()).doesNotContain("a secret");
		});
	}

	/** The place of a summary must not outlive it: another one may get its id. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void summaryThatHasExpiredCoversNothingAnyMore(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			store.add(key, List.of(new UserMessage("first")));
			store.add(key, List.of(new UserMessage("second")));
			RecordWrite summary = RecordWrite.create(SessionStore.SUMMARY, "s", "text");
			store.commit(Commit.any(key)
				.header(HeaderChange.NONE.summary(1, "s"))
				.records(List.of(summary.timeToLive(Duration.ofMillis(1)))));
			await().until(() -> store.record(key, SessionStore.SUMMARY, "s").isEmpty());
			assertThat(keys.redis().opsForHash().keys(keys.records(key))).contains("covers");
			assertThat(store.deleteExpired(10)).isEqualTo(1);
			assertThat(keys.redis().hasKey(keys.records(key))).isFalse();
			assertThat(store.put(key, summary)).isTrue();
			store.commit(Commit.any(key).header(HeaderChange.NONE.head(Session.MAIN, 2)));
			assertThat(store.find(key).orElseThrow().summaryTurn()).isZero();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void keyThatIsNoHashOfRecordsIsLeftAlone(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			keys.redis().opsForValue().set(keys.records(key), "mine");
			keys.redis().opsForHash().put(keys.records(SessionKey.of("other")), "expires", "soon");
			assertThat(store.deleteExpired(10)).isZero();
			assertThat(keys.redis().opsForValue().get(keys.records(key))).isEqualTo("mine");
		});
	}

	/** An owner writes while the list is read batch by batch. */
	@Test
	void listHasEachSessionOnceWhileOthersMoveToItsFront() {
		on(false, (store, keys) -> {
			RedisKeys names = new RedisKeys(this.prefix);
			OwnerIndex index = new OwnerIndex(
					new RedisScripts(keys.redis().getRequiredConnectionFactory(), names.severalSlots()));
			Pair sessions = names.sessions("owner");
			Map<String, Instant> written = new HashMap<>();
			for (int i = 99; i >= 0; i--) {
				keys.redis().opsForZSet().add(keys.sessions("owner"), "s" + i, (1_000 - i) * 1e6);
				written.put("s" + i, Instant.ofEpochSecond(1_000 - i));
			}
			// later than its entry says
			written.put("s29", Instant.ofEpochSecond(2_000));
			List<String> moving = new ArrayList<>(List.of("s80", "s81"));
			List<String> found = index.newest(sessions, OwnerIndex.lag(), false, Page.first(30), (ids) -> {
				List<Found<String>> read = ids.stream()
					.map((id) -> new Found<>(id, written.getOrDefault(id, Instant.EPOCH), id))
					.toList();
				if (!moving.isEmpty()) {
					String moved = moving.remove(0);
					index.touch(sessions, moved, null);
					written.put(moved, Instant.ofEpochSecond(3_000 - moving.size()));
				}
				return read;
			});
			assertThat(found).doesNotHaveDuplicates().hasSize(30).startsWith("s81", "s80", "s29", "s0");
		});
	}

	private static double endOfEntry(StoredKeys keys, SessionKey key) {
		return Objects.requireNonNull(keys.redis().opsForZSet().score(keys.expiriesOf(key.owner(), KIND), key.id()));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void writesThatAreRefusedLeaveNoIdBehind(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			SessionKey absent = SessionKey.of("owner", "t2");
			store.add(key, List.of(new UserMessage("text")));
			Session stale = store.find(key).orElseThrow();
			store.commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
			RecordWrite unexpected = new RecordWrite("other", "1", 7, "text", null);
			RecordWrite record = RecordWrite.create("other", "1", "text");
			assertThat(store.put(absent, record)).isFalse();
			assertThat(store.put(key, unexpected)).isFalse();
			assertThat(store.commit(Commit.on(stale).records(List.of(record))).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(store.commit(Commit.any(key).records(List.of(unexpected))).outcome())
				.isEqualTo(Outcome.CONFLICT);
			assertThat(store.commit(Commit.first(key).records(List.of(record))).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(keys.redis().opsForZSet().range(keys.recordsOf("owner", "other"), 0, -1)).isEmpty();
			assertThat(keys.redis().opsForZSet().range(keys.sessions("owner"), 0, -1)).containsExactly("t1");
			assertThat(keys.redis().opsForZSet().range(keys.expiries("owner"), 0, -1)).containsExactly("t1");
		});
	}

	/** It would look at all other keys each time. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void deletionThatEndsAmongRecordsGoesOnAmongThem(boolean cluster) {
		on(cluster, (store, keys) -> {
			write(store, "owner");
			SessionKey key = SessionKey.of("another", "t1");
			store.add(key, List.of(new UserMessage("text")));
			for (int i = 0; i < 100; i++) {
				store.put(key, RecordWrite.create("stream", "s." + i, "text").timeToLive(Duration.ofMillis(1)));
			}
			await().until(() -> store.record(key, "stream", "s.99").isEmpty());
			assertThat(store.deleteExpired(40)).isEqualTo(40);
			surelyGone(keys.redis(), keys, "owner");
			assertThat(store.deleteExpired(40)).isEqualTo(40);
			assertThat(keys.redis().opsForZSet().range(keys.expiries("owner"), 0, -1)).contains("goes");
			assertThat(store.deleteExpired(40) + store.deleteExpired(40)).isEqualTo(22);
		});
	}

	/** Nobody has to look for a record that stays until its session is erased. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callThatExpiresIsNotLookedFor(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			store.add(key, List.of(new UserMessage("text")));
			for (String kind : List.of("approval", "notice")) {
				assertThat(store.put(key, RecordWrite.create(kind, "1", "text").timeToLive(Duration.ofHours(1))))
					.isTrue();
			}
			assertThat(keys.redis().opsForHash().keys(keys.records(key))).containsExactlyInAnyOrder("approval\0001",
					"notice\0001");
		});
	}

	/** A session without an expiry would keep every call on which nobody has decided. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callThatHasExpiredGoesWithTheEndOfItsTurn(boolean cluster) {
		on(cluster, (store, keys) -> {
			SessionKey key = SessionKey.of("owner", "t1");
			try (Conversations conversations = Conversations.of(store)) {
				Approvals approvals = Approvals.builder(conversations)
					.tools(Set.of("cancel"))
					.expiresAfter(Duration.ofMillis(100))
					.build();
				ScriptedChatModel model = new ScriptedChatModel().calls(new ToolCall("c1", "function", "cancel", "{}"))
					.says("too late");
				ChatClient.Builder chat = ChatClient.builder(model)
					.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
					.defaultAdvisors(SessionAdvisor.session(key))
					.defaultToolCallbacks(FunctionToolCallback.builder("cancel", () -> "done").build());
				chat.build().prompt().user("q").call().chatResponse();
				await().until(() -> approvals.pending(key).isEmpty());
				assertThat(keys.redis().opsForHash().keys(keys.records(key))).anyMatch(RedisExpiryTests::isOpenCall);
				assertThat(chat.build().prompt().call().content()).isEqualTo("too late");
				assertThat(keys.redis().opsForHash().keys(keys.records(key))).noneMatch(RedisExpiryTests::isOpenCall);
				assertThat(keys.shared(key)).isEmpty();
			}
		});
	}

	private static boolean isOpenCall(Object field) {
		return ((String) field).startsWith("approval\0");
	}

	@Test
	void erasureLeavesNothingOfACallThatHasExpired() {
		on(false, (store, keys) -> {
			for (String read : List.of("by kind", "by a deletion", "not at all")) {
				SessionKey key = SessionKey.of("owner", read);
				store.add(key, List.of(new UserMessage("text")));
				RecordWrite call = RecordWrite.create("approval", "c", "text").timeToLive(Duration.ofMillis(1));
				assertThat(store.put(key, call)).isTrue();
				await().until(() -> store.record(key, "approval", "c").isEmpty());
				switch (read) {
					case "by kind" -> assertThat(store.records(key, "approval")).isEmpty();
					case "by a deletion" -> store.deleteExpired(1);
					default -> {
					}
				}
				store.erase(key);
				assertThat(keys.shared(key)).as(read).isEmpty();
			}
		});
	}

	private void on(boolean cluster, BiConsumer<SessionStore, StoredKeys> test) {
		LettuceConnectionFactory connections = (cluster ? RedisServers.cluster() : RedisServers.alone()).connections();
		try {
			test.accept(new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()), this.prefix),
					StoredKeys.in(connections, this.prefix));
		}
		finally {
			connections.destroy();
		}
	}

	private static void write(SessionStore store, String owner) {
		for (String id : List.of("stays", "goes", "lives")) {
			SessionKey key = SessionKey.of(owner, id);
			Duration life = switch (id) {
				case "stays" -> Duration.ZERO;
				case "goes" -> Duration.ofSeconds(1);
				default -> Duration.ofHours(1);
			};
			// on a busy machine a second may pass meanwhile
			assertThat(isWritten(store, key, life) || id.equals("goes") && isWritten(store, key, life)).isTrue();
		}
	}

	private static boolean isWritten(SessionStore store, SessionKey key, Duration life) {
		store.add(key, List.of(new UserMessage("text")));
		store.commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(life)));
		return store.put(key, RecordWrite.create(KIND, "1", "text"));
	}

	/** As the index says it, which is 16 minutes after the session itself. */
	private static void surelyGone(StringRedisTemplate redis, StoredKeys keys, String owner) {
		await().until(() -> !Boolean.TRUE.equals(redis.hasKey(keys.session(SessionKey.of(owner, "goes")))));
		for (String index : List.of(keys.expiries(owner), keys.expiriesOf(owner, KIND))) {
			assertThat(redis.opsForZSet().range(index, 0, -1)).contains("goes");
			redis.opsForZSet().incrementScore(index, "goes", -Duration.ofMinutes(17).toNanos() / 1000);
		}
	}

}
