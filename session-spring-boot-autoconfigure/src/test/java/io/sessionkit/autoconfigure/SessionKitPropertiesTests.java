package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionSettings;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.autoconfigure.StoreProperties.SchemaInitialization;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.internal.WrittenTime;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Retention;
import io.sessionkit.context.Summarize.Mode;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.OnDisconnect;
import io.sessionkit.stream.TurnStreams;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.MessageType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SessionKitPropertiesTests {

	/** Each property with a value that is not its default, but for the first switch. */
	private static final List<String> EVERY = List.of("sessionkit.enabled=true", "sessionkit.auto-register=false",
			"sessionkit.require-session=true", "sessionkit.require-finish-reason=true", "sessionkit.time-to-live=30d",
			"sessionkit.store.type=memory", "sessionkit.store.jdbc.initialize-schema=never",
			"sessionkit.store.jdbc.table-prefix=app.CHAT_", "sessionkit.store.redis.key-prefix=app:chat:",
			"sessionkit.store.memory.max-sessions=7", "sessionkit.store.view-cache=1MB",
			"sessionkit.trim.max-messages=20", "sessionkit.trim.max-turns=5", "sessionkit.codec.strict=true",
			"sessionkit.sequence-guard.strict=true", "sessionkit.sequence-guard.leading-replies=true",
			"sessionkit.turn.parameters=context,page", "sessionkit.turn.replay=*",
			"sessionkit.turn.replay-exclude=page", "sessionkit.snapshot.keep-system-text=true",
			"sessionkit.attributes.max-size=1MB", "sessionkit.token-estimate=vocabulary",
			"sessionkit.trim.max-tokens=4000", "sessionkit.trim.pins.first-user-message=true",
			"sessionkit.trim.pins.roles=system", "sessionkit.trim.pins.metadata=pin",
			"sessionkit.retention.max-turns=500", "sessionkit.retention.max-age=90d", "sessionkit.retention.batch=10",
			"sessionkit.prune.keep-tool-results=3", "sessionkit.summarize.enabled=false",
			"sessionkit.summarize.mode=before", "sessionkit.summarize.trigger-tokens=8000",
			"sessionkit.summarize.trigger-messages=100", "sessionkit.summarize.keep-turns=2",
			"sessionkit.summarize.prompt=sum up {conversation}", "sessionkit.summarize.model=small",
			"sessionkit.summarize.max-input-tokens=9000", "sessionkit.summarize.timeout=5s",
			"sessionkit.summarize.backoff=2m", "sessionkit.durability=step", "sessionkit.on-cancel=keep",
			"sessionkit.concurrency=serialize", "sessionkit.concurrency-timeout=5s",
			"sessionkit.idempotency-time-to-live=2h", "sessionkit.lease=1m", "sessionkit.approval.tools=cancel_order",
			"sessionkit.approval.siblings=run", "sessionkit.approval.expires-after=1h",
			"sessionkit.approval.on-new-message=queue", "sessionkit.approval.version=2026-11",
			"sessionkit.approval.deciders=refund=ROLE_LEAD", "sessionkit.approval.owner-decides=false",
			"sessionkit.approval.continuations.enabled=true", "sessionkit.approval.notices.enabled=true",
			"sessionkit.approval.notices.interval=30s", "sessionkit.approval.continuations.run=false",
			"sessionkit.approval.continuations.interval=20s", "sessionkit.approval.continuations.threads=2",
			"sessionkit.owner=none", "sessionkit.any-owner-authority=ROLE_ADMIN", "sessionkit.purge.enabled=false",
			"sessionkit.purge.interval=1h", "sessionkit.purge.batch-size=50", "sessionkit.streams.resumable=true",
			"sessionkit.streams.on-disconnect=cancel", "sessionkit.streams.time-to-live=1h",
			"sessionkit.streams.max-size=2MB", "sessionkit.ignored-names=sessionkit.theirs",
			"sessionkit.observation.enabled=false", "sessionkit.observation.mdc=true",
			"sessionkit.observation.waiting-owners=ada,bob", "sessionkit.observation.waiting-interval=2m",
			"sessionkit.observation.health-timeout=3s", "sessionkit.observation.endpoint-texts=true",
			"sessionkit.problem-details=true", "sessionkit.shutdown.timeout=15s", "sessionkit.titles.by=model",
			"sessionkit.titles.model=small", "sessionkit.tools.timeout=30s",
			"sessionkit.tools.timeouts.cancel_order=5s");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class));

	@Test
	void nothingSetGivesTheDefaults() {
		this.runner.run((context) -> {
			SessionKitProperties properties = context.getBean(SessionKitProperties.class);
			assertThat(properties.enabled()).isTrue();
			assertThat(properties.autoRegister()).isTrue();
			assertThat(properties.requireSession()).isFalse();
			assertThat(properties.requireFinishReason()).isFalse();
			assertThat(properties.timeToLive()).isNull();
			assertThat(properties.store().type()).isNull();
			assertThat(properties.store().jdbc().initializeSchema()).isEqualTo(SchemaInitialization.EMBEDDED);
			assertThat(properties.store().jdbc().tablePrefix()).isEqualTo("SESSIONKIT_");
			assertThat(properties.store().redis().keyPrefix()).isEqualTo("sessionkit:");
			assertThat(properties.store().memory().maxSessions()).isEqualTo(InMemorySessionStore.DEFAULT_MAX_SESSIONS);
			assertThat(properties.trim()).isEqualTo(new SessionKitProperties.Trim(null, null, null,
					new SessionKitProperties.Pins(false, Set.of(), Set.of())));
			assertThat(properties.codec().strict()).isFalse();
			assertThat(properties.sequenceGuard().strict()).isFalse();
			assertThat(properties.attributes().maxSize()).isEqualTo(DataSize.ofKilobytes(64));
			assertThat(properties.turn()).isEqualTo(new SessionKitProperties.Turn(List.of(), List.of(), List.of()));
			assertThat(properties.snapshot().keepSystemText()).isFalse();
			assertThat(properties.purge()).isEqualTo(new PurgeProperties(true, Duration.ofMinutes(15), 200));
		});
	}

	private static InMemorySessionStore store() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	/** A property that joins is bound in a test. */
	@Test
	void noPropertyIsForgotten() throws Exception {
		assertThat(ConfigurationTable.read().rows()).extracting(ConfigurationTable.Row::name)
			.isNotEmpty()
			.allSatisfy((name) -> assertThat(EVERY)
				.anyMatch((each) -> each.startsWith(name + "=") || each.startsWith(name + ".")));
	}

	@Test
	void everyPropertyIsBound() {
		this.runner.withPropertyValues(EVERY.toArray(String[]::new)).run((context) -> {
			SessionKitProperties bound = context.getBean(SessionKitProperties.class);
			assertThat(bound.enabled()).isTrue();
			assertThat(bound.autoRegister()).isFalse();
			assertThat(bound.requireSession()).isTrue();
			assertThat(bound.requireFinishReason()).isTrue();
			assertThat(bound.timeToLive()).isEqualTo(Duration.ofDays(30));
			assertThat(bound.store()).isEqualTo(new StoreProperties(StoreProperties.StoreType.MEMORY,
					new StoreProperties.Jdbc(SchemaInitialization.NEVER, "app.CHAT_"),
					new StoreProperties.Redis("app:chat:"), new StoreProperties.Memory(7), DataSize.ofMegabytes(1)));
			assertThat(bound.trim()).isEqualTo(new SessionKitProperties.Trim(20, 5, 4000,
					new SessionKitProperties.Pins(true, Set.of(MessageType.SYSTEM), Set.of("pin"))));
			assertThat(bound.retention()).isEqualTo(new SessionKitProperties.Retention(500, Duration.ofDays(90), 10));
			assertThat(bound.prune()).isEqualTo(new SessionKitProperties.Prune(3));
			assertThat(bound.codec()).isEqualTo(new SessionKitProperties.Codec(true));
			assertThat(bound.sequenceGuard()).isEqualTo(new SessionKitProperties.SequenceGuard(true, true));
			assertThat(bound.attributes()).isEqualTo(new SessionKitProperties.Attributes(DataSize.ofMegabytes(1)));
			assertThat(bound.turn())
				.isEqualTo(new SessionKitProperties.Turn(List.of("context", "page"), List.of("*"), List.of("page")));
			assertThat(bound.tokenEstimate()).isEqualTo(TokenEstimate.VOCABULARY);
			assertThat(bound.snapshot()).isEqualTo(new SessionKitProperties.Snapshot(true));
			assertThat(bound.durability()).isEqualTo(Durability.STEP);
			assertThat(bound.onCancel()).isEqualTo(OnCancel.KEEP);
			assertThat(bound.concurrency()).isEqualTo(Concurrency.SERIALIZE);
			assertThat(bound.concurrencyTimeout()).isEqualTo(Duration.ofSeconds(5));
			assertThat(bound.idempotencyTimeToLive()).isEqualTo(Duration.ofHours(2));
			assertThat(bound.lease()).isEqualTo(Duration.ofMinutes(1));
			assertThat(bound.approval()).isEqualTo(new ApprovalProperties(Set.of("cancel_order"), SiblingRule.RUN,
					Duration.ofHours(1), OnNewMessage.QUEUE, List.of("refund=ROLE_LEAD"), false, "2026-11",
					new NoticeProperties(true, Duration.ofSeconds(30)),
					new ContinuationProperties(true, false, Duration.ofSeconds(20), 2)));
			assertThat(bound.observation()).isEqualTo(new ObservationProperties(false, true, List.of("ada", "bob"),
					Duration.ofMinutes(2), Duration.ofSeconds(3), true));
			assertThat(bound.problemDetails()).isTrue();
			assertThat(bound.shutdown()).isEqualTo(new ShutdownProperties(Duration.ofSeconds(15)));
			assertThat(bound.titles()).isEqualTo(new TitleProperties(TitleSource.MODEL, "small"));
			assertThat(bound.tools())
				.isEqualTo(new ToolProperties(Duration.ofSeconds(30), Map.of("cancel_order", Duration.ofSeconds(5))));
			assertThat(bound.owner()).isEqualTo(OwnerSource.NONE);
			assertThat(bound.anyOwnerAuthority()).isEqualTo("ROLE_ADMIN");
			assertThat(bound.purge()).isEqualTo(new PurgeProperties(false, Duration.ofHours(1), 50));
			assertThat(bound.streams()).isEqualTo(
					new StreamProperties(true, OnDisconnect.CANCEL, Duration.ofHours(1), DataSize.ofMegabytes(2)));
			assertThat(bound.ignoredNames()).containsExactly("sessionkit.theirs");
			assertThatSummariesAreBound(bound.summarize());
		});
	}

	private static void assertThatSummariesAreBound(SummarizeProperties bound) {
		assertThat(bound.enabled()).isFalse();
		assertThat(bound.mode()).isEqualTo(Mode.BEFORE);
		assertThat(bound.triggerTokens()).isEqualTo(8000L);
		assertThat(bound.triggerMessages()).isEqualTo(100L);
		assertThat(bound.keepTurns()).isEqualTo(2);
		assertThat(bound.prompt()).isEqualTo("sum up {conversation}");
		assertThat(bound.model()).isEqualTo("small");
		assertThat(bound.maxInputTokens()).isEqualTo(9000);
		assertThat(bound.timeout()).isEqualTo(Duration.ofSeconds(5));
		assertThat(bound.backoff()).isEqualTo(Duration.ofMinutes(2));
	}

	@ParameterizedTest
	@CsvSource({ "sessionkit.lease, 10ms", "sessionkit.concurrency-timeout, 999ms",
			"sessionkit.concurrency-timeout, -1s", "sessionkit.retention.max-age, 0s",
			"sessionkit.retention.max-age, -1d", "sessionkit.idempotency-time-to-live, 0s",
			"sessionkit.approval.expires-after, 0s", "sessionkit.approval.expires-after, -1h",
			"sessionkit.approval.continuations.threads, 0", "sessionkit.approval.continuations.interval, 10",
			"sessionkit.approval.version, ' '", "sessionkit.any-owner-authority, ' '",
			"sessionkit.any-owner-authority, hasRole(ADMIN)", "sessionkit.any-owner-authority, ROLE_A|ROLE_B",
			"sessionkit.any-owner-authority, ROLE_A ROLE_B", "sessionkit.approval.deciders, a=ROLE_B;ROLE_C",
			"sessionkit.approval.deciders, a=hasRole(B)", "sessionkit.approval.deciders, a=`B`",
			"sessionkit.approval.deciders, refund", "sessionkit.approval.deciders, refund=",
			"sessionkit.approval.deciders, =ROLE_LEAD", "sessionkit.approval.deciders, a=b=c",
			"sessionkit.approval.deciders, cancel_*=ROLE_LEAD", "sessionkit.approval.deciders, a=B|C",
			"sessionkit.approval.deciders, ${TOOL}=ROLE_LEAD", "sessionkit.approval.deciders, a b=ROLE_LEAD",
			"sessionkit.approval.tools, *", "sessionkit.approval.tools, ${TOOLS}",
			"sessionkit.approval.tools, cancel_order refund", "sessionkit.approval.tools, cancel_order;refund",
			"sessionkit.approval.tools, cancel_order()", "sessionkit.approval.tools, \"cancel_order\"",
			"sessionkit.approval.tools, [cancel_order]", "sessionkit.approval.tools, cancel_order=ROLE_LEAD",
			"sessionkit.approval.owner-decides, false" })
	void approvalsAndLeasesThatCannotWorkAreRefusedWithWhatToWrite(String property, String value) {
		FailureAnalysis analysis = analysisOf(property + "=" + value);
		assertThat(analysis.getDescription()).contains("'" + property + "'");
		assertThat(analysis.getAction()).startsWith("Write ");
	}

	/** Also where nobody has checked what is written. */
	@Test
	void timeInLineBelowASecondIsRefused() {
		Binder binder = new Binder(
				new MapConfigurationPropertySource(Map.of("sessionkit.concurrency-timeout", "999ms")));
		assertThatExceptionOfType(BindException.class)
			.isThrownBy(() -> binder.bind("sessionkit", SessionKitProperties.class))
			.withRootCauseInstanceOf(ConfigurationRefusedException.class);
	}

	@Test
	void namesThatToolsHaveAreAccepted() {
		this.runner
			.withPropertyValues("sessionkit.approval.tools=cancel_order, refund-now,shop.cancel,server:pay,zahlung_ä",
					"sessionkit.tools.timeouts[shop.cancel]=5s")
			.run((context) -> assertThat(context.getBean(SessionKitProperties.class).approval().tools())
				.containsExactly("cancel_order", "refund-now", "shop.cancel", "server:pay", "zahlung_ä"));
	}

	@Test
	void timeOfAToolThatCannotBeIsRefused() {
		FailureAnalysis analysis = analysisOf("sessionkit.tools.timeouts[cancel_order refund]=5s");
		assertThat(analysis.getDescription()).contains("'sessionkit.tools.timeouts' is 'cancel_order refund'");
		assertThat(analysis.getAction()).contains("cancel_order: 30s");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ROLE_LEAD", "SCOPE_orders:approve", "perm.x/y", "urn:acme#lead@example.com" })
	void authorityOfAnyUsualKindIsAccepted(String authority) {
		this.runner
			.withPropertyValues("sessionkit.any-owner-authority=" + authority,
					"sessionkit.approval.deciders=refund=" + authority)
			.run((context) -> {
				SessionKitProperties bound = context.getBean(SessionKitProperties.class);
				assertThat(bound.anyOwnerAuthority()).isEqualTo(authority);
				assertThat(bound.approval().decidersByTool()).containsEntry("refund", Set.of(authority));
			});
	}

	@ParameterizedTest
	@CsvSource({ "approval.expires-after, 400d, 365d", "lease, 366d, 365d", "lease, 1000000d, 365d",
			"concurrency-timeout, 1000000d, 365d", "tools.timeout, 366d, 365d", "tools.timeouts.x, 2000d, 365d",
			"summarize.timeout, 25h, 1d", "summarize.backoff, 25h, 1d", "shutdown.timeout, 1000000d, 365d",
			"observation.waiting-interval, 1000000d, 365d", "observation.health-timeout, 1000000d, 365d" })
	void timeThatIsTooLongToBeMeasuredIsRefused(String property, String value, String longest) {
		FailureAnalysis analysis = analysisOf("sessionkit." + property + "=" + value);
		assertThat(analysis.getDescription()).startsWith("The property 'sessionkit." + property + "' is ");
		assertThat(analysis.getAction()).startsWith("Write " + longest + " or less");
		this.runner.withPropertyValues("sessionkit." + property + "=" + longest)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "sessionkit.trim.pins.roles, ','", "sessionkit.trim.pins.metadata, ','" })
	void listWithACommaTooManyIsRefused(String property, String value) {
		FailureAnalysis analysis = analysisOf(property + "=" + value);
		assertThat(analysis.getDescription()).contains("'" + property + "'");
		assertThat(analysis.getAction()).startsWith("Write ").contains("leave it out");
	}

	@ParameterizedTest
	@CsvSource({ "approval.expires-after, 7d, time-to-live, 1d", "approval.expires-after, 1d, time-to-live, 24h",
			"lease, 1m, streams.time-to-live, 30s", "lease, 1m, streams.time-to-live, 60s",
			"lease, 1m, time-to-live, 30s", "lease, 30s, time-to-live, 30s" })
	void timeThatAnotherOneCutsShortIsRefused(String property, String value, String limit, String most) {
		FailureAnalysis analysis = analysisOf("sessionkit.streams.resumable=true",
				"sessionkit." + property + "=" + value, "sessionkit." + limit + "=" + most);
		assertThat(analysis.getDescription()).contains("'sessionkit." + property + "' is ")
			.contains("'sessionkit." + limit + "' is ");
		assertThat(analysis.getAction()).contains("'sessionkit." + limit + "'");
	}

	@ParameterizedTest
	@CsvSource({ "approval.expires-after, 1d, time-to-live, 7d", "lease, 30s, streams.time-to-live, 1m",
			"lease, 30s, time-to-live, 31s" })
	void timeThatEndsBeforeAnotherOneIsAccepted(String property, String value, String limit, String most) {
		this.runner
			.withPropertyValues("sessionkit.streams.resumable=true", "sessionkit." + property + "=" + value,
					"sessionkit." + limit + "=" + most)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void timeOfStreamsThatAreNotKeptIsNotComparedWithTheLease() {
		this.runner.withPropertyValues("sessionkit.lease=1h").run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "sessionkit.trim.max-messages, 0", "sessionkit.trim.max-messages, -1", "sessionkit.trim.max-tokens, 0",
			"sessionkit.retention.max-turns, 0", "sessionkit.retention.max-turns, -1", "sessionkit.retention.batch, 0",
			"sessionkit.store.memory.max-sessions, 0", "sessionkit.store.memory.max-sessions, -1",
			"sessionkit.purge.batch-size, 0" })
	void limitBelowOneIsRefused(String property, String value) {
		FailureAnalysis analysis = analysisOf(property + "=" + value);
		assertThat(analysis.getDescription()).isEqualTo("The property '" + property + "' is '" + value + "'.");
		assertThat(analysis.getAction()).startsWith("Write 1 or more");
	}

	@Test
	void limitOnTurnsMayBeZeroAndNotNegative() {
		this.runner.withPropertyValues("sessionkit.trim.max-turns=0")
			.run((context) -> assertThat(context.getBean(SessionKitProperties.class).trim().maxTurns()).isZero());
		FailureAnalysis analysis = analysisOf("sessionkit.trim.max-turns=-3");
		assertThat(analysis.getDescription()).isEqualTo("The property 'sessionkit.trim.max-turns' is '-3'.");
		assertThat(analysis.getAction()).isEqualTo("Write 0 or more, or leave it out for no limit.");
	}

	/** The properties are checked before there is a store, so the rule is there twice. */
	@ParameterizedTest
	@ValueSource(
			strings = { "context", "_x", "ä-1.x", "1a", "-a", "a b", "a:b", " ", "*", "sessionkit.x", "sessionkit" })
	void namesOfParametersAreRefusedThatCodeRefuses(String name) {
		assertThat(isAllowed(() -> new SessionKitProperties.Turn(List.of(name), null, null))).as("kept")
			.isEqualTo(isAllowed(() -> builder().turnParameters(Set.of(name)).build().close()));
		assertThat(isAllowed(() -> new SessionKitProperties.Turn(List.of(name), List.of(name), null))).as("shown")
			.isEqualTo(isAllowed(() -> builder().turnParameters(Set.of(name)).replay(Set.of(name)).build().close()));
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 1, 2 })
	void limitsAreRefusedThatCodeAndSettingsOfASessionRefuse(int limit) {
		assertThat(isAllowed(() -> new SessionKitProperties.Retention(limit, null, null)))
			.isEqualTo(isAllowed(() -> new Retention(limit, null, 1)))
			.isEqualTo(isAllowed(() -> SessionSettings.NONE.retention((none) -> none.maxTurns(limit))));
		assertThat(isAllowed(() -> new SessionKitProperties.Retention(null, null, limit)))
			.isEqualTo(isAllowed(() -> new Retention(1, null, limit)));
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 1, 999, 1_000, 1_001 })
	void timesAreRefusedThatCodeRefuses(int millis) {
		Duration time = Duration.ofMillis(millis);
		assertThat(isAllowed(() -> new SessionKitProperties.Retention(null, time, null)))
			.isEqualTo(isAllowed(() -> Retention.NONE.maxAge(time)));
		// zero is a setting of its own: no limit
		assertThat(isAllowed(() -> SessionSettings.NONE.retention((none) -> none.maxAge(time))))
			.isEqualTo(time.isZero() || isAllowed(() -> Retention.NONE.maxAge(time)));
		assertThat(isAllowed(() -> new StreamProperties(true, OnDisconnect.CANCEL, time, DataSize.ofBytes(1))))
			.isEqualTo(isAllowed(() -> TurnStreams.builder(builder().build()).timeToLive(time)));
		assertThat(WrittenTime.SHORTEST).isEqualTo(Conversations.MIN_LEASE);
	}

	private static Conversations.Builder builder() {
		return Conversations.builder(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));
	}

	private static boolean isAllowed(Runnable setting) {
		try {
			setting.run();
			return true;
		}
		catch (ConfigurationRefusedException | IllegalArgumentException ex) {
			return false;
		}
	}

	@Test
	void ruleForCancelledAnswersMustBeOneThatExists() {
		this.runner.withPropertyValues("sessionkit.on-cancel=stop")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("OnCancel.stop"));
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 1 })
	void boundsOfLimitsAreThoseOfTrim(int value) {
		int any = Integer.MAX_VALUE;
		assertThat(accepts("sessionkit.trim.max-turns", value))
			.isEqualTo(accepts(() -> new Trim(value, any, any, Pins.NONE)));
		assertThat(accepts("sessionkit.trim.max-messages", value))
			.isEqualTo(accepts(() -> new Trim(any, value, any, Pins.NONE)));
		assertThat(accepts("sessionkit.trim.max-tokens", value))
			.isEqualTo(accepts(() -> new Trim(any, any, value, Pins.NONE)));
	}

	private boolean accepts(String property, int value) {
		AtomicBoolean started = new AtomicBoolean();
		this.runner.withPropertyValues(property + "=" + value)
			.run((context) -> started.set(context.getStartupFailure() == null));
		return started.get();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "page|||true", "page|page||true", "page,other|*|other|true", "a b|||true", "a b|*|a b|true",
					"a b|*||false", "a b|a b||false", "1page|1page||false", "page|other||false", "page||other|false",
					"''|||false", "' '|||false", "*|||false", "sessionkit.page|||false", "sessionkit.page|*||false",
					"sessionkitpage|*||true" })
	void namesOfKeptParametersAreThoseOfTheBuilder(String parameters, String replay, String exclude, boolean accepted) {
		List<String> kept = names(parameters);
		List<String> shown = names(replay);
		List<String> hidden = names(exclude);
		assertThat(accepts(() -> new SessionKitProperties.Turn(kept, shown, hidden))).isEqualTo(accepted);
		assertThat(accepts(() -> Conversations.builder(store())
			.turnParameters(Set.copyOf(kept))
			.replay(Set.copyOf(shown))
			.replayExclude(Set.copyOf(hidden))
			.build())).isEqualTo(accepted);
	}

	private static List<String> names(@Nullable String list) {
		return (list != null) ? List.of(list.split(",", -1)) : List.of();
	}

	private static boolean accepts(Supplier<?> made) {
		try {
			return made.get() != null;
		}
		catch (IllegalArgumentException | ConfigurationRefusedException ex) {
			return false;
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "0s", "-1m", "999ms" })
	void intervalOfThePurgeBelowASecondIsRefused(String value) {
		FailureAnalysis analysis = analysisOf("sessionkit.purge.interval=" + value);
		assertThat(analysis.getDescription()).contains("'sessionkit.purge.interval'");
		assertThat(analysis.getAction()).contains("one second or more").contains("15m");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "-1KB" })
	void sizeOfTheAttributesBelowOneByteIsRefused(String value) {
		FailureAnalysis analysis = analysisOf("sessionkit.attributes.max-size=" + value);
		assertThat(analysis.getDescription()).contains("'sessionkit.attributes.max-size'");
		assertThat(analysis.getAction()).contains("64KB");
	}

	@Test
	void sizeOfTheViewsBelowNothingIsRefused() {
		FailureAnalysis analysis = analysisOf("sessionkit.store.view-cache=-1MB");
		assertThat(analysis.getDescription()).contains("'sessionkit.store.view-cache'");
		assertThat(analysis.getAction()).contains("16MB");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "0s", "-1d" })
	void timeToLiveThatIsNotPositiveIsRefused(String value) {
		FailureAnalysis analysis = analysisOf("sessionkit.time-to-live=" + value);
		assertThat(analysis.getDescription()).contains("'sessionkit.time-to-live'");
		assertThat(analysis.getAction()).contains("30d").contains("leave it out");
	}

	@ParameterizedTest
	@ValueSource(strings = { "CHAT-", "1CHAT_", "a.b.CHAT_", "CHAT_; drop table X", "\"CHAT_\"", "app.", "CHÄT_" })
	void tablePrefixWithIllegalCharactersIsRefused(String value) {
		FailureAnalysis analysis = analysisOf("sessionkit.store.jdbc.table-prefix=" + value);
		assertThat(analysis.getDescription()).contains("'sessionkit.store.jdbc.table-prefix'").contains(value);
		assertThat(analysis.getAction()).contains("letters, digits and underscores").contains("SESSIONKIT_");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a b:", "{app}:", "app}", "app:\n" })
	void keyPrefixThatRedisKeysCannotHaveIsRefused(String value) {
		FailureAnalysis analysis = StartFailure.analysis(this.runner
			.withInitializer((context) -> TestPropertyValues.of(Map.of("sessionkit.store.redis.key-prefix", value))
				.applyTo(context)));
		assertThat(analysis.getDescription())
			.isEqualTo("The property 'sessionkit.store.redis.key-prefix' is '" + value + "'.");
		assertThat(analysis.getAction()).contains("without braces and white space").contains("sessionkit:");
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.turn.replay", "sessionkit.turn.replay-exclude" })
	void inputThatIsNotKeptCannotBeNamed(String property) {
		FailureAnalysis analysis = analysisOf("sessionkit.turn.parameters=context", property + "=contxt");
		assertThat(analysis.getDescription()).isEqualTo("The property '" + property + "' is 'contxt'.");
		assertThat(analysis.getAction()).contains("sessionkit.turn.parameters").contains("[context]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.turn.replay", "sessionkit.turn.replay-exclude" })
	void allParametersCannotBeNamedWhereNoneIsKept(String property) {
		FailureAnalysis analysis = analysisOf(property + "=*");
		assertThat(analysis.getDescription()).isEqualTo("The property '" + property + "' is '*'.");
		assertThat(analysis.getAction()).contains("sessionkit.turn.parameters");
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.session", "*" })
	void inputThatIsNoParameterOfTheApplicationIsRefused(String name) {
		FailureAnalysis analysis = analysisOf("sessionkit.turn.parameters=" + name);
		assertThat(analysis.getDescription()).contains("'sessionkit.turn.parameters' is '" + name + "'");
		assertThat(analysis.getAction()).contains("such as context");
	}

	@Test
	void inputThatIsShownAgainNeedsANameThatCanBeATag() {
		FailureAnalysis analysis = analysisOf("sessionkit.turn.parameters=a b", "sessionkit.turn.replay=*");
		assertThat(analysis.getDescription()).contains("'sessionkit.turn.replay' is 'a b'");
		assertThat(analysis.getAction()).contains("tag");
	}

	@Test
	void tablesWithAPrefixOfTheirOwnAreNotCreated() {
		FailureAnalysis analysis = analysisOf("sessionkit.store.jdbc.initialize-schema=always",
				"sessionkit.store.jdbc.table-prefix=CHAT_");
		assertThat(analysis.getDescription()).contains("'sessionkit.store.jdbc.initialize-schema' is 'always'")
			.contains("'sessionkit.store.jdbc.table-prefix' is 'CHAT_'");
		assertThat(analysis.getAction()).contains("'never'")
			.contains("io/sessionkit/store/jdbc/schema-postgresql.sql")
			.doesNotContain("@@");
	}

	@Test
	void unknownStoreTypeIsRefusedWithTheTypesThatThereAre() {
		FailureAnalysis analysis = analysisOf("sessionkit.store.type=mongo");
		assertThat(analysis.getDescription()).contains("sessionkit.store.type").contains("mongo");
		assertThat(analysis.getAction()).contains("MEMORY").contains("JDBC").contains("REDIS");
	}

	@Test
	void unknownSchemaInitializationIsRefusedWithTheChoices() {
		FailureAnalysis analysis = analysisOf("sessionkit.store.jdbc.initialize-schema=sometimes");
		assertThat(analysis.getDescription()).contains("sessionkit.store.jdbc.initialize-schema").contains("sometimes");
		assertThat(analysis.getAction()).contains("ALWAYS").contains("EMBEDDED").contains("NEVER");
	}

	@ParameterizedTest
	@EnumSource(StoreType.class)
	void storeThatWasChosenAheadOfTimeIsNotExchanged(StoreType chosen) {
		this.runner.withPropertyValues("sessionkit.store.type=memory").run((context) -> {
			StoreProperties store = context.getBean(SessionKitProperties.class).store();
			if (chosen == StoreType.MEMORY) {
				store.refuseOtherThan(chosen);
				return;
			}
			assertThatExceptionOfType(ConfigurationRefusedException.class)
				.isThrownBy(() -> store.refuseOtherThan(chosen))
				.withMessageContaining("'sessionkit.store.type' is 'memory'")
				.withMessageContaining("ahead of time for '" + chosen.value() + "'");
		});
		this.runner.run((context) -> context.getBean(SessionKitProperties.class).store().refuseOtherThan(chosen));
	}

	private FailureAnalysis analysisOf(String... properties) {
		return StartFailure.analysis(this.runner.withPropertyValues(properties));
	}

}
