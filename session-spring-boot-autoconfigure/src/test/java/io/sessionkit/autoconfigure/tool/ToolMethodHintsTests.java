package io.sessionkit.autoconfigure.tool;

import java.lang.reflect.Field;

import org.junit.jupiter.api.Test;

import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;

class ToolMethodHintsTests {

	@Test
	void nativeImageCanReadTheMethodOfATool() throws NoSuchFieldException {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(ToolMethodHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		Field input = FunctionToolCallback.class.getDeclaredField("toolInputType");
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(input)).accepts(hints);
		Field method = MethodToolCallback.class.getDeclaredField("toolMethod");
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(method)).accepts(hints);
		Field bean = MethodToolCallback.class.getDeclaredField("toolObject");
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(bean)).accepts(hints);
	}

}
