package io.sessionkit.autoconfigure.store;

import java.sql.DatabaseMetaData;
import java.util.List;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.StoreProperties.Jdbc;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;

/**
 * Runs the schema script of the database at start, if the properties say so. If the
 * script fails, the application does not start. For a database without a script nothing
 * is run: the store refuses that database by name.
 */
final class SessionSchemaInitializer extends DataSourceScriptDatabaseInitializer {

	SessionSchemaInitializer(DataSource dataSource, Jdbc jdbc) {
		super(dataSource, settings(dataSource, jdbc));
	}

	private static DatabaseInitializationSettings settings(DataSource dataSource, Jdbc jdbc) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setContinueOnError(false);
		settings.setMode(DatabaseInitializationMode.NEVER);
		if (isWanted(dataSource, jdbc)) {
			String script = Jdbc.SCHEMA_SCRIPT.replace("@@platform@@", platform(dataSource));
			if (new ClassPathResource(script).exists()) {
				settings.setMode(DatabaseInitializationMode.ALWAYS);
				settings.setSchemaLocations(List.of("classpath:" + script));
			}
		}
		return settings;
	}

	/**
	 * Returns whether the script runs. An embedded database whose tables have another
	 * prefix is left alone, since the tables of the script would be of no use to it.
	 */
	private static boolean isWanted(DataSource dataSource, Jdbc jdbc) {
		return jdbc.hasDefaultPrefix() && switch (jdbc.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> EmbeddedDatabaseConnection.isEmbedded(dataSource);
			case NEVER -> false;
		};
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
