package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.OnCancel;
import io.sessionkit.autoconfigure.internal.WrittenTime;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.MessageType;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Properties of SessionKit. Values that are not possible are refused when they are bound,
 * whichever store is in use. The names of the properties are API; this class and those of
 * its groups are not.
 */
@ConfigurationProperties(SessionKitProperties.PREFIX)
public final class SessionKitProperties {

	/** The prefix of the names of all properties. */
	public static final String PREFIX = "sessionkit";

	public static final String ENABLED = PREFIX + ".enabled";

	public static final String OWNER = PREFIX + ".owner";

	public static final String ANY_OWNER_AUTHORITY = PREFIX + ".any-owner-authority";

	public static final String DEFAULT_ANY_OWNER_AUTHORITY = "SESSIONKIT_ANY_OWNER";

	public static final String AUTO_REGISTER = PREFIX + ".auto-register";

	public static final String PURGE_ENABLED = PREFIX + ".purge.enabled";

	public static final String NOTICES_ENABLED = PREFIX + ".approval.notices.enabled";

	public static final String OBSERVATION_ENABLED = PREFIX + ".observation.enabled";

	public static final String IGNORED_NAMES = PREFIX + ".ignored-names";

	static final String MAX_ATTRIBUTES_SIZE = PREFIX + ".attributes.max-size";

	/** The longest time that something waits. */
	static final Duration LONGEST = Conversations.MAX_LEASE;

	static final String NO_LIMIT = ", or leave it out for no limit";

	/**
	 * Whether to auto-configure sessions. If false, names and values are still checked,
	 * and tools that need an approval are still refused.
	 */
	private final boolean enabled;

	/**
	 * Whether to add the session advisor to every auto-configured ChatClient.Builder.
	 */
	private final boolean autoRegister;

	/**
	 * Whether to refuse a ChatClient call that names no session instead of passing it
	 * through.
	 */
	private final boolean requireSession;

	/**
	 * Whether to fail a turn if a streamed reply ends without a finish reason, before its
	 * tools run: the connection to the model may have been lost. Do not set it for models
	 * that send none.
	 */
	private final boolean requireFinishReason;

	/**
	 * Owner of the sessions that are named without one: principal (the user of Spring
	 * Security, who reaches sessions of others only with any-owner-authority) or none. A
	 * CallerResolver or SessionAccess bean comes first. Unset: principal if the
	 * application has Spring Security, none otherwise.
	 */
	private final @Nullable OwnerSource owner;

	/**
	 * Spring Security authority that lets a user reach the sessions of all owners.
	 * Refused with owner=none or with a CallerResolver or SessionAccess bean: that bean
	 * decides.
	 */
	private final String anyOwnerAuthority;

	/**
	 * Time to live of a new session after its last turn or change, such as 30d. Decisions
	 * on tool calls do not extend it. Must be longer than sessionkit.lease. Unset:
	 * sessions do not expire.
	 */
	private final @Nullable Duration timeToLive;

	/**
	 * Type and settings of the store.
	 */
	@NestedConfigurationProperty
	private final StoreProperties store;

	/**
	 * Limits on the history in a request.
	 */
	private final Trim trim;

	/**
	 * Limits on what a session keeps.
	 */
	@NestedConfigurationProperty
	private final Retention retention;

	/**
	 * Pruning of old tool results in a request.
	 */
	private final Prune prune;

	/**
	 * Summaries of the older part of a session.
	 */
	@NestedConfigurationProperty
	private final SummarizeProperties summarize;

	/**
	 * Titles of sessions.
	 */
	@NestedConfigurationProperty
	private final TitleProperties titles;

	/**
	 * Encoding of stored messages.
	 */
	private final Codec codec;

	/**
	 * Handling of requests that are not a valid sequence of messages.
	 */
	private final SequenceGuard sequenceGuard;

	/**
	 * Limits on session attributes.
	 */
	private final Attributes attributes;

