package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A database that says it is another one.
 */
final class ProductName extends DelegatingDataSource {

	private final String name;

	ProductName(DataSource target, String name) {
		super(target);
		this.name = name;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return proxy(Connection.class, connection, "getMetaData",
				proxy(DatabaseMetaData.class, connection.getMetaData(), "getDatabaseProductName", this.name));
	}

	private static <T> T proxy(Class<T> type, T target, String method, Object answer) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (self, called, arguments) -> {
				if (called.getName().equals(method)) {
					return answer;
				}
				try {
					return called.invoke(target, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
