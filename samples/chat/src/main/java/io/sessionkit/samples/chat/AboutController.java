package io.sessionkit.samples.chat;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Says which model answers and where the threads are.
 */
@RestController
final class AboutController {

	private final About about;

	AboutController(ChatModel model, DataSource dataSource, @Value("${sessionkit.store.type}") String storeType)
			throws SQLException {
		boolean offline = model instanceof DemoChatModel;
		String name = offline ? "DemoChatModel (offline)"
				: Objects.requireNonNullElse(model.getOptions().getModel(), model.getClass().getSimpleName());
		this.about = new About(name, offline, "jdbc".equals(storeType) ? product(dataSource) : storeType);
	}

	@GetMapping("/api/about")
	About about() {
		return this.about;
	}

	private static String product(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return connection.getMetaData().getDatabaseProductName();
		}
	}

	record About(String model, boolean offline, String store) {
	}

}