	/**
	 * Additional data that is kept with a turn.
	 */
	private final Turn turn;

	/**
	 * Content of the snapshots of sent requests.
	 */
	private final Snapshot snapshot;

	/**
	 * Times at which a turn is written: turn (when it ends, when it has to wait or a
	 * standing approval lets a call run, and from then on as with step) or step (also
	 * whenever tools are called, and as soon as each result is available).
	 */
	private final Durability durability;

	/**
	 * Handling of a reply whose reader cancels the stream: discard (the turn is kept
	 * beside the history) or keep (the text that was read becomes the reply, marked as
	 * cut short, and the turn becomes history).
	 */
	private final OnCancel onCancel;

	/**
	 * Handling of a call on a session on which another call is working: optimistic (both
	 * ask the model, and the one that ends first becomes history), reject (the later one
	 * fails before the model is called), serialize (the later one waits, in the order of
	 * arrival) or steer (the message of the later one joins the turn of the first, before
	 * its next model call).
	 */
	private final Concurrency concurrency;

	/**
	 * Maximum time that a call waits in a line: for the calls ahead of it
	 * (concurrency=serialize or steer), and for an earlier call with the same idempotency
	 * key.
	 */
	private final Duration concurrencyTimeout;

	/**
	 * How long after the end of its turn a request with an idempotency key is recognized.
	 * If the turn waited for a person or was ended by another call, as long as the
	 * session lives.
	 */
	private final Duration idempotencyTimeToLive;

	/**
	 * Time without a renewal after which other processes may take over the open turns of
	 * a process and its places in line. A live process renews it.
	 */
	private final Duration lease;

	/**
	 * Approval of tool calls.
	 */
	@NestedConfigurationProperty
	private final ApprovalProperties approval;

	/**
	 * Running of tools.
	 */
	@NestedConfigurationProperty
	private final ToolProperties tools;

	/**
	 * Shutdown of the application.
	 */
	@NestedConfigurationProperty
	private final ShutdownProperties shutdown;

	/**
	 * Estimate of the tokens of messages if there is no TokenCountEstimator bean: length
	 * or vocabulary. vocabulary counts as Spring AI does, and takes some ten times as
	 * long.
	 */
	private final TokenEstimate tokenEstimate;

	/**
	 * Deletion of expired sessions.
	 */
	@NestedConfigurationProperty
	private final PurgeProperties purge;

	/**
	 * Observations, meters, health and endpoint.
	 */
	@NestedConfigurationProperty
	private final ObservationProperties observation;

	/**
	 * Streams of events whose readers may come back.
	 */
	@NestedConfigurationProperty
	private final StreamProperties streams;

	/**
	 * Whether to answer HTTP requests that end in an exception of SessionKit with a
	 * problem detail (RFC 9457) and a status of its own.
	 */
	private final boolean problemDetails;

	/**
	 * Names below sessionkit that belong to something else, exactly as they are written.
	 * These names are not refused as misspelt properties. Unset: none.
	 */
	private final List<String> ignoredNames;

