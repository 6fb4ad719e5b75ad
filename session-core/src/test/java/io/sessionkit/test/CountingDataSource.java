package io.sessionkit.test;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Counts what would cross the network if the database were a server: statements, batches,
 * commits. For databases that run in the process, where there is no wire to count on.
 */
public final class CountingDataSource extends DelegatingDataSource {

	private final AtomicInteger calls = new AtomicInteger();

	public CountingDataSource(DataSource target) {
		super(target);
	}

	/**
	 * The calls since {@link #reset}.
	 * @return their number
	 */
	public int calls() {
		return this.calls.get();
	}

	/**
	 * Counts from zero again.
	 */
	public void reset() {
		this.calls.set(0);
	}

	@Override
	public Connection getConnection() throws SQLException {
		return (Connection) counting(Connection.class, super.getConnection());
	}

	private Object counting(Class<?> type, Object target) {
		return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, args) -> {
			if (method.getName().startsWith("execute") || method.getName().equals("commit")) {
				this.calls.incrementAndGet();
			}
			try {
				Object result = method.invoke(target, args);
				return (result instanceof Statement) ? counting(method.getReturnType(), result) : result;
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		});
	}

}
