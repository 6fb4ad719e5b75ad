package io.sessionkit.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.context.Retention;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Type and settings of the store. Only constants of the stores are used here, so their
 * libraries need not be present.
 *
 * @param type Type of the store: memory, jdbc or redis. Unset: jdbc if the application
 * has a DataSource, redis if it has a RedisConnectionFactory, memory if it has neither.
 * Required if it has both.
 * @param jdbc Settings of the JDBC store.
 * @param redis Settings of the Redis store.
 * @param memory Settings of the in-memory store.
 * @param viewCache How much memory the JDBC and the Redis store may use for the histories
 * of the sessions that this process has used last, so that a history that has not changed
 * is not read again. 0 keeps none.
 */
public record StoreProperties(@Nullable StoreType type, @DefaultValue Jdbc jdbc, @DefaultValue Redis redis,
		@DefaultValue Memory memory, @DefaultValue("16MB") DataSize viewCache) {

	public StoreProperties {
		if (viewCache.isNegative()) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".store.view-cache", viewCache,
					"Write a size such as 16MB, or 0 to keep no histories in memory.");
		}
	}

	public static final String STORE_TYPE = SessionKitProperties.PREFIX + ".store.type";

	public static final String INITIALIZE_SCHEMA = SessionKitProperties.PREFIX + ".store.jdbc.initialize-schema";

	public static final String TABLE_PREFIX = SessionKitProperties.PREFIX + ".store.jdbc.table-prefix";

	/** The package that has a package for each type of store. */
	private static final String STORES = SessionStore.class.getPackageName() + ".";

	static final String KEY_PREFIX = SessionKitProperties.PREFIX + ".store.redis.key-prefix";

	/**
	 * Refuses a store type that differs from the chosen one. Ahead-of-time processing
	 * chooses the store when the application is built, so a different type at run time
	 * must not be ignored silently.
	 * @param chosen the store of the application
	 */
	public void refuseOtherThan(StoreType chosen) {
		if (this.type != null && this.type != chosen) {
			throw ConfigurationRefusedException.of(STORE_TYPE, this.type.value(),
					"The application was processed ahead of time for '" + chosen.value()
							+ "'. Write that, or set the property when the application is processed.");
		}
	}

	/**
	 * Settings of the JDBC store.
	 *
	 * @param initializeSchema Database schema initialization mode at start: embedded
	 * (only H2 and HSQLDB in memory), always or never.
	 * @param tablePrefix Prefix of the table names. May start with a schema, as in
	 * app.SESSIONKIT_. For a prefix other than the default, create the tables with an
	 * edited copy of the schema script.
	 */
	public record Jdbc(@DefaultValue("embedded") SchemaInitialization initializeSchema,
			@DefaultValue(JdbcSessionStore.DEFAULT_TABLE_PREFIX) String tablePrefix) {

		public static final String SCHEMA_SCRIPT = "io/sessionkit/store/jdbc/schema-@@platform@@.sql";

		private static final Pattern LEGAL_PREFIX = Pattern.compile(JdbcSessionStore.TABLE_PREFIX_PATTERN);

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
								+ "' to 'never' and run a copy of the script of your database with your prefix in it, such as "
								+ SCHEMA_SCRIPT.replace("@@platform@@", "postgresql") + ".");
			}
		}

		public boolean hasDefaultPrefix() {
			return isDefault(this.tablePrefix);
		}

		private static boolean isDefault(String tablePrefix) {
			return tablePrefix.equals(JdbcSessionStore.DEFAULT_TABLE_PREFIX);
		}
	}

	/**
	 * Settings of the Redis store.
	 *
	 * @param keyPrefix Prefix of the key names. Applications that share a server but not
	 * their sessions need different prefixes.
	 */
	public record Redis(@DefaultValue(RedisSessionStore.DEFAULT_KEY_PREFIX) String keyPrefix) {

		private static final Pattern LEGAL_PREFIX = Pattern.compile(RedisSessionStore.KEY_PREFIX_PATTERN);

		public Redis {
			if (!LEGAL_PREFIX.matcher(keyPrefix).matches()) {
				throw ConfigurationRefusedException.of(KEY_PREFIX, keyPrefix,
						"Write at least one character, without braces and white space, such as "
								+ RedisSessionStore.DEFAULT_KEY_PREFIX + " with the colon at its end.");
			}
		}
	}

	/**
	 * Settings of the in-memory store.
	 *
	 * @param maxSessions Maximum number of sessions that are kept in memory. When the
	 * limit is exceeded, the least recently written session is evicted, one with an open
	 * turn last.
	 */
	public record Memory(@DefaultValue("" + InMemorySessionStore.DEFAULT_MAX_SESSIONS) int maxSessions) {

		public Memory {
			SessionKitProperties.refuseLessThanOne("store.memory.max-sessions", maxSessions, "");
		}
	}

	/**
	 * The type of the store, with what else depends on it. The classes of a store are in
	 * the package that is named as its type.
	 */
	public enum StoreType {

		/** In the memory of the process. Sessions are lost on restart. */
		MEMORY(true, 1) {

			@Override
			public List<String> forgotten(@Nullable StoreProperties properties) {
				return List.of("all sessions when the process ends", "the least recently written ones of more than "
						+ ((properties != null) ? properties.memory().maxSessions() : "the SessionStore bean allows"));
			}

		},

		/** In the application's relational database. */
		JDBC(false, Retention.DEFAULT_BATCH),

		/** In the application's Redis, a single server or a cluster. */
		REDIS(false, Retention.DEFAULT_BATCH);

		private final boolean endsWithProcess;

		private final int batch;

		StoreType(boolean endsWithProcess, int batch) {
			this.endsWithProcess = endsWithProcess;
			this.batch = batch;
		}

		/**
		 * Returns the type of a store, whatever the layers around it.
		 * @return the type; empty for a class of the application
		 */
		public static Optional<StoreType> of(SessionStore store) {
			String place = StoreLayer.beneath(store).getClass().getPackageName();
			return Stream.of(values()).filter((type) -> place.equals(STORES + type.value())).findFirst();
		}

		/**
		 * Returns whether all sessions are gone when the process ends, wherever the store
		 * is.
		 */
		public boolean endsWithProcess() {
			return this.endsWithProcess;
		}

		/**
		 * Returns the number of turns after which a session is looked at for those that
		 * it need not keep, unless that is set.
		 */
		public int batch() {
			return this.batch;
		}

		/**
		 * Returns what a store of this type forgets without being asked.
		 * @param properties what it was built with; null if the application has built it
		 */
		public List<String> forgotten(@Nullable StoreProperties properties) {
			return List.of();
		}

		/**
		 * Returns the name of the type as it is written in properties.
		 */
		public String value() {
			return name().toLowerCase(Locale.ROOT);
		}

		public String quoted() {
			return "'" + value() + "'";
		}

	}

	/**
	 * The conditions under which the tables of the JDBC store are created.
	 */
	public enum SchemaInitialization {

		/**
		 * Only in a database of H2 or HSQLDB in memory. One in a file or on a server is
		 * left alone, and so is SQLite.
		 */
		EMBEDDED,

		/** At start, if they do not exist. Existing tables stay as they are. */
		ALWAYS,

		/** Never. Create the tables with Flyway, with Liquibase or manually. */
		NEVER

	}

}
