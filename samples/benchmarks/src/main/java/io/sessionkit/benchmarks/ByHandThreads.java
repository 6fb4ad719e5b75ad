package io.sessionkit.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;

/**
 * The code that a careful person would write for one line of conversation: one select for
 * the header and the newest messages, and one write for the turn with a version check. It
 * stores roles and texts only: no tool calls, no metadata, no turns, no tree.
 */
abstract class ByHandThreads implements Threads {

	private static final int PRELOADED_AT_ONCE = 1_000;

	private final DataSource dataSource;

	private final ChatClient chat;

	ByHandThreads(DataSource dataSource, ChatModel model) {
		this.dataSource = dataSource;
		this.chat = ChatClient.builder(model).build();
	}

	/**
	 * A session as it was read.
	 *
	 * @param pk the key of its row
	 * @param version its version
	 * @param messages its newest messages
	 */
	record Opened(long pk, long version, List<Message> messages) {
	}

	/**
	 * Returns the statement that selects pk, version, role and text, oldest message
	 * first. Its parameters are the number of newest messages and the id of the session.
	 */
	abstract String open();

	/**
	 * Appends the messages if nothing was written since.
	 * @return whether they were written
	 */
	abstract boolean append(Connection connection, Opened thread, List<Message> messages) throws SQLException;

	@Override
	public final void turn(String thread, Message question) {
		try {
			Opened opened = open(thread);
			List<Message> request = new ArrayList<>(opened.messages());
			request.add(question);
			String reply = this.chat.prompt().messages(request).call().content();
			append(opened, List.of(question, new AssistantMessage(reply)));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Opened open(String thread) throws SQLException {
		try (Connection connection = this.dataSource.getConnection();
				PreparedStatement statement = connection.prepareStatement(open())) {
			statement.setInt(1, Contenders.WINDOW_MESSAGES);
			statement.setString(2, thread);
			try (ResultSet rows = statement.executeQuery()) {
				return read(rows);
			}
		}
	}

	private static Opened read(ResultSet rows) throws SQLException {
		List<Message> messages = new ArrayList<>();
		long pk = 0;
		long version = 0;
		while (rows.next()) {
			pk = rows.getLong(1);
			version = rows.getLong(2);
			String role = rows.getString(3);
			if (role != null) {
				String body = rows.getString(4);
				messages.add("USER".equals(role) ? new UserMessage(body) : new AssistantMessage(body));
			}
		}
		return new Opened(pk, version, messages);
	}

	private void append(Opened thread, List<Message> messages) throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			if (!append(connection, thread, messages)) {
				throw new IllegalStateException("Somebody else wrote to thread " + thread.pk() + ".");
			}
		}
	}

	@Override
	public final void preload(String thread, int messages) {
		try (Connection connection = this.dataSource.getConnection();
				PreparedStatement statement = connection
					.prepareStatement("insert into thread (id, version, items) values (?, 0, 0)")) {
			statement.setString(1, thread);
			statement.executeUpdate();
			for (int turn = 0; turn < messages / 2; turn += PRELOADED_AT_ONCE) {
				List<Message> next = new ArrayList<>();
				for (int i = turn; i < Math.min(turn + PRELOADED_AT_ONCE, messages / 2); i++) {
					next.addAll(Dialogue.turn(i));
				}
				append(open(thread), next);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static String role(Message message) {
		return (message.getMessageType() == MessageType.USER) ? "USER" : "ASSISTANT";
	}

}
