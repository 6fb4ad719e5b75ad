package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A database in the place of another one: it says that it is the other, each statement is
 * checked against the other's grammar, and then translated, as little as can be.
 */
final class Disguised extends DelegatingDataSource {

	private final Grammar grammar;

	private final UnaryOperator<String> translation;

	Disguised(DataSource target, String product, Grammar grammar, UnaryOperator<String> translation) {
		super(new ProductName(target, product));
		this.grammar = grammar;
		this.translation = translation;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (self, called, arguments) -> {
					Object[] passed = arguments;
					if (called.getName().equals("prepareStatement")) {
						String sql = (String) arguments[0];
						this.grammar.check(sql);
						passed = arguments.clone();
						passed[0] = this.translation.apply(sql);
					}
					try {
						Object result = called.invoke(connection, passed);
						return (this.grammar == Grammar.ORACLE && result instanceof PreparedStatement statement)
								? UntypedNulls.refused(statement, (String) arguments[0]) : result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
