package io.sessionkit.autoconfigure;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.ApprovalNotices;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.stream.TurnContinuations;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the defaults of the properties with those of the code that they are handed to:
 * an application that builds a part itself gets the same.
 */
class DefaultsTests {

	/** Properties of which nothing but the auto-configuration has a default. */
	private static final Set<String> OURS = Set.of("enabled", "auto-register", "any-owner-authority", "problem-details",
			"approval.continuations.run", "observation.enabled", "observation.mdc", "observation.waiting-interval",
			"observation.health-timeout", "observation.endpoint-texts", "purge.enabled", "shutdown.timeout",
			"store.jdbc.initialize-schema", "summarize.enabled", "titles.by", "token-estimate",
			// to build streams is to ask for them
			"streams.resumable");

	private final Map<String, @Nullable Object> code = new LinkedHashMap<>();

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.of(this.store);

	private final Approvals approvals = Approvals.of(this.conversations);

	DefaultsTests() {
		ofConversations();
		ofApprovals();
		ofTheAdvisor();
		ofStores();
		of(Summarize.by(new ScriptedChatModel()), "summarize.", "mode", "keepTurns", "maxInputTokens", "timeout",
				"backoff");
		of(TurnStreams.builder(this.conversations), "streams.", "onDisconnect", "timeToLive", "maxSize");
	}

	private void ofConversations() {
		Conversations.Builder builder = Conversations.builder(this.store);
		of(builder, "", "lease", "durability");
		of(builder, "snapshot.", "keepSystemText");
		this.code.put("attributes.max-size", field(builder, "maxAttributesSize"));
		this.code.put("tools.timeout", field(builder, "toolTimeout"));
		this.code.put("trim.pins.first-user-message", Pins.NONE.firstUserMessage());
		Object guard = field(builder, "guard");
		assertThat(guard).isNotNull();
		of(guard, "sequence-guard.", "strict", "leadingReplies");
	}

	private void ofApprovals() {
		Approvals.Builder builder = Approvals.builder(this.conversations);
		of(builder, "approval.", "siblings", "onNewMessage", "ownerDecides", "expiresAfter", "version");
		this.code.put("approval.notices.enabled", field(builder, "notices"));
		this.code.put("approval.continuations.enabled", field(builder, "continuations"));
		of(ApprovalNotices.builder(this.approvals, (ApprovalNotice notice) -> {
		}), "approval.notices.", "interval");
		of(TurnContinuations.builder(this.conversations, this.approvals, (turn) -> null), "approval.continuations.",
				"interval", "threads");
	}

	private void ofTheAdvisor() {
		SessionAdvisor.Builder builder = SessionAdvisor.builder(this.conversations);
		of(builder, "", "requireSession", "requireFinishReason");
		Object rules = field(builder, "rules");
		assertThat(rules).isNotNull();
		of(rules, "", "onCancel", "concurrency", "concurrencyTimeout", "idempotencyTimeToLive");
	}

	private void ofStores() {
		of(JsonMessageCodec.create(), "codec.", "strict");
		of(SessionPurge.builder(this.store), "purge.", "interval", "batchSize");
		this.code.put("store.view-cache", StoreOptions.VIEW_CACHE);
		this.code.put("store.jdbc.table-prefix", JdbcSessionStore.DEFAULT_TABLE_PREFIX);
		this.code.put("store.redis.key-prefix", RedisSessionStore.DEFAULT_KEY_PREFIX);
		this.code.put("store.memory.max-sessions", InMemorySessionStore.DEFAULT_MAX_SESSIONS);
	}

	private void of(Object built, String group, String... fields) {
		for (String field : fields) {
			this.code.put(group + DataObjectPropertyName.toDashedForm(field), field(built, field));
		}
	}

	private static @Nullable Object field(Object built, String name) {
		return ReflectionTestUtils.getField(built, name);
	}

	@Test
	void defaultsOfPropertiesAreThoseOfTheCode() {
		SessionKitProperties properties = new Binder(new MapConfigurationPropertySource())
			.bindOrCreate(SessionKitProperties.PREFIX, SessionKitProperties.class);
		assertThat(this.code)
			.allSatisfy((name, value) -> assertThat(value(properties, name)).as(name).isEqualTo(value));
	}

	/** A property that joins is compared, or belongs to the auto-configuration alone. */
	@Test
	void noDefaultIsForgotten() throws Exception {
		Stream<String> defaults = ConfigurationTable.read()
			.rows()
			.stream()
			.filter((row) -> !row.defaultValue().isEmpty())
			.map((row) -> row.name().substring(SessionKitProperties.PREFIX.length() + 1));
		assertThat(defaults).isNotEmpty()
			.allSatisfy((name) -> assertThat(this.code.containsKey(name)).as(name).isNotEqualTo(OURS.contains(name)));
	}

	private static @Nullable Object value(Object properties, String name) {
		Object value = properties;
		for (String part : name.split("\\.")) {
			assertThat(value).as(name).isNotNull();
			value = part(value, camelCase(part));
		}
		return value;
	}

	private static @Nullable Object part(Object group, String name) {
		Method accessor = ReflectionUtils.findMethod(group.getClass(), name);
		assertThat(accessor).as(name).isNotNull();
		ReflectionUtils.makeAccessible(accessor);
		return ReflectionUtils.invokeMethod(accessor, group);
	}

	private static String camelCase(String dashed) {
		StringBuilder name = new StringBuilder();
		for (String word : dashed.split("-")) {
			name.append(name.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
		}
		return name.toString();
	}

}
