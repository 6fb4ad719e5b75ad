package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.util.unit.DataSize;

/**
 * The contenders. All have the same model and, if they have a window, the same one.
 */
final class Contenders {

	/** The number of turns of history that go with a request. */
	static final int WINDOW_TURNS = 20;

	/** The same in messages: every turn is a question and a reply. */
	static final int WINDOW_MESSAGES = 2 * WINDOW_TURNS;

	static final String IN_MEMORY = "SessionKit in memory";

	static final String H2 = "SessionKit H2";

	static final String H2_BY_HAND = "by hand H2";

	static final String POSTGRES = "SessionKit PostgreSQL";

	static final String POSTGRES_BY_HAND = "by hand PostgreSQL";

	static final String REDIS = "SessionKit Redis";

	static final String REDIS_BY_HAND = "by hand Redis";

	/**
	 * The suffix for runs that do not wait for the disk: only the work itself remains.
	 */
	static final String NO_FLUSH = ", no flush";

	/**
	 * The suffix for runs in which each turn of a session is made by another process than
	 * the turn before: two take turns, so each knows the history but for one turn.
	 */
	static final String OTHER = ", another process wrote last";

	/** The suffix for runs in which no process knows any of the history. */
	static final String UNKNOWN = ", history not known";

	static final String CHAT_MEMORY = "ChatMemory JDBC, 40 messages";

	static final String SPRING_AI_SESSION = "Spring AI Session";

	/**
	 * The number of turns to keep after a compaction. The documentation of Spring AI
	 * Session keeps half of what triggers it.
	 */
	private static final int KEPT_OF_WINDOW = WINDOW_TURNS / 2;

	private static final String SCHEMA = "io/sessionkit/store/jdbc/schema-";

	/** The script that creates SessionKit's tables. */
	static final String POSTGRES_SCHEMA = SCHEMA + "postgresql.sql";

	/** The options of SessionKit's stores. */
	static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static final StoreOptions FORGETFUL = OPTIONS.viewCache(DataSize.ofBytes(0));

	private Contenders() {
	}

	/**
	 * Returns the contenders that need no server.
	 */
	static List<Contender> inProcess(ChatModel model) {
		return List.of(new MemoryContender(IN_MEMORY, new SessionKitThreads(model, new InMemorySessionStore(OPTIONS))),
				new H2Contender(H2, H2_BY_HAND, SCHEMA + "h2.sql",
						(connections) -> new SessionKitThreads(model, new JdbcSessionStore(connections, OPTIONS))),
				new H2Contender(H2 + OTHER, H2_BY_HAND, SCHEMA + "h2.sql",
						(connections) -> new SessionKitThreads(model, new JdbcSessionStore(connections, OPTIONS),
								new JdbcSessionStore(connections, OPTIONS))),
				new H2Contender(H2 + UNKNOWN, H2_BY_HAND, SCHEMA + "h2.sql",
						(connections) -> new SessionKitThreads(model, new JdbcSessionStore(connections, FORGETFUL))),
				new H2Contender(H2_BY_HAND, null, ByHandH2Threads.SCHEMA,
						(connections) -> new ByHandH2Threads(connections, model)));
	}

	/**
	 * Returns the contenders on PostgreSQL.
	 */
	static List<Contender> onPostgres(PostgresLab lab, ChatModel model) {
		List<Contender> contenders = new ArrayList<>();
		for (boolean waiting : new boolean[] { true, false }) {
			contenders.add(sessionKit(lab, waiting, model));
			if (!waiting) {
				contenders.add(sessionKitInTwoProcesses(lab, model));
				contenders.add(forgetfulSessionKit(lab, model));
			}
			contenders.add(byHand(lab, waiting, model));
		}
		contenders.add(chatMemory(lab, model));
		contenders.add(new PostgresContender(SPRING_AI_SESSION + ", no compaction", null, lab, true,
				SpringAiSessionThreads.SCHEMA, (connections) -> SpringAiSessionThreads.keepingAll(connections, model)));
		for (int kept : new int[] { WINDOW_TURNS, KEPT_OF_WINDOW }) {
			contenders.add(new PostgresContender(SPRING_AI_SESSION + ", over " + WINDOW_TURNS + " turns keep " + kept,
					null, lab, true, SpringAiSessionThreads.SCHEMA,
					(connections) -> SpringAiSessionThreads.keeping(kept, connections, model)));
		}
		return contenders;
	}

