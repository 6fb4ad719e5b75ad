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
 * Says which model answers and where the threads are.
 */
@RestController
final class AboutController {

	private final About about;

	/**
	 * @param database there is none with the profile "redis"
	 */
	AboutController(ChatModel model, ObjectProvider<DataSource> database,
			@Value("${sessionkit.store.type}") String storeType) throws SQLException {
		boolean offline = model instanceof DemoChatModel;
		String name = offline ? "DemoChatModel (offline)"
				: Objects.requireNonNullElse(model.getOptions().getModel(), model.getClass().getSimpleName());
		this.about = new About(name, offline, store(storeType, database));
	}

	@GetMapping("/api/about")
	About about() {
		return this.about;
	}

	private static String store(String type, ObjectProvider<DataSource> database) throws SQLException {
		return switch (type) {
			case "jdbc" -> product(database.getObject());
			case "redis" -> "Redis";
			default -> type;
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
