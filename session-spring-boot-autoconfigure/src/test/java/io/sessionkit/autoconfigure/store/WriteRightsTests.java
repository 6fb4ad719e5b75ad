package io.sessionkit.autoconfigure.store;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.sessionkit.internal.sql.SqlErrors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the check at start takes for a database that only reads.
 */
class WriteRightsTests {

	/** The check may not use what is internal to the store. */
	@Test
	void databasesThatTakeNoWritesAreThoseThatTheStoreNames() throws ReflectiveOperationException {
		assertThat(codes(SqlErrors.class)).isNotEmpty().isEqualTo(codes(WriteRights.class));
	}

	/** It says the same of a table that is missing, but this one was read. */
	@Test
	void rightsThatHsqldbDoesNotGrantAreMissing() {
		String url = "jdbc:hsqldb:mem:" + UUID.randomUUID();
		JdbcTemplate owner = new JdbcTemplate(new DriverManagerDataSource(url, "SA", ""));
		owner.execute("create table NOTES (id int primary key)");
		owner.execute("create user READER password 'secret'");
		owner.execute("grant select, insert on NOTES to READER");
		DataSource limited = new DriverManagerDataSource(url, "READER", "secret");
		assertThat(new WriteRights(limited, List.of("NOTES")).missing()).containsExactly("update NOTES",
				"delete from NOTES");
	}

	private static Set<String> codes(Class<?> type) throws ReflectiveOperationException {
		Field field = type.getDeclaredField("READ_ONLY");
		field.setAccessible(true);
		return assertThat(field.get(null)).asInstanceOf(InstanceOfAssertFactories.set(String.class))
			.actual()
			.stream()
			.map((code) -> code.replace("unknown/", "/"))
			.collect(Collectors.toSet());
	}

}
