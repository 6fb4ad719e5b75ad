package io.sessionkit.autoconfigure.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.autoconfigure.ApprovalProperties;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.ConfigurationTable;
import io.sessionkit.autoconfigure.ContinuationProperties;
import io.sessionkit.autoconfigure.NoticeProperties;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.check.KnownProperties.Property;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.tool.ToolGuardAutoConfiguration;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.PropertySourceInfo;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class ConfigurationCheckTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class,
				MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
				SessionAdvisorAutoConfiguration.class, ToolGuardAutoConfiguration.class));

	// names

	@ParameterizedTest
	@CsvSource({ "sessionkit.approvals.tools, sessionkit.approval.tools",
			"sessionkit.approval.tool, sessionkit.approval.tools",
			"sessionkit.approval_tools, sessionkit.approval.tools",
			"sessionkit.approval-tools, sessionkit.approval.tools",
			"sessionkit.approval.tools.cancel_order, sessionkit.approval.tools",
			"sessionkit.approval.tools.0, sessionkit.approval.tools",
			"sessionkit.approval.tools[0].name, sessionkit.approval.tools",
			"sessionkit.aproval.tools[0], sessionkit.approval.tools", "sessionkit.stroe.type, sessionkit.store.type",
			"sessionkit.timetolife, sessionkit.time-to-live", "sessionkit.max-turns, sessionkit.trim.max-turns",
			"sessionkit.enable, sessionkit.enabled", "sessionkit.enabled.always, sessionkit.enabled",
			"session.kit.approval.tools, sessionkit.approval.tools",
			"sesionkit.approval.tools, sessionkit.approval.tools",
			"sessionkit_approval_tools, sessionkit.approval.tools",
			"SESSIONKIT_APPROVAL_TOOLS, sessionkit.approval.tools",
			"sessionkit.approval.notifications.enabled, sessionkit.approval.notices.enabled",
			"sessionkit.approval.notifications.interval, sessionkit.approval.notices.interval",
			"sessionkit.approval.continuation.enabled, sessionkit.approval.continuations.enabled",
			"sessionkit.prune.tool-results-keep, sessionkit.prune.keep-tool-results",
			"sessionkit.snapshot.system, sessionkit.snapshot.keep-system-text" })
	void unknownNameIsRefusedWithTheNearestRightOne(String written, String right) {
		FailureAnalysis analysis = analysisOf(written + "=s3cret");
		assertThat(analysis.getDescription()).contains("'" + written + "'")
			.contains("property source \"test\"")
			.doesNotContain("s3cret");
		assertThat(analysis.getAction()).contains("'" + written + "': Write '" + right + "'.")
			.contains("docs/configuration.md")
			.doesNotContain("s3cret");
	}

	@Test
	void decidersByToolAreRefusedWithTheListToWrite() {
		assertThat(analysisOf("sessionkit.approval.deciders.cancel_order=ROLE_LEAD").getAction())
			.contains("Write 'sessionkit.approval.deciders' as a list of tool=AUTHORITY");
	}

	@Test
	void unknownNameThatIsLikeNoOtherIsRefusedToo() {
		FailureAnalysis analysis = analysisOf("sessionkit.quux=1");
		assertThat(analysis.getDescription()).contains("'sessionkit.quux'");
		assertThat(analysis.getAction()).contains("No property has a similar name")
			.contains("'sessionkit.ignored-names'");
	}

	@Test
	void allUnknownNamesAreReportedAtOnce() {
		assertThat(analysisOf("sessionkit.approvals.tools=a", "sessionkit.trim.max-turn=3").getAction())
			.contains("'sessionkit.approval.tools'")
			.contains("'sessionkit.trim.max-turns'");
	}

	@Test
	void unknownNameNextToASwitchThatIsOffIsRefused() {
		assertThat(analysisOf("sessionkit.enabled=false", "sessionkit.approvals.tools=a").getAction())
			.contains("'sessionkit.approval.tools'");
	}

	@Test
	void unknownNameIsReportedBeforeWhatItWasToDecide() {
		assertThat(StartFailure
			.analysis(this.runner.withBean("one", DataSource.class, NoDataSource::new)
				.withBean("two", DataSource.class, NoDataSource::new)
				.withPropertyValues("sessionkit.store.typ=memory"))
			.getAction()).contains("'sessionkit.store.type'");
	}

	@ParameterizedTest
	@CsvSource({ "sessionkit.store, 'sessionkit.store.type'", "sessionkit.approval, 'sessionkit.approval.tools'",
			"sessionkit, 'sessionkit.enabled'" })
	void valueWhereAGroupOfNamesIsIsRefusedWithTheNamesInIt(String group, String name) {
		FailureAnalysis analysis = analysisOf(group + "=jdbc");
		assertThat(analysis.getDescription()).contains("'" + group + "'");
		assertThat(analysis.getAction()).contains("Write one of").contains(name);
	}

	@Test
	void misspeltNameInYamlIsReportedWithItsLine() throws IOException {
		PropertySource<?> yaml = yaml("""
				sessionkit:
				  approval:
				    tool: [cancel_order, refund]
				""");
		FailureAnalysis analysis = StartFailure.analysis(with(yaml));
		assertThat(analysis.getDescription()).contains("'sessionkit.approval.tool[0]'")
			.contains("application.yml")
			.contains("3:12");
		assertThat(analysis.getAction()).contains("Write 'sessionkit.approval.tools'.");
	}

	@Test
	void listsAndEmptyGroupsOfYamlAreKnown() throws IOException {
		with(yaml("""
				sessionkit:
				  approval:
				    tools:
				      - cancel_order
				      - refund
				  trim:
				    pins.roles: [user, system]
				    maxTurns: 3
				  turn:
				    parameters: []
				  store:
				""")).run((context) -> {
			assertThat(context).hasNotFailed();
			SessionKitProperties properties = context.getBean(SessionKitProperties.class);
			assertThat(properties.approval().tools()).containsExactly("cancel_order", "refund");
			assertThat(properties.trim().maxTurns()).isEqualTo(3);
		});
	}

	@ParameterizedTest
	@MethodSource("pagesWithYaml")
	void yamlOfThePagesIsBound(Path page) throws IOException {
		for (String block : yamlBlocks(page)) {
			StandardEnvironment environment = new StandardEnvironment();
			environment.getPropertySources().addFirst(yaml(block));
			assertThatNoException().as(block).isThrownBy(() -> UnknownNames.refuse(environment));
			assertThat(Binder.get(environment).bind(SessionKitProperties.PREFIX, SessionKitProperties.class).isBound())
				.as(block)
				.isTrue();
		}
	}

	static List<Path> pagesWithYaml() throws IOException {
		List<Path> found = new ArrayList<>();
		try (Stream<Path> pages = Files.list(Path.of("..", "docs"))) {
			for (Path page : Stream.concat(Stream.of(Path.of("..", "README.md")), pages).sorted().toList()) {
				if (page.toString().endsWith(".md") && !yamlBlocks(page).isEmpty()) {
					found.add(page);
				}
			}
		}
		return found;
	}

	private static List<String> yamlBlocks(Path page) throws IOException {
		return Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(page))
			.results()
			.map((block) -> block.group(1))
			.filter((block) -> block.contains("sessionkit"))
			.toList();
	}

	@Test
	void everyPropertyIsKnownInEveryFormThatIsBound() {
		for (Property property : KnownProperties.ALL.all()) {
			String name = property.name();
			assertThatNoException().as(name).isThrownBy(() -> {
				Stream.of(name, name.toUpperCase(Locale.ROOT), name.replace('-', '_'), camel(name))
					.forEach((form) -> refuse(new MapPropertySource("test", Map.of(form, ""))));
				refuse(variables(upper(name.replace("-", "")), upper(name), upper(name).toLowerCase(Locale.ROOT)));
			});
		}
	}

	@Test
	void elementsOfListsAreKnownAsVariables() {
		refuse(variables("SESSIONKIT_APPROVAL_TOOLS_0", "SESSIONKIT_TURN_REPLAY_EXCLUDE_12"));
		with(variables(Map.of("SESSIONKIT_APPROVAL_TOOLS_0", "refund", "SESSIONKIT_AUTO_REGISTER", "false",
				"SESSIONKIT_STORE_MEMORY_MAXSESSIONS", "7")))
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean("sessionKitAdvisorCustomizer");
				SessionKitProperties properties = context.getBean(SessionKitProperties.class);
				assertThat(properties.approval().tools()).containsExactly("refund");
				assertThat(properties.store().memory().maxSessions()).isEqualTo(7);
			});
	}

	@ParameterizedTest
	@CsvSource({ "SESSIONKIT_APPROVALS_TOOLS, SESSIONKIT_APPROVAL_TOOLS",
			"SESSIONKIT_APPROVAL_TOOL_0, SESSIONKIT_APPROVAL_TOOLS",
			"sessionkit_approvals_tools, SESSIONKIT_APPROVAL_TOOLS", "SESSIONKIT_ENABLE, SESSIONKIT_ENABLED",
			"SESSIONKIT_APPROVALTOOLS, SESSIONKIT_APPROVAL_TOOLS",
			"SESSIONKIT_APPROVAL_NOTIFICATIONS_ENABLED, SESSIONKIT_APPROVAL_NOTICES_ENABLED",
			"SESSION_KIT_APPROVAL_TOOLS, sessionkit.approval.tools" })
	void misspeltVariableIsRefusedWithTheNearestRightOne(String written, String right) {
		FailureAnalysis analysis = StartFailure.analysis(with(variables(Map.of(written, "s3cret"))));
		assertThat(analysis.getDescription()).contains("'" + written + "'")
			.contains("property source \"test-systemEnvironment\"")
			.doesNotContain("s3cret");
		assertThat(analysis.getAction()).contains("Write '" + right + "'.");
	}

	@Test
	void variableThatIsLikeNoOtherInAGroupOfOursIsRefused() {
		assertThatExceptionOfType(ConfigurationRefusedException.class)
			.isThrownBy(() -> refuse(variables("SESSIONKIT_STORE_COLOUR")))
			.withMessageContaining("SESSIONKIT_STORE_COLOUR");
	}

	@ParameterizedTest
	@CsvSource({ "SESSIONKIT_STORE, 'sessionkit.store.type'", "SESSIONKIT_TITLES, 'sessionkit.titles.by'",
			"sessionkit_trim_pins, 'sessionkit.trim.pins.roles'" })
	void variableWhereAGroupOfNamesIsIsRefusedWithTheNamesInIt(String written, String name) {
		FailureAnalysis analysis = StartFailure.analysis(with(variables(Map.of(written, "s3cret"))));
		assertThat(analysis.getDescription()).contains("'" + written + "'").doesNotContain("s3cret");
		assertThat(analysis.getAction()).contains("It has no value of its own. Write one of").contains(name);
	}

	@Test
	void variableOfAGroupThatIsBlankIsNotRefused() {
		with(variables(Map.of("SESSIONKIT_STORE", ""))).run((context) -> assertThat(context).hasNotFailed());
	}

	/** Such as the folder of an installation. */
	@Test
	void variableThatIsThePrefixAloneIsOnlyLogged() {
		with(variables(Map.of("SESSIONKIT", "/opt/x"))).run((context) -> assertThat(context).hasNotFailed());
		assertThat(refuse(variables("SESSIONKIT"))).singleElement().asString().startsWith("SESSIONKIT (");
	}

	/** Common in images, and parts of our names only. */
	@ParameterizedTest
	@ValueSource(strings = { "SESSIONKIT_VERSION", "SESSIONKIT_USER", "SESSIONKIT_NAME", "SESSIONKIT_SIZE",
			"SESSIONKIT_TYPE", "SESSION_ID_ENABLED", "SESSION_KEY_ENABLED" })
	void everydayVariablesAreNotRefused(String name) {
		with(variables(Map.of(name, "1"))).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void variablesOfAServiceInKubernetesAreNotTakenForProperties() {
		assertThat(refuse(variables("SESSIONKIT_SERVICE_HOST", "SESSIONKIT_SERVICE_PORT",
				"SESSIONKIT_SERVICE_PORT_HTTP", "SESSIONKIT_PORT", "SESSIONKIT_PORT_80_TCP",
				"SESSIONKIT_PORT_80_TCP_PROTO", "SESSIONKIT_PORT_80_TCP_PORT", "SESSIONKIT_PORT_80_TCP_ADDR",
				"SESSIONKIT_STORE_SERVICE_HOST", "SESSIONKIT_STORE_PORT_6379_TCP_ADDR")))
			.noneMatch((name) -> name.startsWith("SESSIONKIT_"));
	}

	/** Its value would be for nothing, and nobody would know. */
	@Test
	void variableOfAGroupThatOnlyEndsAsThoseOfAServiceDoIsLogged() {
		assertThat(refuse(variables("SESSIONKIT_STORE_REDIS_PORT", "SESSIONKIT_STORE_SERVICE_HOST",
				"SESSIONKIT_STORE_SERVICE_PORT", "SESSIONKIT_STORE_PORT")))
			.singleElement()
			.asString()
			.startsWith("SESSIONKIT_STORE_REDIS_PORT (");
	}

	/** As {@code SpringApplication.setEnvironmentPrefix} has it. */
	@Test
	void variablesOfAnApplicationThatHasAPrefixForThemAreCheckedWithIt() {
		with(new Prefixed("shop", Map.of("SHOP_SESSIONKIT_APPROVAL_TOOLS", "refund", "SESSIONKIT_APPROVAL_TOOLS",
				"cancel", "SHOP_NAME", "x", "SESSIONKIT_QUUX", "x")))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(SessionKitProperties.class).approval().tools()).containsExactly("refund");
			});
		assertThat(refuse(
				new Prefixed("shop", Map.of("SESSIONKIT_APPROVAL_TOOLS", "cancel", "SHOP_SESSIONKIT_QUUX", "x"))))
			.satisfiesExactly((name) -> assertThat(name).startsWith("SESSIONKIT_APPROVAL_TOOLS ("),
					(name) -> assertThat(name).startsWith("SHOP_SESSIONKIT_QUUX ("));
		FailureAnalysis analysis = StartFailure
			.analysis(with(new Prefixed("shop", Map.of("SHOP_SESSIONKIT_APPROVALS_TOOLS", "s3cret"))));
		assertThat(analysis.getDescription()).contains("'SHOP_SESSIONKIT_APPROVALS_TOOLS'").doesNotContain("s3cret");
		assertThat(analysis.getAction()).contains("Write 'SHOP_SESSIONKIT_APPROVAL_TOOLS'.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "MYSHOP_", "MY_SHOP_" })
	void variablesWithAPrefixThatHasADashAreChecked(String prefix) {
		with(new Prefixed("my-shop", Map.of(prefix + "SESSIONKIT_APPROVAL_TOOLS", "refund"))).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(SessionKitProperties.class).approval().tools()).containsExactly("refund");
		});
		FailureAnalysis analysis = StartFailure
			.analysis(with(new Prefixed("my-shop", Map.of(prefix + "SESSIONKIT_APPROVALS_TOOLS", "s3cret"))));
		assertThat(analysis.getDescription()).contains("'" + prefix + "SESSIONKIT_APPROVALS_TOOLS'")
			.doesNotContain("s3cret");
		assertThat(analysis.getAction()).contains("Write '" + prefix + "SESSIONKIT_APPROVAL_TOOLS'.");
	}

	private static final class Prefixed extends SystemEnvironmentPropertySource implements PropertySourceInfo {

		private final String prefix;

		Prefixed(String prefix, Map<String, Object> variables) {
			super("test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables);
			this.prefix = prefix;
		}

		@Override
		public String getPrefix() {
			return this.prefix;
		}

	}

	/** As that of JNDI. */
	@Test
	void sourceThatCannotListItsNamesIsNotChecked() {
		with(new PropertySource<>("unlisted", "nothing") {

			@Override
			public @Nullable Object getProperty(String name) {
				return name.equals("sessionkit.approvals.tools") ? "cancel_order" : null;
			}

		}).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void nameThatIsToBeIgnoredIsNotRefused() {
		this.runner
			.withPropertyValues("sessionkit.ignored-names=sessionkit.theirs,sessionkit.other.name",
					"sessionkit.theirs=1", "sessionkit.other.name=2")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(analysisOf("sessionkit.ignored-names=sessionkit.theirs", "sessionkit.thiers=1").getDescription())
			.contains("'sessionkit.thiers'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.sessionkit.enabled", "sessions.enabled", "session.timeout", "kit.enabled",
			"app.lease", "sessionkits", "session.ui.enabled", "session.key.enabled", "session-id.lease",
			"server.servlet.session.timeout", "sessionkitty.lease.time" })
	void namesOfOthersAreNotOurs(String name) {
		this.runner.withPropertyValues(name + "=1").run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void knownNamesAreThoseOfTheMetadata() throws Exception {
		assertThat(KnownProperties.ALL.all()).extracting(Property::name)
			.containsExactlyInAnyOrderElementsOf(
					ConfigurationTable.read().rows().stream().map(ConfigurationTable.Row::name).toList());
	}

	// empty texts

	@ParameterizedTest
	@MethodSource("allNames")
	void emptyTextIsRefused(String name) {
		for (String written : List.of("", " ")) {
			FailureAnalysis analysis = StartFailure
				.analysis(with(new MapPropertySource("test", Map.of(name, written))));
			assertThat(analysis.getDescription()).startsWith("The property '" + name + "' is ''")
				.contains("an empty text")
				.contains("property source \"test\"");
			assertThat(analysis.getAction()).startsWith("Write ").contains("leave it out");
		}
	}

	static Stream<String> allNames() {
		return KnownProperties.ALL.all().stream().filter((property) -> !property.isMap()).map(Property::name);
	}

	/** As where a compose file hands on a variable that nobody has set. */
	@ParameterizedTest
	@CsvSource({ "SESSIONKIT_APPROVAL_TOOLS, [] in YAML", "SESSIONKIT_APPROVAL_DECIDERS, [] in YAML",
			"SESSIONKIT_TIME_TO_LIVE, Write a time such as 30s", "SESSIONKIT_LEASE, or leave it out for 30s",
			"SESSIONKIT_CONCURRENCY, 'Write optimistic, reject, serialize or steer'" })
	void emptyVariableDoesNotTakeThePlaceOfWhatTheNextSourceSays(String variable, String cure) {
		FailureAnalysis analysis = StartFailure.analysis(with(variables(Map.of(variable, "")))
			.withPropertyValues("sessionkit.approval.tools=danger", "sessionkit.time-to-live=30d"));
		assertThat(analysis.getDescription()).contains("an empty text").contains(variable);
		assertThat(analysis.getAction()).contains(cure);
	}

	@Test
	void placeholderOfNothingIsAnEmptyText() {
		assertThat(analysisOf("sessionkit.approval.tools=${TOOLS:}").getDescription()).contains("an empty text");
	}

	// placeholders

	/** Nobody would have that authority, and each release would have that version. */
	@ParameterizedTest
	@MethodSource("allNames")
	void placeholderWithoutAValueIsRefused(String name) {
		if (name.equals("sessionkit.summarize.prompt")) {
			return;
		}
		for (String written : List.of("${NOT_SET}", "a=B${NOT_SET}", "@project.version@")) {
			FailureAnalysis analysis = StartFailure
				.analysis(with(new MapPropertySource("test", Map.of(name, written))));
			assertThat(analysis.getDescription())
				.startsWith("The property '" + name + "' is '" + written + "', a placeholder that has no value");
			assertThat(analysis.getAction()).startsWith("Write ").contains("what the placeholder names");
		}
	}

	@Test
	void placeholderWithoutAValueIsRefusedInAnElementAndInAnEntry() {
		assertThat(analysisOf("sessionkit.approval.deciders[0]=refund=ROLE_LEAD",
				"sessionkit.approval.deciders[1]=cancel=${LEAD_ROLE}")
			.getDescription()).contains("'cancel=${LEAD_ROLE}', a placeholder that has no value");
		assertThat(analysisOf("sessionkit.tools.timeouts.refund=${NOT_SET}").getDescription())
			.startsWith("The property 'sessionkit.tools.timeouts.refund' is '${NOT_SET}', a placeholder");
	}

	@Test
	void placeholderThatHasAValueOrStandsInAPromptIsNotRefused() {
		this.runner
			.withPropertyValues("given=2026-11", "sessionkit.approval.version=${given}@a",
					"sessionkit.approval.tools=${NOT_SET:refund}",
					"sessionkit.summarize.prompt=Leave ${NOT_SET} as it is: {conversation}")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				SessionKitProperties properties = context.getBean(SessionKitProperties.class);
				assertThat(properties.approval().version()).isEqualTo("2026-11@a");
				assertThat(properties.approval().tools()).containsExactly("refund");
			});
	}

	@Test
	void entryThatIsEmptyIsRefused() {
		assertThat(analysisOf("sessionkit.tools.timeouts.refund=").getDescription())
			.startsWith("The property 'sessionkit.tools.timeouts.refund' is '', an empty text");
	}

	@Test
	void emptyListOfYamlIsNoText() throws IOException {
		with(yaml("""
				sessionkit:
				  approval.tools: []
				""")).withPropertyValues("sessionkit.approval.tools=refund").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(SessionKitProperties.class).approval().tools()).isEmpty();
		});
	}

	@Test
	void nameWithoutAValueInYamlUnsetsWhatHasNoDefault() throws IOException {
		with(yaml("""
				sessionkit:
				  time-to-live:
				  trim.max-turns:
				  tools.timeouts: {}
				""")).withPropertyValues("sessionkit.time-to-live=30d", "sessionkit.trim.max-turns=5")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				SessionKitProperties properties = context.getBean(SessionKitProperties.class);
				assertThat(properties.timeToLive()).isNull();
				assertThat(properties.trim().maxTurns()).isNull();
			});
		assertThat(StartFailure.analysis(with(yaml("""
				sessionkit:
				  lease:
				"""))).getDescription()).contains("sessionkit.lease").contains("an empty text");
	}

	@Test
	void emptyMapOfJsonIsNoText() {
		with(new MapPropertySource("json", Map.of("sessionkit.tools.timeouts", Map.of())))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void emptyTextThatDoesNotCountIsNotRefused() {
		with(new MapPropertySource("first",
				Map.of("sessionkit.approval.tools[0]", "refund", "sessionkit.time-to-live", "30d")))
			.withPropertyValues("sessionkit.approval.tools=", "sessionkit.time-to-live=")
			.run((context) -> assertThat(context.getBean(SessionKitProperties.class).approval().tools())
				.containsExactly("refund"));
	}

	// lists

	@ParameterizedTest
	@MethodSource("lists")
	void elementBesideTheTextOfItsListIsRefused(String name) {
		Map<String, Object> written = Map.of(name, "cancel_order", name + "[1]", "nap");
		FailureAnalysis analysis = StartFailure.analysis(with(new MapPropertySource("test", written)));
		assertThat(analysis.getDescription()).startsWith("The property '" + name + "[1]' is 'nap'")
			.contains("would have no effect")
			.contains("property source \"test\"");
		assertThat(analysis.getAction()).contains("'" + name + "'").contains("'" + name + "[0]'");
	}

	static Stream<String> lists() {
		List<String> names = KnownProperties.ALL.all().stream().filter(Property::isList).map(Property::name).toList();
		assertThat(names).contains("sessionkit.approval.tools").hasSizeGreaterThan(1);
		return names.stream();
	}

	@ParameterizedTest
	@CsvSource({ "SESSIONKIT_APPROVAL_TOOLS, SESSIONKIT_APPROVAL_TOOLS_0",
			"SESSIONKIT_APPROVAL_TOOLS, SESSIONKIT_APPROVAL_TOOLS_1",
			"SESSIONKIT_TURN_REPLAYEXCLUDE, SESSIONKIT_TURN_REPLAY_EXCLUDE_1",
			"SESSIONKIT_TURN_REPLAY_EXCLUDE, SESSIONKIT_TURN_REPLAYEXCLUDE_0" })
	void variableOfAnElementBesideThatOfItsListIsRefused(String list, String element) {
		FailureAnalysis analysis = StartFailure.analysis(with(variables(Map.of(list, "cancel_order", element, "nap"))));
		assertThat(analysis.getDescription()).contains("would have no effect").contains(element);
	}

	@Test
	void listOfOneSourceTakesThePlaceOfTheElementsOfTheNext() {
		with(new MapPropertySource("first", Map.of("sessionkit.approval.tools", "refund")))
			.withPropertyValues("sessionkit.approval.tools[0]=cancel_order", "sessionkit.approval.tools[1]=nap")
			.run((context) -> assertThat(context.getBean(SessionKitProperties.class).approval().tools())
				.containsExactly("refund"));
	}

	// switches and choices

	@ParameterizedTest
	@MethodSource("switches")
	void switchThatIsNeitherOnNorOffIsRefused(String name) {
		for (String written : List.of("flase", "ture", "enabled", "2", "")) {
			FailureAnalysis analysis = analysisOf(name + "=" + written);
			assertThat(analysis.getDescription()).contains("'" + name + "' is '" + written + "'")
				.contains("property source \"test\"");
			assertThat(analysis.getAction()).startsWith("Write true or false, or leave it out for ");
		}
	}

	static Stream<String> switches() {
		return names(boolean.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "TRUE", "on", "yes", "1" })
	void switchIsOnHoweverThatIsWritten(String on) {
		this.runner.withPropertyValues("sessionkit.enabled=" + on, "sessionkit.auto-register=" + on)
			.run((context) -> assertThat(context).hasSingleBean(SessionStore.class)
				.hasBean("sessionKitAdvisorCustomizer"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "off", "no", "0" })
	void switchIsOffHoweverThatIsWritten(String off) {
		this.runner.withPropertyValues("sessionkit.auto-register=" + off)
			.run((context) -> assertThat(context).hasSingleBean(SessionStore.class)
				.doesNotHaveBean("sessionKitAdvisorCustomizer"));
		this.runner.withPropertyValues("sessionkit.enabled=" + off)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(SessionStore.class));
	}

	@ParameterizedTest
	@MethodSource("choices")
	void valueThatIsNoneOfTheChoicesIsRefused(String name) {
		for (boolean enabled : List.of(true, false)) {
			FailureAnalysis analysis = analysisOf(name + "=nonsense", "sessionkit.enabled=" + enabled);
			assertThat(analysis.getDescription()).contains(name).contains("nonsense");
		}
	}

	static Stream<String> choices() {
		return KnownProperties.ALL.all().stream().filter((each) -> each.type().isEnum()).map(Property::name);
	}

	// times

	@ParameterizedTest
	@MethodSource("times")
	void timeWithoutAUnitIsRefusedAsItIsWritten(String name) {
		FailureAnalysis analysis = analysisOf(name + "=90");
		assertThat(analysis.getDescription()).contains("'" + name + "' is '90'")
			.contains("without a unit")
			.contains("milliseconds")
			.contains("property source \"test\"");
		assertThat(analysis.getAction()).contains("90s").contains("90h").contains("90d").contains("leave it out");
		assertThat(analysisOf(name + "=86400000").getDescription()).contains("'86400000'");
	}

	@ParameterizedTest
	@MethodSource("times")
	void timeBelowASecondIsRefusedAsItIsWritten(String name) {
		for (String written : List.of("999ms", "0s", "-1d", "PT0.5S", "1us")) {
			FailureAnalysis analysis = analysisOf(name + "=" + written);
			assertThat(analysis.getDescription()).contains("'" + name + "' is '" + written + "'")
				.contains("less than a second");
			assertThat(analysis.getAction()).startsWith("Write one second or more").contains("30d");
		}
	}

	@ParameterizedTest
	@MethodSource("times")
	void valueThatIsNoTimeIsRefusedAsItIsWritten(String name) {
		for (String written : List.of("30 days", "1 h", "4w", "abc")) {
			assertThatFormIsRefused(name, written, "Write a time such as 30s");
		}
	}

	@Test
	void entryThatIsNoTimeIsRefusedWithItsName() {
		assertThatFormIsRefused("sessionkit.tools.timeouts.refund", "4w", "Write a time such as 30s");
		assertThatFormIsRefused("sessionkit.tools.timeouts[sendMail]", "4w", "Write a time such as 30s");
	}

	@Test
	void nameWithADotInAMapIsRefusedUnlessItIsInBrackets() {
		FailureAnalysis analysis = analysisOf("sessionkit.tools.timeouts.find.order=30s");
		assertThat(analysis.getDescription()).contains("'sessionkit.tools.timeouts.find.order' is '30s'")
			.contains("property source \"test\"");
		assertThat(analysis.getAction()).contains("'sessionkit.tools.timeouts[find.order]'");
		this.runner.withPropertyValues("sessionkit.tools.timeouts.[find.order]=30s").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(SessionKitProperties.class).tools().timeouts()).containsKey("find.order");
		});
	}

	@Test
	void variableWithAnUnderscoreInTheNameOfAnEntryIsRefused() {
		FailureAnalysis analysis = StartFailure
			.analysis(with(variables(Map.of("SESSIONKIT_TOOLS_TIMEOUTS_CANCEL_ORDER", "1s"))));
		assertThat(analysis.getDescription()).contains("SESSIONKIT_TOOLS_TIMEOUTS_CANCEL_ORDER");
		assertThat(analysis.getAction()).contains("SPRING_APPLICATION_JSON");
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.tools.timeouts.cancel_order", "sessionkit.tools.timeouts.sendMail",
			"sessionkit.tools.timeouts[cancel_order]" })
	void namesOfToolsAreBoundAsTheyAre(String name) {
		this.runner.withPropertyValues(name + "=30s").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(SessionKitProperties.class).tools().timeouts()).hasSize(1);
		});
	}

	@ParameterizedTest
	@MethodSource("numbers")
	void valueThatIsNoNumberIsRefusedAsItIsWritten(String name) {
		for (String written : List.of("x", "1.5", "1k", "99999999999999999999")) {
			assertThatFormIsRefused(name, written, "Write a whole number");
		}
	}

	static Stream<String> numbers() {
		return Stream.of(int.class, Integer.class, Long.class).flatMap(ConfigurationCheckTests::names);
	}

	@ParameterizedTest
	@MethodSource("sizes")
	void valueThatIsNoSizeIsRefusedAsItIsWritten(String name) {
		for (String written : List.of("1XB", "large", "1.5MB")) {
			assertThatFormIsRefused(name, written, "Write a size such as 64KB");
		}
	}

	@ParameterizedTest
	@MethodSource("sizes")
	void sizeWithoutAUnitIsRefusedAsItIsWritten(String name) {
		FailureAnalysis analysis = analysisOf(name + "=64");
		assertThat(analysis.getDescription()).contains("'" + name + "' is '64'")
			.contains("without a unit")
			.contains("bytes");
		assertThat(analysis.getAction()).contains("64KB").contains("64MB").contains("leave it out");
	}

	static Stream<String> sizes() {
		return names(DataSize.class);
	}

	private void assertThatFormIsRefused(String name, String written, String cure) {
		FailureAnalysis analysis = analysisOf(name + "=" + written);
		assertThat(analysis.getDescription()).contains("'" + name + "' is '" + written + "'")
			.contains("property source \"test\"");
		assertThat(analysis.getAction()).startsWith(cure).contains("leave it out");
	}

	@Test
	void timeInYamlIsReportedWithItsLine() throws IOException {
		PropertySource<?> yaml = yaml("sessionkit:\n  time-to-live: 30\n");
		FailureAnalysis analysis = StartFailure.analysis(with(yaml));
		assertThat(analysis.getDescription()).contains("'sessionkit.time-to-live' is '30'").contains("2:17");
		assertThat(analysis.getAction()).contains("30d, or leave it out for no limit");
	}

	@ParameterizedTest
	@MethodSource("times")
	void timeOfASecondAndMoreIsBound(String name) {
		// a session lives longer than the shortest lease on it
		String least = name.equals("sessionkit.time-to-live") ? "2" : "1";
		String most = name.startsWith("sessionkit.summarize.") ? "1d" : "30d";
		for (String written : List.of(least + "s", least + "000ms", most, "PT" + least + "S", "1h")) {
			this.runner.withPropertyValues("sessionkit.lease=1s", name + "=" + written)
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void timesThatNobodyHasWrittenInTheEnvironmentAreRefusedToo() {
		assertThatExceptionOfType(ConfigurationRefusedException.class)
			.isThrownBy(() -> new ApprovalProperties(null, SiblingRule.HOLD, Duration.ofMillis(30), OnNewMessage.REJECT,
					null, true, null, new NoticeProperties(false, Duration.ofSeconds(10)),
					new ContinuationProperties(false, true, Duration.ofSeconds(10), 4)));
	}

	static Stream<String> times() {
		return names(Duration.class);
	}

	private static Stream<String> names(Class<?> type) {
		List<String> names = KnownProperties.ALL.all()
			.stream()
			.filter((each) -> each.type() == type)
			.map(Property::name)
			.toList();
		assertThat(names).hasSizeGreaterThan(1);
		return names.stream();
	}

	private FailureAnalysis analysisOf(String... properties) {
		return StartFailure.analysis(this.runner.withPropertyValues(properties));
	}

	private ApplicationContextRunner with(PropertySource<?> source) {
		return this.runner.withInitializer((context) -> context.getEnvironment().getPropertySources().addFirst(source));
	}

	private static Set<String> refuse(EnumerablePropertySource<?> source) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().addFirst(source);
		return UnknownNames.refuse(environment);
	}

	private static EnumerablePropertySource<?> variables(String... names) {
		Map<String, Object> variables = new HashMap<>();
		Stream.of(names).forEach((name) -> variables.put(name, "x"));
		return variables(variables);
	}

	private static EnumerablePropertySource<?> variables(Map<String, Object> variables) {
		return new SystemEnvironmentPropertySource(
				"test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables);
	}

	private static PropertySource<?> yaml(String text) throws IOException {
		ByteArrayResource resource = new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8), "application.yml") {

			@Override
			public String getFilename() {
				return "application.yml";
			}

		};
		return new YamlPropertySourceLoader().load("application.yml", resource).get(0);
	}

	private static String upper(String name) {
		return name.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
	}

	private static String camel(String name) {
		StringBuilder camel = new StringBuilder();
		for (int i = 0; i < name.length(); i++) {
			boolean hump = i > 0 && name.charAt(i - 1) == '-';
			if (name.charAt(i) != '-') {
				camel.append(hump ? Character.toUpperCase(name.charAt(i)) : name.charAt(i));
			}
		}
		return camel.toString();
	}

	private static final class NoDataSource extends AbstractDataSource {

		@Override
		public Connection getConnection() {
			throw new UnsupportedOperationException();
		}

		@Override
		public Connection getConnection(String user, String password) {
			throw new UnsupportedOperationException();
		}

	}

}
