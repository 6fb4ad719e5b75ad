package io.sessionkit.autoconfigure.store;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;

class StoreScriptHintsTests {

	@ParameterizedTest
	@ValueSource(strings = { "io/sessionkit/store/jdbc/", "io/sessionkit/store/redis/" })
	void nativeImageHasAllScriptsOfTheStores(String folder) throws IOException {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(StoreScriptHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		assertThat(scripts(folder)).hasSizeGreaterThan(1)
			.allSatisfy((script) -> assertThat(RuntimeHintsPredicates.resource().forResource(folder + script))
				.as(folder + script)
				.accepts(hints));
	}

	private static List<String> scripts(String folder) throws IOException {
		return Stream.of(new PathMatchingResourcePatternResolver().getResources("classpath*:" + folder + "*.*"))
			.map(Resource::getFilename)
			.filter((name) -> name.endsWith(".sql") || name.endsWith(".lua"))
			.toList();
	}

}
