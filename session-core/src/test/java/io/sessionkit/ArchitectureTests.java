package io.sessionkit;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Date;
import java.util.Optional;
import java.util.Set;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import org.springframework.ai.chat.messages.Message;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The arrows and bans of {@code docs/architecture.md}.
 */
@AnalyzeClasses(packages = "io.sessionkit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	@ArchTest
	static final ArchRule packagesPointOneWay = layeredArchitecture().consideringOnlyDependenciesInLayers()
		.layer("words")
		.definedBy("io.sessionkit")
		.layer("codec")
		.definedBy("io.sessionkit.codec")
		.layer("store")
		.definedBy("io.sessionkit.store")
		.layer("store.row")
		.definedBy("io.sessionkit.store.row")
		.layer("store.jdbc")
		.definedBy("io.sessionkit.store.jdbc")
		.layer("store.redis")
		.definedBy("io.sessionkit.store.redis")
		.layer("hook")
		.definedBy("io.sessionkit.hook")
		.layer("conversation")
		.definedBy("io.sessionkit.conversation")
		.layer("approval")
		.definedBy("io.sessionkit.approval")
		.layer("advisor")
		.definedBy("io.sessionkit.advisor")
		.whereLayer("words")
		.mayNotAccessAnyLayer()
		.whereLayer("codec")
		.mayOnlyAccessLayers("words")
		.whereLayer("store")
		.mayOnlyAccessLayers("words", "codec")
		.whereLayer("store.row")
		.mayOnlyAccessLayers("words", "codec", "store")
		.whereLayer("store.jdbc")
		.mayOnlyAccessLayers("words", "codec", "store", "store.row")
		.whereLayer("store.redis")
		.mayOnlyAccessLayers("words", "codec", "store", "store.row")
		.whereLayer("hook")
		.mayOnlyAccessLayers("words")
		.whereLayer("conversation")
		.mayOnlyAccessLayers("words", "codec", "store", "hook")
		.whereLayer("approval")
		.mayOnlyAccessLayers("words", "codec", "store", "hook", "conversation")
		.whereLayer("advisor")
		.mayOnlyAccessLayers("words", "approval", "conversation", "hook");

	@ArchTest
	static final ArchRule packagesAreFreeOfTangles = slices().matching("io.sessionkit.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule onlyTheJdbcStoreKnowsSpringJdbc = noClasses().that()
		.resideOutsideOfPackage("io.sessionkit.store.jdbc")
		.should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework.jdbc..", "java.sql..", "javax.sql.."));

	@ArchTest
	static final ArchRule onlyTheRedisStoreKnowsSpringDataRedis = noClasses().that()
		.resideOutsideOfPackage("io.sessionkit.store.redis")
		.should()
		.dependOnClassesThat(resideInAPackage("org.springframework.data.redis.."));

	@ArchTest
	static final ArchRule onlyTheAdvisorKnowsTheChatClient = noClasses().that()
		.resideOutsideOfPackage("io.sessionkit.advisor")
		.should()
		.dependOnClassesThat(resideInAPackage("org.springframework.ai.chat.client.."));

	/** What Spring AI promises nothing about, and what 2.1 deprecates for removal. */
	@ArchTest
	static final ArchRule nothingOfSpringAiIsUsedThatGoesAway = noClasses().should()
		.dependOnClassesThat(
				resideInAnyPackage("org.springframework..internal..", "org.springframework.ai.chat.memory.."));

	/** What makes a message of its own, and copies none, may build it. */
	@ArchTest
	static final ArchRule messagesAreCopiedInOnePlace = noClasses().that()
		.resideInAnyPackage("io.sessionkit.store..", "io.sessionkit.conversation..")
		.and()
		.doNotHaveSimpleName("Checkpoints")
		.and()
		.doNotHaveSimpleName("Transcript")
		.should()
		.callMethodWhere(DescribedPredicate.describe("a message is built or copied",
				(JavaMethodCall call) -> Set.of("builder", "mutate", "copy").contains(call.getName())
						&& call.getTargetOwner().isAssignableTo(Message.class)))
		.because("MessageContent knows what a message consists of");

	@ArchTest
	static final ArchRule onlyTheCodecKnowsJackson = noClasses().that()
		.resideOutsideOfPackage("io.sessionkit.codec")
		.should()
		.dependOnClassesThat(resideInAnyPackage("tools.jackson..", "com.fasterxml..", "com.networknt.."));

	@ArchTest
	static final ArchRule coreKnowsNothingOfSpringBoot = noClasses().should()
		.dependOnClassesThat(resideInAPackage("org.springframework.boot.."));

	@ArchTest
	static final ArchRule timeComesFromAClock = noClasses().should()
		.callMethod(Instant.class, "now")
		.orShould()
		.callMethod(LocalDateTime.class, "now")
		.orShould()
		.callMethod(System.class, "currentTimeMillis")
		.orShould()
		.callConstructor(Date.class)
		.because("a store is given a " + Clock.class.getName());

	@ArchTest
	static final ArchRule caseDependsOnALocale = noClasses().should()
		.callMethod(String.class, "toLowerCase")
		.orShould()
		.callMethod(String.class, "toUpperCase")
		.because("the result depends on the machine; pass Locale.ROOT");

	@ArchTest
	static final ArchRule namesSayWhatAThingIs = noClasses().should()
		.haveNameMatching(".*(Utils?|Helper|Impl|Support)")
		.orShould()
		.haveSimpleNameStartingWith("Base");

	@ArchTest
	static final ArchRule optionalIsNeverAParameter = noMethods().should()
		.haveRawParameterTypes(DescribedPredicate.describe("with an Optional",
				(types) -> types.stream().anyMatch((type) -> type.isEquivalentTo(Optional.class))));

	@ArchTest
	static void everyPackageIsNullMarked(JavaClasses all) {
		assertThat(all.stream().map((type) -> type.getPackage()).distinct())
			.allSatisfy((each) -> assertThat(each.tryGetPackageInfo()).as(each.getName())
				.hasValueSatisfying((info) -> assertThat(info.isAnnotatedWith(NullMarked.class)).isTrue()));
	}

	@ArchTest
	static final ArchRule publicClassesAreFinalRecordsOrInterfaces = classes().that()
		.arePublic()
		.and()
		.areNotInterfaces()
		.and()
		.areNotEnums()
		.and(DescribedPredicate.not(DescribedPredicate.describe("the root of the exceptions",
				(JavaClass type) -> type.isEquivalentTo(SessionException.class))))
		.should()
		.haveModifier(JavaModifier.FINAL);

	@ArchTest
	static final ArchRule noMethodDeclaresThrowable = methods().should().notDeclareThrowableOfType(Throwable.class);

	@ArchTest
	static final ArchRule nothingIsPrinted = NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;

}
