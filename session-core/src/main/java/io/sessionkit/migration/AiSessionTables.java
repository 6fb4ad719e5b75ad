package io.sessionkit.migration;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;
import io.sessionkit.migration.SourceMessage.Mark;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.util.JsonHelper;

/**
 * Reads {@code AI_SESSION} and {@code AI_SESSION_EVENT}. Archived events come first, then
 * what was made from them, then the others.
 */
final class AiSessionTables implements SourceReader {

	private static final String SESSIONS = "AI_SESSION";

	private static final String EVENTS = "AI_SESSION_EVENT";

	private final TableRows rows;

	private final JsonHelper json = new JsonHelper();

	AiSessionTables(DataSource dataSource) {
		this.rows = new TableRows(dataSource);
		check(SESSIONS, Set.of("id", "user_id", "expires_at"));
		check(EVENTS, Set.of("seq", "session_id", "message_type", "message_data", "archived", "synthetic", "branch"));
	}

	private void check(String table, Set<String> expected) {
		if (!this.rows.columns(table).containsAll(expected)) {
			throw new IllegalStateException("Table " + table + " is not one of the community's Spring AI Session 0.6 or"
					+ " 0.7, which has the columns " + expected.stream().sorted().toList()
					+ ". Bring an earlier one to version 0.6 first.");
		}
	}

	@Override
	public String name() {
		return SESSIONS;
	}

	@Override
	public List<SourceConversation> conversations(@Nullable SourceConversation after, int limit) {
		String select = "SELECT id, user_id FROM " + SESSIONS;
		String order = " ORDER BY id";
		TableRows.Row<SourceConversation> mapping = (row) -> new SourceConversation(row.getString(1), row.getString(2));
		return (after == null) ? this.rows.query(select + order, limit, mapping)
				: this.rows.query(select + " WHERE id > ?" + order, limit, mapping, after.id());
	}

	@Override
	public @Nullable Outcome refusal(SourceConversation conversation, Instant now) {
		boolean expired = this.rows
			.query("SELECT expires_at FROM " + SESSIONS + " WHERE id = ?", 1,
					(row) -> isBefore(TableRows.instant(row, "expires_at"), now), conversation.id())
			.contains(true);
		return expired ? Outcome.EXPIRED : null;
	}

	private static boolean isBefore(@Nullable Instant expiry, Instant now) {
		return expiry != null && !expiry.isAfter(now);
	}

	@Override
	public List<SourceMessage> messages(SourceConversation conversation, long after, int limit) {
		return this.rows.query("SELECT * FROM " + EVENTS + " WHERE session_id = ? AND seq > ? ORDER BY seq", limit,
				this::event, conversation.id(), after);
	}

	private SourceMessage event(ResultSet row) throws SQLException {
		Mark mark = row.getBoolean("synthetic") ? Mark.SYNTHETIC
				: row.getBoolean("archived") ? Mark.ARCHIVED : Mark.NONE;
		return message(row).named(row.getString("id"), mark);
	}

	private SourceMessage message(ResultSet row) throws SQLException {
		long seq = row.getLong("seq");
		if (row.getString("branch") != null) {
			return SourceMessage.leftOut(seq, Reason.BRANCH);
		}
		String content = Objects.requireNonNullElse(row.getString("message_content"), "");
		String data = row.getString("message_data");
		Instant at = TableRows.instant(row, "timestamp");
		try {
			return switch (row.getString("message_type").toUpperCase(Locale.ROOT)) {
				case "USER" -> SourceMessage.of(seq, at, new UserMessage(content));
				case "ASSISTANT" -> answer(seq, at, content, data);
				case "TOOL" -> SourceMessage.of(seq, at, results(data));
				case "SYSTEM" -> SourceMessage.leftOut(seq, Reason.SYSTEM_TEXT);
				default -> SourceMessage.leftOut(seq, Reason.UNREADABLE);
			};
		}
		catch (UnreadableDataException ex) {
			return SourceMessage.leftOut(seq, Reason.UNREADABLE);
		}
	}

	private SourceMessage answer(long seq, @Nullable Instant at, String content, @Nullable String data) {
		List<ToolCall> calls = (data == null || data.isBlank()) ? List.of() : read(data, ToolCall[].class);
		if (calls.isEmpty() && content.isBlank()) {
			return SourceMessage.leftOut(seq, Reason.EMPTY);
		}
		return SourceMessage.of(seq, at, AssistantMessage.builder().content(content).toolCalls(calls).build());
	}

	private Message results(@Nullable String data) {
		if (data == null || data.isBlank()) {
			throw new UnreadableDataException();
		}
		return ToolResponseMessage.builder().responses(read(data, ToolResponse[].class)).build();
	}

	/** Reads an array without gaps, whose entries have all that they must have. */
	private <T> List<T> read(String data, Class<T[]> type) {
		try {
			List<T> values = Arrays.asList(this.json.fromJson(data, type));
			if (values.stream().allMatch(AiSessionTables::isComplete)) {
				return values;
			}
		}
		catch (RuntimeException ex) {
			throw new UnreadableDataException();
		}
		throw new UnreadableDataException();
	}

	private static boolean isComplete(@Nullable Object value) {
		return (value instanceof ToolCall call && call.name() != null && call.arguments() != null)
				|| (value instanceof ToolResponse response && response.name() != null
						&& response.responseData() != null);
	}

	/** The data of an event cannot be read. What it is, is never said. */
	private static final class UnreadableDataException extends RuntimeException {

		UnreadableDataException() {
			super(null, null, false, false);
		}

	}

}
