package io.sessionkit.internal.sql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OpenedCollectorTests {

	/** SQL Server may read a newer state in each part of a statement. */
	@Test
	void headerAndTurnsOfDifferentStatesDoNotBelongTogether() throws SQLException {
		assertThat(read(row(2, 7), row(4, 7)).isOutdated()).isFalse();
		assertThat(read(row(2, 8), row(4, 7)).isOutdated()).isTrue();
		assertThat(read(row(2, 7), row(2, 8), row(4, 7)).isOutdated()).isTrue();
		assertThat(read(row(0, 7), row(1, 8)).isOutdated()).isTrue();
		assertThat(read(row(0, 7)).isOutdated()).isFalse();
	}

	private static OpenedCollector read(String... rows) throws SQLException {
		OpenedCollector collector = new OpenedCollector();
		try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery("values " + String.join(", ", rows))) {
			while (result.next()) {
				collector.receive(result);
			}
		}
		return collector;
	}

	/** A row of 17 numbers, the last of them the stamp, and 7 texts. */
	private static String row(int kind, long stamp) {
		List<String> values = new ArrayList<>(List.of(Integer.toString(kind)));
		values.addAll(Collections.nCopies(16, "1"));
		values.add(Long.toString(stamp));
		values.addAll(Collections.nCopies(6, "'text'"));
		values.add((kind == 2) ? "''" : "'text'");
		return "(" + String.join(", ", values) + ")";
	}

}
