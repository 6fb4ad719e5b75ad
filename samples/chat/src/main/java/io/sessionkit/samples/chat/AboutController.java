package io.sessionkit.samples.chat;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import javax.sql.DataSource;

import jakarta.servlet.http.HttpServletRequest;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Returns which model answers and where the sessions are stored.
 */
@RestController
final class AboutController {

	private static final List<Suggestion> SUGGESTIONS = List.of(
			new Suggestion("My name is Ada", "Known later, also after a restart"),
			new Suggestion("Roll two dice", "Two tool calls in one turn"),
			new Suggestion("Tell me a story", "Long enough to press stop"));

	private final String model;

	private final boolean offline;

	private final String storeType;

	private final ObjectProvider<DataSource> database;

	/**
	 * @param database the database; absent with the profile "redis"
	 */
	AboutController(ChatModel model, ObjectProvider<DataSource> database,
			@Value("${sessionkit.store.type}") String storeType) {
		this.offline = model instanceof DemoChatModel;
		this.model = this.offline ? "DemoChatModel (offline)"
				: Objects.requireNonNullElse(model.getOptions().getModel(), model.getClass().getSimpleName());
		this.storeType = storeType;
		this.database = database;
	}

	@GetMapping("/api/about")
	About about(HttpServletRequest request) throws SQLException {
		return new About(this.model, this.offline, store(),
				this.offline ? suggestions(Visitor.of(request)) : List.of());
	}

	private static List<Suggestion> suggestions(Visitor visitor) {
		Suggestion cancel = new Suggestion("Cancel order 4711",
				visitor.decides() ? "Waits until you approve it" : "Waits until an approver decides");
		return Stream.concat(SUGGESTIONS.stream(), Stream.of(cancel)).toList();
	}

	private String store() throws SQLException {
		return switch (this.storeType) {
			case "jdbc" -> product(this.database.getObject());
			case "redis" -> "Redis";
			default -> this.storeType;
		};
	}

	private static String product(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return connection.getMetaData().getDatabaseProductName();
		}
	}

	/**
	 * @param suggestions what to try; empty for a real model, which needs no such help
	 */
	record About(String model, boolean offline, String store, List<Suggestion> suggestions) {
	}

	record Suggestion(String text, String why) {
	}

}
