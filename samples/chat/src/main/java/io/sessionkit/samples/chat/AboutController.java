package io.sessionkit.samples.chat;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

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
	About about() throws SQLException {
		return new About(this.model, this.offline, store());
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

	record About(String model, boolean offline, String store) {
	}

}
