package io.sessionkit.internal.sql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.UUID;

import io.sessionkit.internal.sql.JdbcWork.Change;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

class JdbcWorkTests {

	private final JdbcDataSource database = new JdbcDataSource();

	/** To return to auto-commit would commit it. */
	@Test
	void whatCannotBeRolledBackIsNotCommitted() {
		this.database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		JdbcTemplate sql = new JdbcTemplate(this.database);
		sql.execute("create table written (id int)");
		JdbcWork work = new JdbcWork(new WithoutRollback());
		String result = work.atomically(null, (connection) -> {
			try (Statement statement = connection.createStatement()) {
				statement.execute("insert into written values (1)");
			}
			return Optional.of(new Change<>("refused", false));
		});
		assertThat(result).isEqualTo("refused");
		assertThat(sql.queryForObject("select count(*) from written", Integer.class)).isZero();
	}

	/** Its connections roll back when they are closed only. */
	private final class WithoutRollback extends DelegatingDataSource {

		WithoutRollback() {
			super(JdbcWorkTests.this.database);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (self, called, arguments) -> {
						if (called.getName().equals("rollback")) {
							throw new SQLException("not now");
						}
						try {
							return called.invoke(connection, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

	}

}
