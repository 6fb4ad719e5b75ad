package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A rule of Oracle that H2 does not have in its Oracle mode: a null without a type is a
 * text, and <code>coalesce</code> and <code>case</code> take values of one type only.
 */
final class UntypedNulls {

	private static final Pattern ONE_TYPE = Pattern.compile("(coalesce\\(|then |else )$");

	private UntypedNulls() {
	}

	static PreparedStatement refused(PreparedStatement statement, String sql) {
		return (PreparedStatement) Proxy.newProxyInstance(PreparedStatement.class.getClassLoader(),
				new Class<?>[] { PreparedStatement.class }, (self, called, arguments) -> {
					if (called.getName().equals("setObject") && arguments[1] == null) {
						check(sql, (int) arguments[0]);
					}
					try {
						return called.invoke(statement, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private static void check(String sql, int parameter) throws SQLException {
		Matcher place = Pattern.compile("\\?").matcher(sql);
		for (int i = 0; i < parameter; i++) {
			place.find();
		}
		String before = sql.substring(0, place.start());
		if (ONE_TYPE.matcher(before).find()) {
			throw new SQLException("ORA-00932: a text where a number is expected, after " + before, "42000", 932);
		}
	}

}
