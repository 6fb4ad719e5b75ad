package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

import io.sessionkit.store.InMemorySessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.MessageType;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What an application can set. Values that cannot work are refused when they are bound,
 * whichever store is in use. Of the stores only constants are used here, so none of their
 * libraries has to be there.
 *
 * @param enabled Whether anything is auto-configured.
 * @param autoRegister Whether the session advisor is put on every auto-configured
 * ChatClient.Builder.
 * @param requireSession Whether a ChatClient call that names no session is refused
 * instead of passed through.
 * @param timeToLive How long a new session lives after its last write, such as 30d.
 * Unset: for good.
 * @param store Where the sessions are.
 * @param trim How much history goes with a request.
 * @param prune What is left of old tool results in a request.
 * @param summarize When the older part of a thread is summarized.
 * @param codec How messages are stored.
 * @param sequence What is done with requests that are not a valid sequence.
 * @param state What the attributes of sessions may be.
 * @param turn What else is kept with a turn.
 * @param snapshot What is kept of what was sent.
 */
@ConfigurationProperties(SessionKitProperties.PREFIX)
public record SessionKitProperties(@DefaultValue("true") boolean enabled, @DefaultValue("true") boolean autoRegister,
		@DefaultValue("false") boolean requireSession, @Nullable Duration timeToLive, @DefaultValue Store store,
		@DefaultValue Trim trim, @DefaultValue Prune prune, @DefaultValue Summarize summarize,
		@DefaultValue Codec codec, @DefaultValue Sequence sequence, @DefaultValue State state, @DefaultValue Turn turn,
		@DefaultValue Snapshot snapshot) {

	/** What the names of all properties begin with. */
	public static final String PREFIX = "sessionkit";

	static final String ENABLED = PREFIX + ".enabled";

	static final String AUTO_REGISTER = PREFIX + ".auto-register";

	static final String STORE_TYPE = PREFIX + ".store.type";

	static final String INITIALIZE_SCHEMA = PREFIX + ".store.jdbc.initialize-schema";

	static final String TABLE_PREFIX = PREFIX + ".store.jdbc.table-prefix";

	static final String MAX_STATE_SIZE = PREFIX + ".state.max-size";

	static final String KEY_PREFIX = PREFIX + ".store.redis.key-prefix";

	private static final String NO_LIMIT = ", or leave it out for no limit";

	public SessionKitProperties {
		if (timeToLive != null && (timeToLive.isZero() || timeToLive.isNegative())) {
			throw ConfigurationRefusedException.of(PREFIX + ".time-to-live", timeToLive,
					"Write a duration above zero, such as 30d, or leave it out for sessions that stay for good.");
		}
	}

	/**
	 * Which store, and how it is set up.
	 *
	 * @param type Where sessions are kept: memory, jdbc or redis. Unset: in the database
	 * if the application has a DataSource, in Redis if it has a RedisConnectionFactory,
	 * with neither of them in memory; with both it has to be set.
	 * @param jdbc The tables of the JDBC store.
	 * @param redis The keys of the Redis store.
	 * @param memory The bounds of the in-memory store.
	 */
	public record Store(@Nullable StoreType type, @DefaultValue Jdbc jdbc, @DefaultValue Redis redis,
			@DefaultValue Memory memory) {

		/**
		 * Ahead-of-time processing chooses the store when the application is built.
		 * Another one that is named when it runs must not be passed over in silence.
		 * @param chosen the store of the application
		 */
		void refuseOtherThan(StoreType chosen) {
			if (this.type != null && this.type != chosen) {
				throw ConfigurationRefusedException.of(STORE_TYPE, this.type.value(),
						"The application was processed ahead of time for '" + chosen.value()
								+ "'. Write that, or set the property when the application is processed.");
			}
		}
	}

	/**
	 * The tables of the JDBC store.
	 *
	 * @param initializeSchema When the tables are created at start: embedded (only in a
	 * database that runs in memory), always or never.
	 * @param tablePrefix What the names of the tables begin with. A schema may stand in
	 * front, as in app.SESSIONKIT_. With another prefix than the default the tables are
	 * created by an edited copy of the schema script.
	 */
	public record Jdbc(@DefaultValue("embedded") SchemaInitialization initializeSchema,
			@DefaultValue(JdbcSessionStore.DEFAULT_TABLE_PREFIX) String tablePrefix) {

		static final String SCHEMA_SCRIPT = "io/sessionkit/store/jdbc/schema-@@platform@@.sql";

		private static final Pattern LEGAL_PREFIX = Pattern.compile("([A-Za-z_]\\w*\\.)?[A-Za-z_]\\w*");

		public Jdbc {
			if (!LEGAL_PREFIX.matcher(tablePrefix).matches()) {
				throw ConfigurationRefusedException.of(TABLE_PREFIX, tablePrefix,
						"Write letters, digits and underscores, with a letter or underscore first, such as "
								+ JdbcSessionStore.DEFAULT_TABLE_PREFIX
								+ "; one schema name and a dot may stand in front.");
			}
			if (initializeSchema == SchemaInitialization.ALWAYS && !isDefault(tablePrefix)) {
				throw new ConfigurationRefusedException(
						"The property '" + INITIALIZE_SCHEMA + "' is 'always' and '" + TABLE_PREFIX + "' is '"
								+ tablePrefix + "', but the schema scripts create tables that begin with "
								+ JdbcSessionStore.DEFAULT_TABLE_PREFIX + " only.",
						"Leave '" + TABLE_PREFIX + "' out, or set '" + INITIALIZE_SCHEMA
								+ "' to 'never' and run a copy of the script " + SCHEMA_SCRIPT
								+ " with your prefix in it.");
			}
		}

		boolean hasDefaultPrefix() {
			return isDefault(this.tablePrefix);
		}

		private static boolean isDefault(String tablePrefix) {
			return tablePrefix.equals(JdbcSessionStore.DEFAULT_TABLE_PREFIX);
		}
	}

	/**
	 * The keys of the Redis store.
	 *
	 * @param keyPrefix What the names of the keys begin with. Applications that share a
	 * server and not their sessions have a prefix each.
	 */
	public record Redis(@DefaultValue(RedisSessionStore.DEFAULT_KEY_PREFIX) String keyPrefix) {

		private static final Pattern LEGAL_PREFIX = Pattern.compile("[^{}\\s]+");

		public Redis {
			if (!LEGAL_PREFIX.matcher(keyPrefix).matches()) {
				throw ConfigurationRefusedException.of(KEY_PREFIX, keyPrefix,
						"Write at least one character, without braces and white space, such as "
								+ RedisSessionStore.DEFAULT_KEY_PREFIX + " with the colon at its end.");
			}
		}
	}

	/**
	 * The bounds of the in-memory store.
	 *
	 * @param maxSessions How many sessions are kept in memory. One more displaces the one
	 * that was not written for the longest time.
	 */
	public record Memory(@DefaultValue("" + InMemorySessionStore.DEFAULT_MAX_SESSIONS) int maxSessions) {

		public Memory {
			refuseLessThanOne("store.memory.max-sessions", maxSessions, "");
		}
	}

	/**
	 * How much history goes with a request.
	 *
	 * @param maxMessages How many messages a request may have, its own included, without
	 * system text. Cut at whole turns. Unset: no limit.
	 * @param maxTurns How many turns of history go with a request, without the current
	 * one. Unset: no limit.
	 * @param maxTokens How many tokens a request may have, its own included, without
	 * system text. Cut at whole turns. Unset: no limit.
	 * @param pin What stays in the request when older turns are left out.
	 */
	public record Trim(@Nullable Integer maxMessages, @Nullable Integer maxTurns, @Nullable Integer maxTokens,
			@DefaultValue Pin pin) {

		public Trim {
			refuseLessThanOne("trim.max-messages", maxMessages, NO_LIMIT);
			refuseLessThanOne("trim.max-turns", maxTurns, NO_LIMIT);
			refuseLessThanOne("trim.max-tokens", maxTokens, NO_LIMIT);
		}
	}

	/**
	 * What stays in the request when older turns are left out, with the turn that it
	 * belongs to.
	 *
	 * @param firstUserMessage Whether the first user message of a thread stays.
	 * @param roles The roles whose messages stay: user, assistant, system or tool. Unset:
	 * none.
	 * @param metadata Names in the metadata of messages that stay, unless the value is
	 * false. Unset: none.
	 */
	public record Pin(@DefaultValue("false") boolean firstUserMessage, @Nullable Set<MessageType> roles,
			@Nullable Set<String> metadata) {

		public Pin {
			roles = (roles != null) ? Set.copyOf(roles) : Set.of();
			metadata = (metadata != null) ? Set.copyOf(metadata) : Set.of();
		}
	}

	/**
	 * What is left of old tool results in a request.
	 *
	 * @param toolResultsKeep How many of the newest tool results of the history stay;
	 * older ones become a placeholder in the request. Unset: all stay.
	 */
	public record Prune(@Nullable Integer toolResultsKeep) {

		public Prune {
			if (toolResultsKeep != null && toolResultsKeep < 0) {
				throw ConfigurationRefusedException.of(PREFIX + ".prune.tool-results-keep", toolResultsKeep,
						"Write 0 or more, or leave it out to keep all.");
			}
		}
	}

	/**
	 * When the older part of a thread is summarized. Nothing is, unless a trigger or the
	 * model is set, or the application has a SummaryTrigger bean, which is asked in the
	 * place of the triggers.
	 *
	 * @param enabled Whether threads are summarized where a trigger says so.
	 * @param mode When a summary is made: background (after a turn, on another thread) or
	 * before (in front of a turn, which waits for it).
	 * @param triggerTokens How many tokens the messages since the last summary may have.
	 * Unset: no limit.
	 * @param triggerMessages How many messages there may be since the last summary.
	 * Unset: no limit.
	 * @param keepTurns How many of the newest turns stay as they are.
	 * @param prompt What the summarizer is told; has to have {conversation} in it, and
	 * may have {summary} for the summary so far. Unset: a text of SessionKit.
	 * @param model The name of the ChatModel bean that writes summaries. Without a
	 * trigger they are made on request only. Unset: the only or primary one.
	 * @param maxInputTokens How much one summary may read; what is left is read by the
	 * next one.
	 * @param timeout How long a summary may take before it is given up.
	 * @param backoff How long a session is left alone after a summary failed; twice as
	 * long after each further failure, up to an hour.
	 */
	public record Summarize(@DefaultValue("true") boolean enabled,
			@DefaultValue("background") io.sessionkit.hook.Summarize.Mode mode, @Nullable Long triggerTokens,
			@Nullable Long triggerMessages, @DefaultValue("6") int keepTurns, @Nullable String prompt,
			@Nullable String model, @DefaultValue("32000") int maxInputTokens, @DefaultValue("30s") Duration timeout,
			@DefaultValue("1m") Duration backoff) {

		public Summarize {
			refuseLessThanOne("summarize.trigger-tokens", triggerTokens, NO_LIMIT);
			refuseLessThanOne("summarize.trigger-messages", triggerMessages, NO_LIMIT);
			refuseLessThanOne("summarize.max-input-tokens", maxInputTokens, "");
			refuseUnlessPositive("summarize.timeout", timeout);
			refuseUnlessPositive("summarize.backoff", backoff);
			if (keepTurns < 0) {
				throw ConfigurationRefusedException.of(PREFIX + ".summarize.keep-turns", keepTurns,
						"Write 0 or more; 0 summarizes all turns.");
			}
			if (prompt != null && !prompt.contains(io.sessionkit.hook.Summarize.CONVERSATION)) {
				throw ConfigurationRefusedException.of(PREFIX + ".summarize.prompt",
						"a text of " + prompt.length() + " characters without "
								+ io.sessionkit.hook.Summarize.CONVERSATION,
						"Write " + io.sessionkit.hook.Summarize.CONVERSATION + " where the messages are to stand, and "
								+ io.sessionkit.hook.Summarize.SUMMARY + " where the summary so far is.");
			}
		}

		boolean hasTrigger() {
			return this.triggerTokens != null || this.triggerMessages != null;
		}
	}

	/**
	 * How messages are stored.
	 *
	 * @param strict Whether a reply with a part that cannot be stored is an error,
	 * instead of being stored without that part.
	 */
	public record Codec(@DefaultValue("false") boolean strict) {
	}

	/**
	 * What is done with requests that are not a valid sequence.
	 *
	 * @param strict Whether a request that is not a valid sequence of messages is an
	 * error, instead of being repaired.
	 */
	public record Sequence(@DefaultValue("false") boolean strict) {
	}

	/**
	 * What the attributes of sessions may be.
	 *
	 * @param maxSize How large the attributes of a session may be together as they are
	 * stored, a byte for each character.
	 */
	public record State(@DefaultValue("64KB") DataSize maxSize) {

		public State {
			if (maxSize.toBytes() < 1) {
				throw ConfigurationRefusedException.of(MAX_STATE_SIZE, maxSize,
						"Write a size above zero, such as 64KB.");
			}
		}
	}

	/**
	 * What else is kept with a turn.
	 *
	 * @param inputs Names of advisor parameters whose values are kept with the turn. The
	 * model is not shown them again, unless sessionkit.turn.replay names them. Unset:
	 * none.
	 * @param replay Names of inputs that the model is shown again, behind the question,
	 * when their turn is history, in this order; * for all. Unset: none.
	 * @param replayExclude Names of inputs that the model is not shown again, whatever
	 * sessionkit.turn.replay says; * for all. Unset: none.
	 */
	public record Turn(@Nullable List<String> inputs, @Nullable List<String> replay,
			@Nullable List<String> replayExclude) {

		private static final String ALL = "*";

		private static final Pattern TAG = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_.-]*");

		public Turn {
			inputs = (inputs != null) ? List.copyOf(inputs) : List.of();
			replay = (replay != null) ? List.copyOf(replay) : List.of();
			replayExclude = (replayExclude != null) ? List.copyOf(replayExclude) : List.of();
			inputs.forEach(Turn::refuseIfOwn);
			refuseUnlessKept("turn.replay", replay, inputs);
			refuseUnlessKept("turn.replay-exclude", replayExclude, inputs);
			refuseUnlessTags(replay.contains(ALL) ? inputs : replay, replayExclude);
		}

		private static void refuseIfOwn(String name) {
			if (name.isBlank() || name.startsWith(PREFIX + ".") || name.equals(ALL)) {
				throw ConfigurationRefusedException.of(PREFIX + ".turn.inputs", name,
						"Name advisor parameters of the application, such as context.");
			}
		}

		private static void refuseUnlessKept(String property, List<String> names, List<String> inputs) {
			for (String name : names) {
				if (!inputs.contains(name) && !name.equals(ALL)) {
					throw ConfigurationRefusedException.of(PREFIX + "." + property, name,
							"Only what is kept can be named there: add it to sessionkit.turn.inputs, which is " + inputs
									+ ", or leave it out.");
				}
			}
		}

		private static void refuseUnlessTags(List<String> names, List<String> exclude) {
			for (String name : names) {
				boolean shown = !name.equals(ALL) && !exclude.contains(name);
				if (shown && !TAG.matcher(name).matches()) {
					throw ConfigurationRefusedException.of(PREFIX + ".turn.replay", name,
							"The name becomes a tag: use letters, digits, '_', '-' and '.', or leave it out.");
				}
			}
		}
	}

	/**
	 * What is kept of what was sent.
	 *
	 * @param system Whether the snapshot of a turn has the system text, and not only its
	 * digest.
	 */
	public record Snapshot(@DefaultValue("false") boolean system) {
	}

	/**
	 * Where sessions are kept.
	 */
	public enum StoreType {

		/** In the memory of the process; forgotten on restart. */
		MEMORY,

		/** In the application's relational database. */
		JDBC,

		/** In the application's Redis, one server or a Cluster. */
		REDIS;

		/**
		 * How the type is written.
		 */
		String value() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/**
	 * When the tables of the JDBC store are created.
	 */
	public enum SchemaInitialization {

		/**
		 * If the database is an embedded one that runs in memory. One in a file or on a
		 * server is left alone.
		 */
		EMBEDDED,

		/** At every start; tables that are there stay as they are. */
		ALWAYS,

		/** Never: Flyway, Liquibase or a person does it. */
		NEVER

	}

	private static void refuseUnlessPositive(String property, Duration value) {
		if (value.isZero() || value.isNegative()) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write a duration above zero, such as 30s.");
		}
	}

	private static void refuseLessThanOne(String property, @Nullable Number value, String alternative) {
		if (value != null && value.longValue() < 1) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write 1 or more" + alternative + ".");
		}
	}

}
