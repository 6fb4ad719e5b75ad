package io.sessionkit.autoconfigure.check;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiPredicate;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.SessionTitles;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.stream.TurnStreams;

/**
 * A bean of the auto-configuration whose place one of the application can take.
 *
 * @param type the type of the bean
 * @param ours the name of the bean that the auto-configuration defines
 * @param said what says the same where an application builds the bean
 * @param properties the properties that the bean of the auto-configuration has, or their
 * groups
 * @param parts the types of the other beans that it has
 */
record OwnBean(Class<?> type, String ours, String said, List<String> properties, List<Class<?>> parts) {

	/** The name of the bean that a store of the application can be built with. */
	static final String OPTIONS = "sessionKitStoreOptions";

	/**
	 * The comparisons of the options of a store with those of the bean, by the property
	 * that sets what they compare. Nobody knows what a codec of the application is made
	 * of.
	 */
	static final Map<String, BiPredicate<StoreOptions, StoreOptions>> OF_OPTIONS = Map.of(
			SessionKitProperties.PREFIX + ".time-to-live",
			(theirs, ours) -> Objects.equals(theirs.timeToLive(), ours.timeToLive()),
			SessionKitProperties.PREFIX + ".token-estimate", (theirs, ours) -> theirs.tokens().equals(ours.tokens()),
			SessionKitProperties.PREFIX + ".store.view-cache",
			(theirs, ours) -> theirs.viewCache().equals(ours.viewCache()),
			SessionKitProperties.PREFIX + ".codec.strict",
			(theirs, ours) -> !(theirs.codec() instanceof JsonMessageCodec) || theirs.codec().equals(ours.codec()));

	static final List<OwnBean> ALL = List.of(
			new OwnBean(Conversations.class, "sessionKitConversations", "the methods of Conversations.builder(..)",
					names("trim", "prune", "summarize", "sequence-guard", "retention", "attributes", "turn", "snapshot",
							"durability", "lease", "tools"),
					List.of(SessionHook.class, SessionListener.class, HistoryMerge.class, SummaryTrigger.class)),
			new OwnBean(Approvals.class, "sessionKitApprovals", "the methods of Approvals.builder(..)",
					names("approval.tools", "approval.deciders", "approval.owner-decides", "approval.siblings",
							"approval.on-new-message", "approval.expires-after", "approval.version"),
					List.of(ApprovalPolicy.class, ApprovalTexts.class)),
			new OwnBean(SessionAdvisor.class, "sessionKitAdvisor", "the methods of SessionAdvisor.builder(..)",
					names("require-session", "require-finish-reason", "on-cancel", "concurrency", "concurrency-timeout",
							"idempotency-time-to-live"),
					List.of(SessionKeyResolver.class)),
			of(SessionStore.class, "sessionKitStore", "the arguments of its constructor", "store.type", "store.jdbc",
					"store.redis", "store.memory"),
			of(StoreOptions.class, OPTIONS, "the methods of StoreOptions", "time-to-live", "token-estimate",
					"store.view-cache"),
			of(MessageCodec.class, "sessionKitMessageCodec", "JsonMessageCodec.create().strict()", "codec"),
			of(TurnStreams.class, "sessionKitStreams", "the methods of TurnStreams.builder(..)", "streams"),
			of(SessionPurge.class, "sessionKitPurge", "SessionPurge.builder(..)", "purge.interval", "purge.batch-size"),
			of(SessionTitles.class, "sessionKitTitles", "SessionTitles.by(..)", "titles.model"));

	private static OwnBean of(Class<?> type, String ours, String said, String... properties) {
		return new OwnBean(type, ours, said, names(properties), List.of());
	}

	private static List<String> names(String... properties) {
		return List.of(properties).stream().map((name) -> SessionKitProperties.PREFIX + "." + name).toList();
	}

}
