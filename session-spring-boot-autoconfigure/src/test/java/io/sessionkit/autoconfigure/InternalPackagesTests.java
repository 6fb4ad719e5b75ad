package io.sessionkit.autoconfigure;

import java.util.List;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.util.ClassUtils;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The auto-configuration stands on what applications may use too, except for what it
 * checks of their beans at start.
 */
@AnalyzeClasses(packages = "io.sessionkit.autoconfigure", importOptions = ImportOption.DoNotIncludeTests.class)
class InternalPackagesTests {

	@ArchTest
	static final ArchRule nothingInternalIsUsed = noClasses().should()
		.dependOnClassesThat(
				resideInAPackage("io.sessionkit.internal..").and(not(resideInAPackage("io.sessionkit.internal.door"))));

	@ArchTest
	static final ArchRule packagesAreFreeOfTangles = slices().matching("io.sessionkit.(**)").should().beFreeOfCycles();

	/** Spring Boot leaves a name out that leads nowhere, and the order with it. */
	@Test
	void namesInTheOrderOfConfigurationsAreThoseOfClasses() {
		List<String> candidates = ImportCandidates.load(AutoConfiguration.class, null).getCandidates();
		List<String> ours = candidates.stream().filter((name) -> name.startsWith("io.sessionkit.")).toList();
		assertThat(ours).isNotEmpty();
		for (String name : ours) {
			AutoConfiguration order = ClassUtils.resolveClassName(name, null).getAnnotation(AutoConfiguration.class);
			assertThat(candidates).as(name)
				.containsAll(List.of(order.beforeName()))
				.containsAll(List.of(order.afterName()));
		}
	}

}