	SessionKitProperties(@DefaultValue("true") boolean enabled, @DefaultValue("true") boolean autoRegister,
			@DefaultValue("false") boolean requireSession, @DefaultValue("false") boolean requireFinishReason,
			@Nullable OwnerSource owner, @DefaultValue(DEFAULT_ANY_OWNER_AUTHORITY) String anyOwnerAuthority,
			@Nullable Duration timeToLive, @DefaultValue StoreProperties store, @DefaultValue Trim trim,
			@DefaultValue Retention retention, @DefaultValue Prune prune, @DefaultValue SummarizeProperties summarize,
			@DefaultValue TitleProperties titles, @DefaultValue Codec codec, @DefaultValue SequenceGuard sequenceGuard,
			@DefaultValue Attributes attributes, @DefaultValue Turn turn, @DefaultValue Snapshot snapshot,
			@DefaultValue("turn") Durability durability, @DefaultValue("discard") OnCancel onCancel,
			@DefaultValue("optimistic") Concurrency concurrency, @DefaultValue("60s") Duration concurrencyTimeout,
			@DefaultValue("24h") Duration idempotencyTimeToLive, @DefaultValue("30s") Duration lease,
			@DefaultValue ApprovalProperties approval, @DefaultValue ToolProperties tools,
			@DefaultValue ShutdownProperties shutdown, @DefaultValue("length") TokenEstimate tokenEstimate,
			@DefaultValue PurgeProperties purge, @DefaultValue ObservationProperties observation,
			@DefaultValue StreamProperties streams, @DefaultValue("false") boolean problemDetails,
			@Nullable List<String> ignoredNames) {
		if (!ApprovalProperties.AUTHORITY.matcher(anyOwnerAuthority.strip()).matches()) {
			throw ConfigurationRefusedException.of(ANY_OWNER_AUTHORITY, anyOwnerAuthority,
					"Write the name of one authority, such as ROLE_ADMIN, or leave it out.");
		}
		refuseBelowASecond("time-to-live", timeToLive);
		refuseBelow(Conversations.MIN_LEASE, "lease", lease);
		refuseAbove(LONGEST, "lease", lease);
		refuseBelowASecond("concurrency-timeout", concurrencyTimeout);
		refuseAbove(LONGEST, "concurrency-timeout", concurrencyTimeout);
		refuseBelowASecond("idempotency-time-to-live", idempotencyTimeToLive);
		refuseUnlessBelow("approval.expires-after", approval.expiresAfter(), "time-to-live", timeToLive,
				"a call that waits would be gone with its session before it has expired");
		refuseUnlessBelow("lease", lease, "time-to-live", timeToLive,
				"a session would be gone while the process that works on it may still be silent");
		refuseUnlessBelow("lease", lease, "streams.time-to-live", streams.resumable() ? streams.timeToLive() : null,
				"what is kept of a stream would be gone while its process may still be silent");
		this.enabled = enabled;
		this.autoRegister = autoRegister;
		this.requireSession = requireSession;
		this.requireFinishReason = requireFinishReason;
		this.owner = owner;
		this.anyOwnerAuthority = anyOwnerAuthority.strip();
		this.timeToLive = timeToLive;
		this.store = store;
		this.trim = trim;
		this.retention = retention;
		this.prune = prune;
		this.summarize = summarize;
		this.titles = titles;
		this.codec = codec;
		this.sequenceGuard = sequenceGuard;
		this.attributes = attributes;
		this.turn = turn;
		this.snapshot = snapshot;
		this.durability = durability;
		this.onCancel = onCancel;
		this.concurrency = concurrency;
		this.concurrencyTimeout = concurrencyTimeout;
		this.idempotencyTimeToLive = idempotencyTimeToLive;
		this.lease = lease;
		this.approval = approval;
		this.tools = tools;
		this.shutdown = shutdown;
		this.tokenEstimate = tokenEstimate;
		this.purge = purge;
		this.observation = observation;
		this.streams = streams;
		this.problemDetails = problemDetails;
		this.ignoredNames = (ignoredNames != null) ? List.copyOf(ignoredNames) : List.of();
	}

	public boolean enabled() {
		return this.enabled;
	}

	public boolean autoRegister() {
		return this.autoRegister;
	}

	public boolean requireSession() {
		return this.requireSession;
	}

	public boolean requireFinishReason() {
		return this.requireFinishReason;
	}

	public @Nullable OwnerSource owner() {
		return this.owner;
	}

	public String anyOwnerAuthority() {
		return this.anyOwnerAuthority;
	}

	public @Nullable Duration timeToLive() {
		return this.timeToLive;
	}

	public StoreProperties store() {
		return this.store;
	}

	public Trim trim() {
		return this.trim;
	}

