package io.sessionkit.autoconfigure.advisor;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.SummarizeProperties;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.autoconfigure.internal.StoreLife;
import io.sessionkit.autoconfigure.internal.WrittenTime;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Says in one line of the log which store keeps the sessions, what is forgotten, and what
 * is limited. It is a warning if all is forgotten when the process ends, and nobody has
 * named the store.
 */
final class StartReport extends AtStart {

	private static final Log logger = LogFactory.getLog(StartReport.class);

	private final ObjectProvider<SessionStore> store;

	/** The triggers, without those that are not injected. */
	private final ObjectProvider<SummaryTrigger> triggers;

	private final SessionAccess access;

	private final ListableBeanFactory beans;

	private final SessionKitProperties properties;

	StartReport(ObjectProvider<SessionStore> store, ObjectProvider<SummaryTrigger> triggers, SessionAccess access,
			ListableBeanFactory beans, SessionKitProperties properties) {
		this.store = store;
		this.triggers = triggers;
		this.access = access;
		this.beans = beans;
		this.properties = properties;
	}

	@Override
	protected void run() {
		this.store.ifUnique((used) -> report(StoreGuard.unguarded(used)));
	}

	private void report(SessionStore used) {
		if (isOurs() && this.properties.store().type() == null && endsWithProcess(used)) {
			logger.warn(line(used) + " Set '" + StoreProperties.STORE_TYPE + "' if that is meant.");
		}
		else {
			logger.info(line(used));
		}
	}

	private boolean isOurs() {
		return this.beans.containsBean("sessionKitStore");
	}

	private boolean endsWithProcess(SessionStore used) {
		return StoreType.of(used).filter(StoreType::endsWithProcess).isPresent() || isDatabaseInMemory();
	}

	private boolean isDatabaseInMemory() {
		return this.beans.getBeanProvider(StoreLife.class).stream().anyMatch(StoreLife::endsWithProcess);
	}

	private String line(SessionStore used) {
		return "Sessions are kept by " + used.getClass().getSimpleName()
				+ (this.access.isUnlimited() ? "" : ", each for its caller") + ". Forgotten: "
				+ String.join("; ", forgotten(used)) + ". Limited: " + String.join("; ", limited()) + ".";
	}

	private List<String> forgotten(SessionStore used) {
		List<String> all = new ArrayList<>();
		StoreType.of(used).ifPresent((type) -> all.addAll(type.forgotten(isOurs() ? this.properties.store() : null)));
		if (isDatabaseInMemory()) {
			all.add("all sessions when the process ends, since the database is in memory");
		}
		addLife(all, used.options());
		if (areConversationsOurs()) {
			addRetention(all);
		}
		else {
			all.add("turns as the Conversations bean says");
		}
		return all.isEmpty() ? List.of("nothing") : all;
	}

	/** A store of a test, such as a mock, may have no options. */
	private static void addLife(List<String> all, @Nullable StoreOptions options) {
		if (options != null && options.timeToLive() != null) {
			all.add("sessions " + WrittenTime.of(options.timeToLive()) + " after their last write");
		}
	}

	/**
	 * Returns whether the properties apply: a bean of the application has its own limits.
	 */
	private boolean areConversationsOurs() {
		return this.beans.containsBean("sessionKitConversations");
	}

	private void addRetention(List<String> all) {
		SessionKitProperties.Retention retention = this.properties.retention();
		if (retention.maxTurns() != null) {
			all.add("the oldest turns of sessions of more than " + retention.maxTurns());
		}
		if (retention.maxAge() != null) {
			all.add("turns after " + WrittenTime.of(retention.maxAge()));
		}
	}

	private List<String> limited() {
		if (!areConversationsOurs()) {
			return List.of("as the Conversations bean says");
		}
		List<String> all = new ArrayList<>();
		SessionKitProperties.Trim trim = this.properties.trim();
		add(all, trim.maxTurns(), "turns of history in a request");
		add(all, trim.maxMessages(), "messages in a request");
		add(all, trim.maxTokens(), "tokens in a request");
		add(all, this.properties.prune().keepToolResults(), "tool results of the history in a request");
		addSummaries(all, this.properties.summarize());
		return all.isEmpty() ? List.of("nothing, so requests grow with their session") : all;
	}

	private void addSummaries(List<String> all, SummarizeProperties summarize) {
		if (!summarize.enabled()) {
			return;
		}
		if (this.triggers.stream().findAny().isPresent()) {
			all.add("the history before a summary, by the SummaryTrigger bean");
			return;
		}
		add(all, summarize.triggerTokens(), "tokens before a summary");
		add(all, summarize.triggerMessages(), "messages before a summary");
	}

	private static void add(List<String> all, @Nullable Number limit, String what) {
		if (limit != null) {
			all.add(limit + " " + what);
		}
	}

}
