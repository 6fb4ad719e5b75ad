package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatRuntimeException;

/**
 * The scripts of the databases that no server is there for, and whether their grammars
 * tell one from the other.
 */
class GrammarTests {

	@ParameterizedTest
	@CsvSource({ "MYSQL, mysql, ''", "ORACLE, oracle, if not exists",
			"SQLSERVER, sqlserver, if (not )?(object_id|exists).*?(?=create)" })
	void scriptIsOfTheLanguageButForItsConditions(Grammar grammar, String script, String condition) throws IOException {
		String text = new ClassPathResource("io/sessionkit/store/jdbc/schema-" + script + ".sql")
			.getContentAsString(StandardCharsets.UTF_8)
			.replaceAll("(?m)^--.*$", "");
		String[] statements = text.replaceAll("(?s)" + condition, "").split(";");
		for (String statement : Arrays.asList(statements).subList(0, statements.length - 1)) {
			assertThatCode(() -> grammar.check(statement)).as(statement).doesNotThrowAnyException();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "MYSQL; select 1 from x offset 0 rows fetch next 5 rows only",
			"ORACLE; select 1 from x limit 5", "SQLSERVER; select 1 from x for update",
			"ORACLE; insert into x (y) values (1) on duplicate key update y = 1",
			"MYSQL; insert into x (y) values (1) on conflict do nothing", "SQLSERVER; select 1 from x limit 5" })
	void grammarRefusesWhatAnotherDatabaseSays(Grammar grammar, String sql) {
		assertThatRuntimeException().isThrownBy(() -> grammar.check(sql));
	}

	@Test
	void unknownWordsAreRefused() {
		for (Grammar grammar : Grammar.values()) {
			assertThatRuntimeException().isThrownBy(() -> grammar.check("selectt 1 fromm x"));
		}
	}

}
