package io.sessionkit.autoconfigure.store;

import java.lang.reflect.Field;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.internal.sql.SqlErrors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

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
