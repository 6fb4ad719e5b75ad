package io.sessionkit.migration;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import javax.sql.DataSource;

import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Reads {@code SPRING_AI_CHAT_MEMORY}. Its tool messages have no content, since the
 * repository does not store it. Without a sequence, messages are in the order of their
 * times, also where the column was added to a table that had rows.
 */
final class ChatMemoryTable implements SourceReader {

	private static final String TABLE = "SPRING_AI_CHAT_MEMORY";

	/** A table without sequence holds windows, which are read as a whole. */
	private static final int LARGEST_WINDOW = 100_000;

	private final TableRows rows;

	private final boolean hasSequence;

	/** The conversation of which the order was found out last. */
	private @Nullable SourceConversation known;

	private Order order = Order.MIXED;

	ChatMemoryTable(DataSource dataSource) {
		this.rows = new TableRows(dataSource);
		this.hasSequence = this.rows.columns(TABLE).contains("sequence_id");
	}

	@Override
	public String name() {
		return TABLE;
	}

	@Override
	public List<SourceConversation> conversations(@Nullable SourceConversation after, int limit) {
		String select = "SELECT DISTINCT conversation_id FROM " + TABLE;
		String order = " ORDER BY conversation_id";
		TableRows.Row<SourceConversation> mapping = (row) -> new SourceConversation(row.getString(1), "");
		return (after == null) ? this.rows.query(select + order, limit, mapping)
				: this.rows.query(select + " WHERE conversation_id > ?" + order, limit, mapping, after.id());
	}

	/**
	 * Refuses a conversation whose messages have no order, as two saves at the same time
	 * leave them, and one that the database cannot distinguish from another.
	 */
	@Override
	public @Nullable Outcome refusal(SourceConversation conversation, Instant now) {
		boolean ordered = switch (find(conversation)) {
			case SEQUENCES -> hasOneId(conversation);
			case TIMES -> hasDistinctTimes(conversation);
			case MIXED -> false;
		};
		return ordered ? null : Outcome.ORDER_UNKNOWN;
	}

	/** What tells in which order the messages of a conversation were said. */
	private enum Order {

		SEQUENCES, TIMES, MIXED

	}

	private Order find(SourceConversation conversation) {
		this.order = order(conversation);
		this.known = conversation;
		return this.order;
	}

	private Order order(SourceConversation conversation) {
		return this.hasSequence ? this.rows
			.query("SELECT COUNT(*), COUNT(DISTINCT sequence_id) FROM " + TABLE + " WHERE conversation_id = ?", 1,
					(row) -> order(row.getLong(1), row.getLong(2)), conversation.id())
			.get(0) : Order.TIMES;
	}

	/** Rows that are older than the column all have its default, or none. */
	private static Order order(long messages, long sequences) {
		return (sequences == messages) ? Order.SEQUENCES : (sequences <= 1) ? Order.TIMES : Order.MIXED;
	}

	/** Returns false if the database takes other ids for this one. */
	private boolean hasOneId(SourceConversation conversation) {
		return this.rows
			.query("SELECT conversation_id FROM " + TABLE + " WHERE conversation_id = ?", 0, (row) -> row.getString(1),
					conversation.id())
			.stream()
			.allMatch(conversation.id()::equals);
	}

	private boolean hasDistinctTimes(SourceConversation conversation) {
		List<Line> lines = window(conversation);
		return lines.size() <= LARGEST_WINDOW && lines.stream().map(Line::at).distinct().count() == lines.size()
				&& lines.stream().allMatch((line) -> line.id().equals(conversation.id()));
	}

	@Override
	public List<SourceMessage> messages(SourceConversation conversation, long after, int limit) {
		// all pages are of one order, also if the conversation is written meanwhile
		Order found = conversation.equals(this.known) ? this.order : find(conversation);
		return (found == Order.SEQUENCES) ? bySequence(conversation, after, limit) : byTime(conversation, after, limit);
	}

	private List<SourceMessage> bySequence(SourceConversation conversation, long after, int limit) {
		return this.rows
			.query("SELECT * FROM " + TABLE + " WHERE conversation_id = ? AND sequence_id > ? ORDER BY sequence_id",
					limit, (row) -> line(row), conversation.id(), after)
			.stream()
			.map((line) -> line.message(line.sequence()))
			.toList();
	}

	private List<SourceMessage> byTime(SourceConversation conversation, long after, int limit) {
		List<Line> lines = window(conversation);
		List<SourceMessage> page = new ArrayList<>();
		for (int i = (int) Math.max(0, after + 1); i < lines.size() && page.size() < limit; i++) {
			page.add(lines.get(i).message(i));
		}
		return page;
	}

	private List<Line> window(SourceConversation conversation) {
		return this.rows
			.query("SELECT * FROM " + TABLE + " WHERE conversation_id = ?", LARGEST_WINDOW + 1, (row) -> line(row),
					conversation.id())
			.stream()
			.sorted(Comparator.comparing(Line::at))
			.toList();
	}

	private Line line(ResultSet row) throws SQLException {
		return new Line(row.getString("conversation_id"), this.hasSequence ? row.getLong("sequence_id") : 0,
				Objects.requireNonNull(TableRows.instant(row, "timestamp")), row.getString("type"),
				row.getString("content"));
	}

	/**
	 * A row of the table.
	 */
	private record Line(String id, long sequence, Instant at, String type, @Nullable String content) {

		SourceMessage message(long position) {
			String text = this.content;
			return switch (this.type.toUpperCase(Locale.ROOT)) {
				case "USER" -> (text != null) ? SourceMessage.of(position, this.at, new UserMessage(text))
						: SourceMessage.leftOut(position, Reason.UNREADABLE);
				case "ASSISTANT" ->
					(text != null && !text.isBlank()) ? SourceMessage.of(position, this.at, new AssistantMessage(text))
							: SourceMessage.leftOut(position, Reason.EMPTY);
				case "SYSTEM" -> SourceMessage.leftOut(position, Reason.SYSTEM_TEXT);
				case "TOOL" -> SourceMessage.leftOut(position, Reason.EMPTY);
				default -> SourceMessage.leftOut(position, Reason.UNREADABLE);
			};
		}

	}

}
