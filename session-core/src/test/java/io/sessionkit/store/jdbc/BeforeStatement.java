package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Lets something happen right before statements that begin with a text are prepared.
 */
final class BeforeStatement extends DelegatingDataSource {

	private final String beginning;

	private final Runnable action;

	BeforeStatement(DataSource target, String beginning, Runnable action) {
		super(target);
		this.beginning = beginning.toLowerCase(Locale.ROOT);
		this.action = action;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection target = super.getConnection();
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, args) -> {
					if (args != null && args.length > 0 && args[0] instanceof String sql
							&& sql.strip().toLowerCase(Locale.ROOT).startsWith(this.beginning)) {
						this.action.run();
					}
					try {
						return method.invoke(target, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
