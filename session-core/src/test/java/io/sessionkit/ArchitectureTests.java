package io.sessionkit;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import com.fasterxml.jackson.annotation.JsonValue;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.Message;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noCodeUnits;
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

	private static final String ROOT = "io.sessionkit";

	/** The packages that each package may use, from the bottom to the top. */
	private static final Map<String, Set<String>> ARROWS = arrows();

	private static Map<String, Set<String>> arrows() {
		Map<String, Set<String>> arrows = new LinkedHashMap<>();
		arrows.put("internal", Set.of());
		arrows.put("words", Set.of("internal"));
		arrows.put("internal.argument", Set.of("internal"));
		arrows.put("internal.binding", Set.of("words"));
		arrows.put("internal.message", Set.of("words"));
		arrows.put("approval", Set.of("words", "internal.argument"));
		arrows.put("compensation", Set.of("words", "internal", "approval"));
		arrows.put("context", Set.of("words", "internal"));
		arrows.put("observation", Set.of("words", "internal", "context"));
		arrows.put("hook", Set.of("words", "internal", "internal.binding"));
		arrows.put("guard", Set.of("internal", "hook"));
		arrows.put("codec", Set.of("words", "internal", "internal.message"));
		arrows.put("internal.tool", Set.of("words", "internal", "internal.argument", "approval"));
		arrows.put("internal.ruling", Set.of("words", "internal", "internal.argument", "internal.tool", "approval"));
		arrows.put("store", Set.of("words", "internal", "codec", "internal.message"));
		arrows.put("internal.door", Set.of("words", "store"));
		arrows.put("access", Set.of("words", "internal", "internal.binding", "internal.door", "store"));
		arrows.put("internal.run",
				Set.of("words", "internal", "internal.argument", "internal.binding", "internal.tool", "approval"));
		arrows.put("internal.tree", Set.of("words", "internal", "codec", "store"));
		arrows.put("internal.row", Set.of("words", "internal", "codec", "internal.message", "store"));
		arrows.put("store.memory", Set.of("words", "internal", "codec", "internal.message", "internal.row", "store"));
		arrows.put("internal.sql", Set.of("words", "internal", "internal.row", "store"));
		arrows.put("store.jdbc", Set.of("words", "internal", "codec", "internal.row", "internal.sql", "store"));
		arrows.put("store.redis", Set.of("words", "internal", "codec", "internal.row", "store"));
		arrows.put("internal.view",
				Set.of("words", "internal", "codec", "internal.message", "context", "hook", "store"));
		arrows.put("internal.snapshot", Set.of("words", "internal", "codec", "internal.message", "internal.tree",
				"internal.view", "context", "store"));
		arrows.put("internal.summary", Set.of("words", "internal", "internal.message", "internal.binding",
				"internal.view", "context", "observation", "hook", "store"));
		arrows.put("internal.round", Set.of("words", "internal", "internal.message", "internal.binding", "context",
				"observation", "hook", "store"));
		arrows.put("internal.attribute", Set.of("words", "internal", "codec", "internal.message"));
		arrows.put("internal.line", Set.of("words", "internal", "codec", "internal.attribute", "observation", "store"));
		arrows.put("internal.stream", Set.of("words", "internal", "codec", "store"));
		arrows.put("internal.lease",
				Set.of("words", "internal", "codec", "internal.attribute", "observation", "store"));
		arrows.put("internal.retention",
				Set.of("words", "codec", "internal.view", "internal.snapshot", "internal.tree", "context", "store"));
		arrows.put("internal.call", Set.of("words", "internal"));
		arrows.put("internal.opening",
				Set.of("words", "internal", "internal.binding", "codec", "internal.message", "internal.line",
						"internal.view", "internal.snapshot", "internal.summary", "internal.round", "internal.tree",
						"internal.attribute", "internal.lease", "context", "observation", "hook", "store"));
		arrows.put("internal.commit",
				Set.of("words", "internal", "codec", "internal.message", "internal.line", "internal.view",
						"internal.snapshot", "internal.round", "internal.attribute", "internal.lease",
						"internal.retention", "internal.opening", "observation", "hook", "store"));
		arrows.put("internal.turn",
				Set.of("words", "internal", "internal.binding", "codec", "internal.message", "internal.line",
						"internal.view", "internal.snapshot", "internal.round", "internal.tree", "internal.attribute",
						"internal.lease", "internal.retention", "internal.opening", "internal.commit", "context",
						"observation", "hook", "store"));
		arrows.put("internal.ledger",
				Set.of("words", "internal", "internal.argument", "codec", "internal.tool", "internal.line",
						"internal.attribute", "internal.lease", "internal.opening", "internal.commit", "internal.turn",
						"access", "approval", "store"));
		arrows.put("internal.approval",
				Set.of("words", "internal", "internal.argument", "internal.binding", "internal.door", "codec",
						"internal.tool", "internal.ruling", "internal.run", "internal.line", "internal.round",
						"internal.attribute", "internal.lease", "internal.opening", "internal.commit", "internal.turn",
						"internal.ledger", "approval", "observation", "hook", "store"));
		arrows.put("internal.compensation",
				Set.of("words", "internal", "internal.argument", "codec", "internal.tool", "internal.ruling",
						"internal.run", "internal.tree", "internal.lease", "internal.ledger", "approval",
						"compensation", "store"));
		arrows.put("conversation",
				Set.of("words", "internal", "internal.argument", "internal.binding", "internal.door", "codec",
						"internal.message", "internal.view", "internal.snapshot", "internal.summary",
						"internal.retention", "internal.line", "internal.stream", "internal.tree", "internal.opening",
						"internal.turn", "internal.attribute", "internal.lease", "internal.ruling", "internal.run",
						"internal.ledger", "internal.approval", "internal.compensation", "access", "approval",
						"compensation", "context", "observation", "hook", "store"));
		arrows.put("advisor", Set.of("words", "internal", "internal.binding", "internal.door", "internal.message",
				"access", "internal.call", "internal.line", "internal.round", "internal.opening", "internal.turn",
				"internal.run", "internal.approval", "approval", "conversation", "context", "observation", "hook"));
		arrows.put("stream",
				Set.of("words", "internal", "internal.binding", "internal.door", "internal.message", "access",
						"internal.call", "internal.round", "internal.stream", "internal.ledger", "internal.approval",
						"approval", "conversation", "hook", "advisor"));
		arrows.put("chatmemory", Set.of("words", "internal", "internal.binding", "access", "codec", "internal.message",
				"internal.tree", "internal.view", "store"));
		arrows.put("migration", Set.of("words", "codec", "internal.message", "internal.view", "store"));
		return arrows;
	}

	@ArchTest
	static void packagesPointOneWay(JavaClasses all) {
		LayeredArchitecture layers = layeredArchitecture().consideringOnlyDependenciesInLayers();
		for (String layer : ARROWS.keySet()) {
			layers = layers.layer(layer).definedBy(packageOf(layer));
		}
		for (Map.Entry<String, Set<String>> arrow : ARROWS.entrySet()) {
			String[] below = arrow.getValue().toArray(String[]::new);
			layers = (below.length == 0) ? layers.whereLayer(arrow.getKey()).mayNotAccessAnyLayer()
					: layers.whereLayer(arrow.getKey()).mayOnlyAccessLayers(below);
		}
		layers.check(all);
	}

	@ArchTest
	static void everyPackageHasItsPlace(JavaClasses all) {
		assertThat(all.stream().map(JavaClass::getPackageName).distinct())
			.containsExactlyInAnyOrderElementsOf(ARROWS.keySet().stream().map(ArchitectureTests::packageOf).toList());
	}

	/** Upwards nothing is used: an arrow never names what comes later in the list. */
	@Test
	void arrowsPointDown() {
		List<String> seen = new ArrayList<>();
		ARROWS.forEach((layer, below) -> {
			assertThat(seen).as(layer).containsAll(below);
			seen.add(layer);
		});
	}

	private static String packageOf(String layer) {
		return layer.equals("words") ? ROOT : ROOT + "." + layer;
	}

	/** Whoever reads the docs copies the snippets. */
	@Test
	void docsUseNothingInternal() {
		noClasses().should()
			.dependOnClassesThat(resideInAPackage("io.sessionkit.internal.."))
			.check(new ClassFileImporter().importPackages("io.sessionkit.docs"));
	}

	@ArchTest
	static final ArchRule packagesAreFreeOfTangles = slices().matching("io.sessionkit.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule onlyTheJdbcStoreKnowsSpringJdbc = noClasses().that()
		.resideOutsideOfPackages("io.sessionkit.store.jdbc", "io.sessionkit.internal.sql")
		.should()
		.dependOnClassesThat(resideInAPackage("org.springframework.jdbc.."));

	@ArchTest
	static final ArchRule onlyTheJdbcStoreAndTheImportKnowJdbc = noClasses().that()
		.resideOutsideOfPackages("io.sessionkit.store.jdbc", "io.sessionkit.internal.sql", "io.sessionkit.migration")
		.should()
		.dependOnClassesThat(resideInAnyPackage("java.sql..", "javax.sql.."));

	@ArchTest
	static final ArchRule onlyTheRedisStoreKnowsSpringDataRedis = noClasses().that()
		.resideOutsideOfPackage("io.sessionkit.store.redis")
		.should()
		.dependOnClassesThat(resideInAPackage("org.springframework.data.redis.."));

	@ArchTest
	static final ArchRule onlyCallsKnowTheChatClient = noClasses().that()
		.resideOutsideOfPackages("io.sessionkit.advisor", "io.sessionkit.internal.call", "io.sessionkit.stream")
		.should()
		.dependOnClassesThat(resideInAPackage("org.springframework.ai.chat.client.."));

	/** Parts of Spring AI that carry no promise of stability are not used. */
	@ArchTest
	static final ArchRule nothingInternalOfSpringIsUsed = noClasses().should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework..internal.."));

	/** Spring AI 2.1 deprecates it for removal. */
	@ArchTest
	static final ArchRule onlyTheWayFromChatMemoryKnowsChatMemory = noClasses().that()
		.resideOutsideOfPackages("io.sessionkit.chatmemory", "io.sessionkit.migration")
		.should()
		.dependOnClassesThat(resideInAnyPackage("org.springframework.ai.chat.memory.."));

	/** Only code that makes a message of its own, and copies none, may build one. */
	@ArchTest
	static final ArchRule messagesAreCopiedInOnePlace = noClasses().that()
		.resideInAnyPackage("io.sessionkit.store..", "io.sessionkit.conversation..", "io.sessionkit.internal..")
		.and()
		.doNotHaveSimpleName("MessageParts")
		.and()
		.doNotHaveSimpleName("Summaries")
		.and()
		.doNotHaveSimpleName("Transcript")
		.and()
		.doNotHaveSimpleName("GatedTurn")
		.should()
		.callMethodWhere(DescribedPredicate.describe("a message is built or copied",
				(JavaMethodCall call) -> Set.of("builder", "mutate", "copy").contains(call.getName())
						&& call.getTargetOwner().isAssignableTo(Message.class)))
		.because("MessageContent knows what a message consists of");

	@ArchTest
	static final ArchRule onlyCodecAndArgumentsKnowJackson = noClasses().that()
		.resideOutsideOfPackages("io.sessionkit.codec", "io.sessionkit.internal.argument")
		.should()
		.dependOnClassesThat(resideInAnyPackage("tools.jackson..", "com.fasterxml..", "com.networknt..")
			.and(not(type(JsonValue.class))))
		.because("elsewhere an enum may only say by which name it is written");

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
	static final ArchRule randomNumbersComeFromTheSystem = noClasses().should()
		.dependOnClassesThat(belongToAnyOf(ThreadLocalRandom.class, SplittableRandom.class, Random.class))
		.orShould()
		.callMethod(Math.class, "random")
		.orShould()
		.callMethod(UUID.class, "randomUUID")
		.because("two processes that were restored from one image would draw the same ones; use RandomNumbers");

	@ArchTest
	static final ArchRule threadsInheritNothing = noClasses().that()
		.doNotHaveSimpleName("OwnThreads")
		.should()
		.callConstructorWhere(DescribedPredicate.describe("a thread is made",
				(JavaConstructorCall call) -> call.getTargetOwner().isAssignableTo(Thread.class)))
		.because("it would have the thread-locals of a user, or a class loader that knows no application");

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

	/** The table of names in {@code docs/upgrades.md}. */
	@ArchTest
	static final ArchRule turnIsNoId = noMethods().that()
		.haveName("turn")
		.and()
		.areDeclaredInClassesThat()
		.resideOutsideOfPackage("io.sessionkit.internal..")
		.should()
		.haveRawReturnType(String.class)
		.because("the id of a turn is called turnId");

	@ArchTest
	static final ArchRule idsOfTurnsAndCallsAreTexts = methods().that()
		.haveNameMatching("turnId|callId")
		.should()
		.haveRawReturnType(String.class);

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

	/** What only other packages of SessionKit need is read by {@code InnerParts}. */
	@ArchTest
	static final ArchRule applicationsAreOfferedNothingInternal = noCodeUnits().that()
		.arePublic()
		.and()
		.areDeclaredInClassesThat(forApplications())
		.should()
		.haveRawReturnType(resideInAPackage("io.sessionkit.internal.."))
		.orShould()
		.haveRawParameterTypes(DescribedPredicate.describe("with an internal type",
				(types) -> types.stream().anyMatch(resideInAPackage("io.sessionkit.internal.."))));

	private static DescribedPredicate<JavaClass> forApplications() {
		return DescribedPredicate.describe("are for applications",
				(type) -> type.getModifiers().contains(JavaModifier.PUBLIC)
						&& !resideInAPackage("io.sessionkit.internal..").test(type)
						&& type.getEnclosingClass().map(forApplications()::test).orElse(true));
	}

	@ArchTest
	static final ArchRule noMethodDeclaresThrowable = methods().should().notDeclareThrowableOfType(Throwable.class);

	@ArchTest
	static final ArchRule nothingIsPrinted = NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;

}