	/**
	 * Returns the contenders on Redis, each on a server of its own.
	 */
	static List<Contender> onRedis(ChatModel model) {
		return List.of(
				new RedisContender(REDIS, REDIS_BY_HAND,
						(connections) -> new SessionKitThreads(model, new RedisSessionStore(connections, OPTIONS))),
				new RedisContender(REDIS + OTHER, REDIS_BY_HAND,
						(connections) -> new SessionKitThreads(model, new RedisSessionStore(connections, OPTIONS),
								new RedisSessionStore(connections, OPTIONS))),
				new RedisContender(REDIS + UNKNOWN, REDIS_BY_HAND,
						(connections) -> new SessionKitThreads(model, new RedisSessionStore(connections, FORGETFUL))),
				new RedisContender(REDIS_BY_HAND, null, (connections) -> new ByHandRedisThreads(connections, model)));
	}

	/**
	 * Returns the contenders whose servers say how much they did.
	 */
	static List<Contender> onServers(PostgresLab lab, ChatModel model) {
		List<Contender> contenders = new ArrayList<>(onRedis(model));
		contenders.add(sessionKit(lab, false, model));
		contenders.add(sessionKitInTwoProcesses(lab, model));
		contenders.add(forgetfulSessionKit(lab, model));
		contenders.add(byHand(lab, false, model));
		return contenders;
	}

	static Contender sessionKit(PostgresLab lab, boolean waiting, ChatModel model) {
		return new PostgresContender(named(POSTGRES, waiting), named(POSTGRES_BY_HAND, waiting), lab, waiting,
				POSTGRES_SCHEMA,
				(connections) -> new SessionKitThreads(model, new JdbcSessionStore(connections, OPTIONS)));
	}

	static Contender sessionKitInTwoProcesses(PostgresLab lab, ChatModel model) {
		return new PostgresContender(named(POSTGRES, false) + OTHER, named(POSTGRES_BY_HAND, false), lab, false,
				POSTGRES_SCHEMA, (connections) -> new SessionKitThreads(model,
						new JdbcSessionStore(connections, OPTIONS), new JdbcSessionStore(connections, OPTIONS)));
	}

	static Contender forgetfulSessionKit(PostgresLab lab, ChatModel model) {
		return new PostgresContender(named(POSTGRES, false) + UNKNOWN, named(POSTGRES_BY_HAND, false), lab, false,
				POSTGRES_SCHEMA,
				(connections) -> new SessionKitThreads(model, new JdbcSessionStore(connections, FORGETFUL)));
	}

	/**
	 * Returns whether all of the history is known to the process that makes a turn.
	 */
	static boolean isKnown(String name) {
		return !name.endsWith(OTHER) && !name.endsWith(UNKNOWN);
	}

	static Contender byHand(PostgresLab lab, boolean waiting, ChatModel model) {
		return new PostgresContender(named(POSTGRES_BY_HAND, waiting), null, lab, waiting, ByHandPostgresThreads.SCHEMA,
				(connections) -> new ByHandPostgresThreads(connections, model));
	}

	static Contender chatMemory(PostgresLab lab, ChatModel model) {
		return new PostgresContender(CHAT_MEMORY, null, lab, true, ChatMemoryThreads.SCHEMA,
				(connections) -> new ChatMemoryThreads(connections, model));
	}

	private static String named(String name, boolean waiting) {
		return waiting ? name : name + NO_FLUSH;
	}

}
