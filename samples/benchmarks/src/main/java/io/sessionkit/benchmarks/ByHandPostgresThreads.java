package io.sessionkit.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;

/**
 * By hand on PostgreSQL: header and messages in one statement.
 */
final class ByHandPostgresThreads extends ByHandThreads {

	/** The script that creates its tables. */
	static final String SCHEMA = "by-hand-postgresql.sql";

	/** Lateral, so that the planner has no choice but the index. */
	private static final String OPEN = """
			select t.pk, t.version, m.role, m.body from thread t
				left join lateral (
					select seq, role, body from message where thread_pk = t.pk order by seq desc limit ?) m on true
				where t.id = ? order by m.seq""";

	private static final String APPEND = """
			with t as (update thread set version = version + 1, items = items + ?, updated_at = now()
				where pk = ? and version = ? returning pk, items)
			insert into message (thread_pk, seq, role, body)
				select t.pk, t.items - ? + m.n, m.role, m.body
				from t, unnest(?, ?) with ordinality as m(role, body, n)""";

	ByHandPostgresThreads(DataSource dataSource, ChatModel model) {
		super(dataSource, model);
	}

	@Override
	String open() {
		return OPEN;
	}

	@Override
	boolean append(Connection connection, Opened thread, List<Message> messages) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(APPEND)) {
			statement.setInt(1, messages.size());
			statement.setLong(2, thread.pk());
			statement.setLong(3, thread.version());
			statement.setInt(4, messages.size());
			statement.setArray(5,
					connection.createArrayOf("text", messages.stream().map(ByHandThreads::role).toArray()));
			statement.setArray(6, connection.createArrayOf("text", messages.stream().map(Message::getText).toArray()));
			return statement.executeUpdate() == messages.size();
		}
	}

}
