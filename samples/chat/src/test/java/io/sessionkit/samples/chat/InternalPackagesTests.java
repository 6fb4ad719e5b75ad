package io.sessionkit.samples.chat;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * Tests that code that people copy uses nothing internal.
 */
@AnalyzeClasses(packages = "io.sessionkit.samples.chat", importOptions = ImportOption.DoNotIncludeTests.class)
class InternalPackagesTests {

	@ArchTest
	static final ArchRule nothingInternalIsUsed = noClasses().should()
		.dependOnClassesThat(resideInAPackage("io.sessionkit.internal.."));

}