	public Retention retention() {
		return this.retention;
	}

	public Prune prune() {
		return this.prune;
	}

	public SummarizeProperties summarize() {
		return this.summarize;
	}

	public TitleProperties titles() {
		return this.titles;
	}

	public Codec codec() {
		return this.codec;
	}

	public SequenceGuard sequenceGuard() {
		return this.sequenceGuard;
	}

	public Attributes attributes() {
		return this.attributes;
	}

	public Turn turn() {
		return this.turn;
	}

	public Snapshot snapshot() {
		return this.snapshot;
	}

	public Durability durability() {
		return this.durability;
	}

	public OnCancel onCancel() {
		return this.onCancel;
	}

	public Concurrency concurrency() {
		return this.concurrency;
	}

	public Duration concurrencyTimeout() {
		return this.concurrencyTimeout;
	}

	public Duration idempotencyTimeToLive() {
		return this.idempotencyTimeToLive;
	}

	public Duration lease() {
		return this.lease;
	}

	public ApprovalProperties approval() {
		return this.approval;
	}

	public ToolProperties tools() {
		return this.tools;
	}

	public ShutdownProperties shutdown() {
		return this.shutdown;
	}

	public TokenEstimate tokenEstimate() {
		return this.tokenEstimate;
	}

	public PurgeProperties purge() {
		return this.purge;
	}

	public ObservationProperties observation() {
		return this.observation;
	}

	public StreamProperties streams() {
		return this.streams;
	}

	public boolean problemDetails() {
		return this.problemDetails;
	}

	public List<String> ignoredNames() {
		return this.ignoredNames;
	}

	/**
	 * Limits on the history in a request.
	 *
	 * @param maxMessages Maximum number of messages in a request, including those of the
	 * current turn, without system text. History is cut at whole turns, and the current
	 * turn is never cut. Unset: no limit.
	 * @param maxTurns Maximum number of turns of history in a request, without the
	 * current one. Unset: no limit.
	 * @param maxTokens Maximum number of tokens in a request, including those of the
	 * current turn, without system text. History is cut at whole turns, and the current
	 * turn is never cut. Unset: no limit.
	 * @param pins Messages that stay in a request when older turns are left out.
	 */
	public record Trim(@Nullable Integer maxMessages, @Nullable Integer maxTurns, @Nullable Integer maxTokens,
			@DefaultValue Pins pins) {

		public Trim {
			refuseLessThanOne("trim.max-messages", maxMessages, NO_LIMIT);
			refuseLessThan(0, "trim.max-turns", maxTurns, NO_LIMIT);
			refuseLessThanOne("trim.max-tokens", maxTokens, NO_LIMIT);
		}
	}

	/**
	 * Limits on what a session keeps. The oldest turns that exceed them are deleted
	 * permanently.
	 *
	 * @param maxTurns Maximum number of turns of history that a session keeps, at least
	 * 1. It may exceed this by up to one turn less than the batch. Unset: no limit.
	 * @param maxAge How long a session keeps a turn. Turns are deleted when later ones
	 * are stored, within a tenth of this age. Unset: no limit.
	 * @param batch Number of turns after which a session is looked at again. A small
	 * number is exact, a large one costs fewer round trips. Unset: 400, or 1 in memory.
	 */
	public record Retention(@Nullable Integer maxTurns, @Nullable Duration maxAge, @Nullable Integer batch) {

		public Retention {
			refuseLessThanOne("retention.max-turns", maxTurns, ", or leave it out to keep all turns");
			refuseBelowASecond("retention.max-age", maxAge);
			refuseLessThanOne("retention.batch", batch, ", or leave it out for the default");
		}
	}

