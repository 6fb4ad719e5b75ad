package io.sessionkit.internal.call;

import java.lang.reflect.Field;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SessionParametersTests {

	@Test
	void noTwoParametersHaveOneName() {
		assertThat(Arrays.stream(SessionParameters.class.getFields())
			.filter(field -> field.getType() == String.class)
			.map(SessionParametersTests::name)).hasSizeGreaterThan(20)
			.allMatch(name -> name.startsWith("sessionkit."))
			.doesNotHaveDuplicates();
	}

	private static String name(Field field) {
		try {
			return (String) field.get(null);
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
	}

}
