package io.sessionkit.autoconfigure;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * The auto-configuration stands on what applications may use too.
 */
@AnalyzeClasses(packages = "io.sessionkit.autoconfigure", importOptions = ImportOption.DoNotIncludeTests.class)
class InternalPackagesTests {

	@ArchTest
	static final ArchRule nothingInternalIsUsed = noClasses().should()
		.dependOnClassesThat(resideInAPackage("io.sessionkit.internal.."));

	@ArchTest
	static final ArchRule packagesAreFreeOfTangles = slices().matching("io.sessionkit.(**)").should().beFreeOfCycles();

}