	/**
	 * Messages that stay in a request when older turns are left out. Each stays with the
	 * whole turn that it belongs to.
	 *
	 * @param firstUserMessage Whether to keep the first user message of a session, or of
	 * its newest start, in the request.
	 * @param roles Roles of messages that stay in the request: user, assistant, system or
	 * tool. Unset: none.
	 * @param metadata Names of metadata entries. Messages with one of them stay in the
	 * request, unless the value is false. Unset: none.
	 */
	public record Pins(@DefaultValue("false") boolean firstUserMessage, @Nullable Set<MessageType> roles,
			@Nullable Set<String> metadata) {

		public Pins {
			refuseBlank("trim.pins.roles", roles, "user, assistant, system or tool");
			refuseBlank("trim.pins.metadata", metadata, "names of metadata entries");
			roles = (roles != null) ? Set.copyOf(roles) : Set.of();
			metadata = (metadata != null) ? Set.copyOf(metadata) : Set.of();
		}

		/** An element that is empty, as between two commas, is bound to null or blank. */
		private static void refuseBlank(String property, @Nullable Set<?> values, String cure) {
			if (values != null && values.stream().anyMatch((each) -> each == null || each.toString().isBlank())) {
				throw ConfigurationRefusedException.of(PREFIX + "." + property, "a list with an empty entry",
						"Write " + cure + ", with no comma too many, or leave it out.");
			}
		}
	}

	/**
	 * Pruning of old tool results in a request.
	 *
	 * @param keepToolResults Number of the newest tool results of the history that stay
	 * in a request. Older results are replaced by a placeholder, except those of pinned
	 * turns. Unset: all stay.
	 */
	public record Prune(@Nullable Integer keepToolResults) {

		public Prune {
			if (keepToolResults != null && keepToolResults < 0) {
				throw ConfigurationRefusedException.of(PREFIX + ".prune.keep-tool-results", keepToolResults,
						"Write 0 or more, or leave it out to keep all.");
			}
		}
	}

	/**
	 * Encoding of stored messages.
	 *
	 * @param strict Whether to fail on a reply with content that cannot be stored,
	 * instead of storing the reply without that content.
	 */
	public record Codec(@DefaultValue("false") boolean strict) {
	}

	/**
	 * Handling of requests that are not a valid sequence of messages.
	 *
	 * @param strict Whether to fail on a request that is not a valid sequence of
	 * messages, instead of repairing it.
	 * @param leadingReplies Whether to send replies in front of the first user message,
	 * such as a greeting. Some providers refuse them.
	 */
	public record SequenceGuard(@DefaultValue("false") boolean strict, @DefaultValue("false") boolean leadingReplies) {
	}

	/**
	 * Limits on session attributes.
	 *
	 * @param maxSize Maximum total size of the attributes of a session in their stored
	 * form, one byte for each character.
	 */
	public record Attributes(@DefaultValue("64KB") DataSize maxSize) {

		public Attributes {
			if (maxSize.toBytes() < 1) {
				throw ConfigurationRefusedException.of(MAX_ATTRIBUTES_SIZE, maxSize,
						"Write a size above zero, such as 64KB.");
			}
		}
	}

	/**
	 * Additional data that is kept with a turn.
	 *
	 * @param parameters Names of advisor parameters whose values are kept with the turn.
	 * They are not sent to the model again unless sessionkit.turn.replay names them.
	 * Unset: none.
	 * @param replay Names of kept parameters that are sent to the model again, after the
	 * question and in this order, when their turn is history; * for all. Unset: none.
	 * @param replayExclude Names of kept parameters that are never sent to the model
	 * again, whatever sessionkit.turn.replay says; * for all. Unset: none.
	 */
	public record Turn(@Nullable List<String> parameters, @Nullable List<String> replay,
			@Nullable List<String> replayExclude) {

		private static final String ALL = "*";

		private static final Pattern TAG = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_.-]*");

