package io.sessionkit.autoconfigure.store;

import java.sql.DatabaseMetaData;
import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import io.sessionkit.SessionException;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.Jdbc;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;

/**
 * Runs the schema script of the database at start, if the properties say so and the
 * tables are not there yet. If the script fails, the application does not start. For a
 * database without a script nothing is run: the store refuses that database by name.
 * <p>
 * The script is not run on tables that are there, although it would leave them as they
 * are: it needs the right to create tables, and its indexes wait for all that write.
 */
final class SessionSchemaInitializer extends DataSourceScriptDatabaseInitializer {

	/**
	 * Instances that start together get in each other's way, since databases do not
	 * create a table that does not exist in one step. The script can be repeated.
	 */
	private static final RetryTemplate AGAIN = new RetryTemplate(
			RetryPolicy.builder().includes(ScriptException.class).maxRetries(4).delay(Duration.ofMillis(200)).build());

	private final @Nullable String script;

	/** Is asked for the tables only, so its options do not matter. */
	private final JdbcSessionStore store;

	SessionSchemaInitializer(DataSource dataSource, Jdbc jdbc) {
		this(dataSource, script(dataSource, jdbc));
	}

	private SessionSchemaInitializer(DataSource dataSource, @Nullable String script) {
		super(dataSource, settings(script));
		this.script = script;
		this.store = new JdbcSessionStore(dataSource, StoreOptions.of(JsonMessageCodec.create()));
	}

	/**
	 * Returns the script to run; null for none.
	 */
	private static @Nullable String script(DataSource dataSource, Jdbc jdbc) {
		JdbcStoreCheck.connect(dataSource);
		if (!isWanted(dataSource, jdbc)) {
			return null;
		}
		String script = Jdbc.SCHEMA_SCRIPT.replace("@@platform@@", platform(dataSource));
		return new ClassPathResource(script).exists() ? script : null;
	}

	private static DatabaseInitializationSettings settings(@Nullable String script) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setContinueOnError(false);
		settings.setMode((script != null) ? DatabaseInitializationMode.ALWAYS : DatabaseInitializationMode.NEVER);
		settings.setSchemaLocations((script != null) ? List.of("classpath:" + script) : null);
		return settings;
	}

	/**
	 * Returns whether the script runs. An embedded database whose tables have another
	 * prefix is left alone, since the tables of the script would be of no use to it.
	 */
	static boolean isWanted(DataSource dataSource, Jdbc jdbc) {
		return jdbc.hasDefaultPrefix() && switch (jdbc.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> EmbeddedDatabaseConnection.isEmbedded(dataSource);
			case NEVER -> false;
		};
	}

	@Override
	public boolean initializeDatabase() {
		if (this.script == null) {
			return false;
		}
		try {
			return AGAIN.invoke(() -> !isThere() && super.initializeDatabase());
		}
		catch (ScriptException ex) {
			throw refused(this.script, ex);
		}
	}

	/**
	 * Returns whether the script has nothing to do: the tables are there, also those of
	 * another version, those that the user may not read, and those of which some are
	 * gone: new ones in their place would hide that. The check of the store reports
	 * these.
	 */
	private boolean isThere() {
		try {
			this.store.verifySchema();
			return true;
		}
		catch (SessionException ex) {
			return JdbcStoreCheck.isNotGranted(ex) || !lost().isEmpty();
		}
		catch (IllegalStateException ex) {
			return hasVersion();
		}
	}

	private List<String> lost() {
		DataSource dataSource = getDataSource();
		return (dataSource != null) ? new LostTables(dataSource, JdbcSessionStore.DEFAULT_TABLE_PREFIX).names()
				: List.of();
	}

	/**
	 * Returns whether the tables name a version, or are not there since the store refuses
	 * the database. If they name none, the script is at work elsewhere, or was
	 * interrupted.
	 */
	private boolean hasVersion() {
		String versions = "select count(*) from " + JdbcSessionStore.DEFAULT_TABLE_PREFIX + "SCHEMA";
		try {
			return !Integer.valueOf(0)
				.equals(new JdbcTemplate(getDataSource()).queryForObject(versions, Integer.class));
		}
		catch (BadSqlGrammarException ex) {
			return true;
		}
	}

	private static ConfigurationRefusedException refused(String script, ScriptException ex) {
		return new ConfigurationRefusedException(
				"The script " + script + ", which creates the tables of the sessions, failed ("
						+ JdbcStoreCheck.describe(ex) + ").",
				whatToDo(ex) + " With debug=true the log has the driver's own message.", ex);
	}

	private static String whatToDo(ScriptException ex) {
		if (JdbcStoreCheck.isWithoutSchema(ex)) {
			return "Create the schema that 'currentSchema' in " + JdbcStoreCheck.URL + " names, or correct its name.";
		}
		return "Let this user create tables, or set '" + StoreProperties.INITIALIZE_SCHEMA
				+ "' to 'never' and run the script as another one.";
	}

	private static String platform(DataSource dataSource) {
		try {
			String product = JdbcUtils.extractDatabaseMetaData(dataSource, DatabaseMetaData::getDatabaseProductName);
			return DatabaseDriver.fromProductName(JdbcUtils.commonDatabaseName(product)).getId();
		}
		catch (MetaDataAccessException ex) {
			throw JdbcStoreCheck.unreachable(ex);
		}
	}

}
