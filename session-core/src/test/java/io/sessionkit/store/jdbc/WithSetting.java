package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Connections on which a statement has been executed.
 */
final class WithSetting extends DelegatingDataSource {

	private final String statement;

	WithSetting(DataSource target, String statement) {
		super(target);
		this.statement = statement;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		try (Statement setting = connection.createStatement()) {
			setting.execute(this.statement);
		}
		return connection;
	}

}