		public Turn {
			parameters = (parameters != null) ? List.copyOf(parameters) : List.of();
			replay = (replay != null) ? List.copyOf(replay) : List.of();
			replayExclude = (replayExclude != null) ? List.copyOf(replayExclude) : List.of();
			parameters.forEach(Turn::refuseIfOwn);
			refuseUnlessKept("turn.replay", replay, parameters);
			refuseUnlessKept("turn.replay-exclude", replayExclude, parameters);
			refuseUnlessTags(replay.contains(ALL) ? parameters : replay, replayExclude);
		}

		private static void refuseIfOwn(String name) {
			if (name.isBlank() || name.startsWith(PREFIX + ".") || name.equals(ALL)) {
				throw ConfigurationRefusedException.of(PREFIX + ".turn.parameters", name,
						"Name advisor parameters of the application, such as context.");
			}
		}

		private static void refuseUnlessKept(String property, List<String> names, List<String> parameters) {
			for (String name : names) {
				if (name.equals(ALL) && parameters.isEmpty()) {
					throw ConfigurationRefusedException.of(PREFIX + "." + property, name,
							"No parameter is kept: name those to keep in sessionkit.turn.parameters, or leave it out.");
				}
				if (!name.equals(ALL) && !parameters.contains(name)) {
					throw ConfigurationRefusedException.of(PREFIX + "." + property, name,
							"Only what is kept can be named there: add it to sessionkit.turn.parameters, which is "
									+ parameters + ", or leave it out.");
				}
			}
		}

		private static void refuseUnlessTags(List<String> names, List<String> exclude) {
			for (String name : names) {
				boolean shown = !name.equals(ALL) && !exclude.contains(name);
				if (shown && !TAG.matcher(name).matches()) {
					throw ConfigurationRefusedException.of(PREFIX + ".turn.replay", name,
							"The name becomes a tag: use letters, digits, '_', '-' and '.', or leave it out.");
				}
			}
		}
	}

	/**
	 * Content of the snapshots of sent requests.
	 *
	 * @param keepSystemText Whether to keep the system text in the snapshot of a turn,
	 * instead of only its digest.
	 */
	public record Snapshot(@DefaultValue("false") boolean keepSystemText) {
	}

	/**
	 * Refuses a time that is too short to be of use. A time from the environment is
	 * refused earlier, in the form in which it is written there.
	 */
	static void refuseBelowASecond(String property, @Nullable Duration value) {
		refuseBelow(WrittenTime.SHORTEST, property, value);
	}

	private static void refuseBelow(Duration shortest, String property, @Nullable Duration value) {
		if (value != null && value.compareTo(shortest) < 0) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write " + (shortest.equals(WrittenTime.SHORTEST) ? "one second" : shortest.toMillis() + "ms")
							+ " or more, such as 30s, 30m, 30h or 30d.");
		}
	}

	/**
	 * Refuses a time that is too long to be measured.
	 */
	static void refuseAbove(Duration longest, String property, @Nullable Duration value) {
		if (value != null && value.compareTo(longest) > 0) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write " + longest.toDays() + "d or less, such as 30s, 30m or 12h.");
		}
	}

	private static void refuseUnlessBelow(String property, @Nullable Duration value, String limit,
			@Nullable Duration most, String consequence) {
		if (value != null && most != null && value.compareTo(most) >= 0) {
			throw new ConfigurationRefusedException(
					"The property '" + PREFIX + "." + property + "' is " + WrittenTime.of(value) + " and '" + PREFIX
							+ "." + limit + "' is " + WrittenTime.of(most) + ": " + consequence + ".",
					"Set '" + PREFIX + "." + property + "' to less, or '" + PREFIX + "." + limit + "' to more.");
		}
	}

	static void refuseLessThanOne(String property, @Nullable Number value, String alternative) {
		refuseLessThan(1, property, value, alternative);
	}

	private static void refuseLessThan(long least, String property, @Nullable Number value, String alternative) {
		if (value != null && value.longValue() < least) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write " + least + " or more" + alternative + ".");
		}
	}

}
