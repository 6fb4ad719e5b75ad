package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Rows that were written before are read, and continued, on databases that did not write
 * them. The file has the rows of a session with tool calls, a long result, a failed turn,
 * a turn that was undone, and a call that waits for a person.
 * <p>
 * If this fails, tables that somebody has are not readable any more. Until the first
 * release {@code -Dsessionkit.rows.update=true} writes the file anew; after it a file of
 * the next version comes beside it.
 */
class StoredRowsTests {

	private static final Path FILE = Path.of("src/test/resources/io/sessionkit/store/jdbc/rows-v1.json");

	private static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final List<String> TABLES = List.of("SESSIONKIT_SESSION", "SESSIONKIT_TURN", "SESSIONKIT_ITEM",
			"SESSIONKIT_RECORD");

	/**
	 * What the columns of version 1 are called now. Nothing that is in them has changed.
	 */
	private static final Map<String, String> COLUMNS = Map.of("cp", "summary_turn", "cp_id", "summary_id", "state",
			"attributes");

	enum Kind {

		H2, POSTGRES, MARIADB, SQLITE;

		TestDatabase database() {
			return switch (this) {
				case H2 -> TestDatabase.h2();
				case POSTGRES -> TestDatabase.postgres();
				case MARIADB -> TestDatabase.mariaDb();
				case SQLITE -> TestDatabase.sqlite();
			};
		}

	}

	record Order(int id) {
	}

	private final ScriptedChatModel model = new ScriptedChatModel();

	@ParameterizedTest
	@EnumSource
	void rowsOfTheFirstVersionAreReadAndContinued(Kind kind) throws IOException {
		if (Boolean.getBoolean("sessionkit.rows.update") && kind == Kind.H2) {
			Files.writeString(FILE, written() + "\n");
		}
		TestDatabase database = kind.database().created();
		load(database.sql());
		SessionStore store = JdbcTransactionContract.storeOn(database.direct());
		try (Conversations conversations = Conversations.of(store)) {
			Approvals approvals = approvals(conversations);
			assertThat(conversations.get(KEY).session().orElseThrow().title()).isEqualTo("Parcels");
			assertThat(texts(store)).containsExactly("Where is my order 7?", "", "", "It is on its way.",
					"And order 9?", "Also.");
			assertThat(store.turns(KEY, Tail.ALL)).extracting("status")
				.containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.COMPLETED, TurnStatus.COMPLETED,
						TurnStatus.AWAITING_APPROVAL);
			assertThat(conversations.get(KEY).branches()).singleElement()
				.satisfies((branch) -> assertThat(
						store.path(KEY, PathQuery.to(Point.at(branch.head())).turns(Tail.ALL)).orElseThrow().turns())
					.filteredOn((turn) -> turn.items() > 0)
					.hasSize(2));

			ToolApproval waiting = approvals.pending(KEY).get(0);
			assertThat(waiting.arguments()).isEqualTo("{\"id\":9}");
			approvals.decide(waiting, Decision.approve("eve"));
			this.model.says("Cancelled.");
			String reply = chat(conversations, approvals).prompt()
				.advisors(SessionAdvisor.session(KEY))
				.call()
				.content();
			assertThat(reply).isEqualTo("Cancelled.");
			assertThat(texts(store)).endsWith("Cancel order 9.", "", "", "Cancelled.");
			assertThat(this.model.lastRequestLines()).anyMatch((line) -> line.contains("done 9"));
		}
	}

	private String written() {
		TestDatabase database = TestDatabase.h2().created();
		SessionStore store = JdbcTransactionContract.storeOn(database.direct());
		try (Conversations conversations = Conversations.of(store)) {
			Approvals approvals = approvals(conversations);
			ChatClient chat = chat(conversations, approvals);
			this.model.calls(new ToolCall("c1", "function", "look", "{\"id\":7}")).says("It is on its way.");
			ask(chat, "Where is my order 7?");
			conversations.get(KEY).title("Parcels");
			this.model.fails(new IllegalStateException("no model"));
			assertThatIllegalStateException().isThrownBy(() -> ask(chat, "And order 8?"));
			this.model.says("Nothing is known.");
			ask(chat, "And order 8?");
			conversations.get(KEY).undo(1);
			this.model.says("Also.");
			ask(chat, "And order 9?");
			this.model.calls(new ToolCall("c2", "function", "cancel", "{\"id\":9}"));
			ask(chat, "Cancel order 9.");
		}
		Map<String, List<Map<String, Object>>> rows = new LinkedHashMap<>();
		for (String table : TABLES) {
			rows.put(table, database.sql().query("select * from " + table + " order by 1, 2, 3", (row, number) -> {
				Map<String, Object> values = new TreeMap<>();
				for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
					String name = row.getMetaData().getColumnName(i).toLowerCase(Locale.ROOT);
					Object value = (row.getObject(i) instanceof Number) ? row.getLong(i) : row.getString(i);
					if (value != null) {
						values.put(name, value);
					}
				}
				return values;
			}));
		}
		return JSON.writeValueAsString(rows);
	}

	private static void load(JdbcTemplate sql) throws IOException {
		Map<String, List<Map<String, Object>>> tables = JSON.readValue(Files.readString(FILE), new TypeReference<>() {
		});
		tables.forEach((table, rows) -> rows.forEach((row) -> {
			List<String> names = row.keySet().stream().map((name) -> COLUMNS.getOrDefault(name, name)).toList();
			String places = String.join(", ", names.stream().map((name) -> "?").toList());
			sql.update("insert into " + table + " (" + String.join(", ", names) + ") values (" + places + ")",
					row.values().toArray());
		}));
	}

	private ChatClient chat(Conversations conversations, Approvals approvals) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool("look", "x".repeat(5000)), tool("cancel", "done"))
			.build();
	}

	private static Approvals approvals(Conversations conversations) {
		return Approvals.builder(conversations).tools(Set.of("cancel")).build();
	}

	private static ToolCallback tool(String name, String result) {
		return FunctionToolCallback.builder(name, (Order order) -> result + " " + order.id())
			.description(name)
			.inputType(Order.class)
			.build();
	}

	private static void ask(ChatClient chat, String text) {
		chat.prompt().user(text).advisors(SessionAdvisor.session(KEY)).call().chatResponse();
	}

	private static List<String> texts(SessionStore store) {
		return store.messages(KEY).stream().map(Message::getText).toList();
	}

}
