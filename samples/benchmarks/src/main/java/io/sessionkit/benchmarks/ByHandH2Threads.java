package io.sessionkit.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;

/**
 * By hand on H2: one short transaction of an update and a batch of inserts.
 */
final class ByHandH2Threads extends ByHandThreads {

	/** The script that creates its tables. */
	static final String SCHEMA = "by-hand-h2.sql";

	private static final String OPEN = """
			select t.pk, t.version, m.role, m.body
				from thread t left join message m on m.thread_pk = t.pk and m.seq > t.items - ?
				where t.id = ? order by m.seq""";

	private static final String RAISE = """
			update thread set version = version + 1, items = items + ?, updated_at = current_timestamp
				where pk = ? and version = ?""";

	private static final String INSERT = """
			insert into message (thread_pk, seq, role, body)
				select pk, items - ?, ?, ? from thread where pk = ?""";

	ByHandH2Threads(DataSource dataSource, ChatModel model) {
		super(dataSource, model);
	}

	@Override
	String open() {
		return OPEN;
	}

	@Override
	boolean append(Connection connection, Opened thread, List<Message> messages) throws SQLException {
		connection.setAutoCommit(false);
		boolean written = false;
		try {
			written = raise(connection, thread, messages.size());
			if (written) {
				insert(connection, thread, messages);
				connection.commit();
			}
			return written;
		}
		finally {
			if (!written) {
				connection.rollback();
			}
			connection.setAutoCommit(true);
		}
	}

	private static boolean raise(Connection connection, Opened thread, int messages) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(RAISE)) {
			statement.setInt(1, messages);
			statement.setLong(2, thread.pk());
			statement.setLong(3, thread.version());
			return statement.executeUpdate() == 1;
		}
	}

	private static void insert(Connection connection, Opened thread, List<Message> messages) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
			for (int i = 0; i < messages.size(); i++) {
				statement.setInt(1, messages.size() - 1 - i);
				statement.setString(2, role(messages.get(i)));
				statement.setString(3, messages.get(i).getText());
				statement.setLong(4, thread.pk());
				statement.addBatch();
			}
			statement.executeBatch();
		}
	}

}
