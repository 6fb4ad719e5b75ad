package io.sessionkit.autoconfigure;

import java.util.Locale;
import java.util.regex.Pattern;

import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which store, and how it is set up. Of the stores only constants are used here, so none
 * of their libraries has to be there.
 *
 * @param type Where sessions are kept: memory, jdbc or redis. Unset: in the database if
 * the application has a DataSource, in Redis if it has a RedisConnectionFactory, with
 * neither of them in memory; with both it has to be set.
 * @param jdbc The tables of the JDBC store.
 * @param redis The keys of the Redis store.
 * @param memory The bounds of the in-memory store.
 */
public record StoreProperties(@Nullable StoreType type, @DefaultValue Jdbc jdbc, @DefaultValue Redis redis,
		@DefaultValue Memory memory) {

	static final String STORE_TYPE = SessionKitProperties.PREFIX + ".store.type";

	static final String INITIALIZE_SCHEMA = SessionKitProperties.PREFIX + ".store.jdbc.initialize-schema";

	static final String TABLE_PREFIX = SessionKitProperties.PREFIX + ".store.jdbc.table-prefix";

	static final String KEY_PREFIX = SessionKitProperties.PREFIX + ".store.redis.key-prefix";

	/**
	 * Ahead-of-time processing chooses the store when the application is built. Another
	 * one that is named when it runs must not be passed over in silence.
	 * @param chosen the store of the application
	 */
	void refuseOtherThan(StoreType chosen) {
		if (this.type != null && this.type != chosen) {
			throw ConfigurationRefusedException.of(STORE_TYPE, this.type.value(),
					"The application was processed ahead of time for '" + chosen.value()
							+ "'. Write that, or set the property when the application is processed.");
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
			SessionKitProperties.refuseLessThanOne("store.memory.max-sessions", maxSessions, "");
		}
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

}
