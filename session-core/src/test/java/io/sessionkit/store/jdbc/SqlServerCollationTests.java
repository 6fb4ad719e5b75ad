package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.SessionKey;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * SQL Server refuses a union as a whole if texts of two collations meet in a column of
 * it, and the collation of a database is hardly ever that of the keys. H2 has no such
 * rule, and the grammar knows no collations.
 */
class SqlServerCollationTests {

	private static final SessionKey KEY = SessionKey.of("owner", "t1");

	private static final Pattern TABLE = Pattern.compile("create table SESSIONKIT_(\\w+)");

	private static final Pattern TEXT = Pattern.compile("^\t(\\w+) n?varchar\\([^)]*\\)(?: collate (\\w+))?");

	private static final Pattern COLUMN = Pattern.compile("\\b([a-z])\\.(\\w+)");

	private static final Map<String, String> ALIASES = Map.of("s", "SESSION", "t", "TURN", "i", "ITEM", "r", "RECORD");

	private final Map<String, String> collations = new HashMap<>();

	@Test
	void textsThatMeetInAColumnOfAUnionHaveOneCollation() throws IOException {
		readScript();
		assertThat(this.collations).containsEntry("RECORD.kind", "Latin1_General_BIN2")
			.containsEntry("TURN.status", "of the database");
		Set<String> unions = unions();
		assertThat(unions).hasSizeGreaterThanOrEqualTo(4);
		for (String union : unions) {
			assertThat(columns(union)).as(union).allSatisfy((met) -> assertThat(met).hasSizeLessThan(2));
		}
	}

	private void readScript() throws IOException {
		String table = "";
		for (String line : new ClassPathResource("io/sessionkit/store/jdbc/schema-sqlserver.sql")
			.getContentAsString(StandardCharsets.UTF_8)
			.split("\n")) {
			Matcher begun = TABLE.matcher(line);
			table = begun.find() ? begun.group(1) : table;
			Matcher text = TEXT.matcher(line);
			if (text.find()) {
				this.collations.put(table + "." + text.group(1),
						(text.group(2) != null) ? text.group(2) : "of the database");
			}
		}
	}

	/** The unions among the statements of all ways to read a session. */
	private static Set<String> unions() {
		Set<String> prepared = new LinkedHashSet<>();
		SessionStore store = JdbcTransactionContract.storeOn(TestDatabase.h2AsSqlServer(prepared::add).direct());
		for (int i = 0; i < 3; i++) {
			store.add(KEY, JdbcTransactionContract.messages("text"));
		}
		store.put(KEY, RecordWrite.create("note", "1", "text"));
		store.find(KEY);
		store.open(KEY, Window.turns(2));
		store.items(KEY, Tail.ALL);
		store.items(KEY, 1);
		assertThat(store.turn(KEY, 1, Set.of("note", "other")).orElseThrow().records()).hasSize(1);
		prepared.removeIf((sql) -> !sql.contains("union all"));
		return prepared;
	}

	/** Returns the collations of the texts that meet in each column. */
	private List<Set<String>> columns(String union) {
		List<Set<String>> columns = new ArrayList<>();
		List<String> selects = split(union, "union all");
		assertThat(selects).as("the selects of %s", union).hasSizeGreaterThan(1);
		for (String select : selects) {
			List<String> values = split(split(select, "from ").get(0), ",");
			for (int i = 0; i < values.size(); i++) {
				if (columns.size() == i) {
					columns.add(new TreeSet<>());
				}
				columns.get(i).addAll(collations(values.get(i)));
			}
		}
		return columns;
	}

	/** What a case compares is not what it returns. */
	private Set<String> collations(String value) {
		Set<String> found = new TreeSet<>();
		Matcher column = COLUMN.matcher(value.replaceAll("(?s)\\bwhen\\b.*?\\bthen\\b", "then"));
		while (column.find()) {
			String collation = this.collations.get(ALIASES.get(column.group(1)) + "." + column.group(2));
			if (collation != null) {
				found.add(collation);
			}
		}
		return found;
	}

	/** Splits a text where a word is that stands in no parentheses. */
	private static List<String> split(String text, String word) {
		List<String> parts = new ArrayList<>();
		int depth = 0;
		int begin = 0;
		for (int i = 0; i < text.length(); i++) {
			depth += (text.charAt(i) == '(') ? 1 : (text.charAt(i) == ')') ? -1 : 0;
			if (depth == 0 && text.startsWith(word, i)) {
				parts.add(text.substring(begin, i));
				begin = i + word.length();
			}
		}
		parts.add(text.substring(begin));
		return parts;
	}

}
