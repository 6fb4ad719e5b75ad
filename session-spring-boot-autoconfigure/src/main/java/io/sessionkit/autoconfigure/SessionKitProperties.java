package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import io.sessionkit.Durability;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.MessageType;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What an application can set. Values that cannot work are refused when they are bound,
 * whichever store is in use.
 *
 * @param enabled Whether sessions are auto-configured. Where they are not, names and
 * values are checked and tools that need an approval are refused all the same.
 * @param autoRegister Whether the session advisor is put on every auto-configured
 * ChatClient.Builder.
 * @param requireSession Whether a ChatClient call that names no session is refused
 * instead of passed through.
 * @param timeToLive How long a new session lives after its last write, such as 30d.
 * Unset: for good.
 * @param store Where the sessions are.
 * @param trim How much history goes with a request.
 * @param prune What is left of old tool results in a request.
 * @param summarize When the older part of a thread is summarized.
 * @param codec How messages are stored.
 * @param sequence What is done with requests that are not a valid sequence.
 * @param state What the attributes of sessions may be.
 * @param turn What else is kept with a turn.
 * @param snapshot What is kept of what was sent.
 * @param durability When a turn is written: turn (when it ends, and when it has to wait)
 * or step (whenever tools are called, and each result at once).
 * @param lease How long a process that works on an open turn may be silent before others
 * may go on with it. It is renewed while the process lives.
 * @param approval Which tool calls need a person's consent.
 * @param purge When expired sessions are deleted.
 * @param ignoredNames Names below sessionkit that belong to something else, as they are
 * written: they are not refused as misspelt properties. Unset: none.
 */
@ConfigurationProperties(SessionKitProperties.PREFIX)
public record SessionKitProperties(@DefaultValue("true") boolean enabled, @DefaultValue("true") boolean autoRegister,
		@DefaultValue("false") boolean requireSession, @Nullable Duration timeToLive,
		@DefaultValue @NestedConfigurationProperty StoreProperties store, @DefaultValue Trim trim,
		@DefaultValue Prune prune, @DefaultValue @NestedConfigurationProperty SummarizeProperties summarize,
		@DefaultValue Codec codec, @DefaultValue Sequence sequence, @DefaultValue State state, @DefaultValue Turn turn,
		@DefaultValue Snapshot snapshot, @DefaultValue("turn") Durability durability,
		@DefaultValue("30s") Duration lease, @DefaultValue @NestedConfigurationProperty ApprovalProperties approval,
		@DefaultValue @NestedConfigurationProperty PurgeProperties purge, @Nullable List<String> ignoredNames) {

	/** What the names of all properties begin with. */
	public static final String PREFIX = "sessionkit";

	static final String ENABLED = PREFIX + ".enabled";

	static final String AUTO_REGISTER = PREFIX + ".auto-register";

	static final String PURGE_ENABLED = PREFIX + ".purge.enabled";

	static final String IGNORED_NAMES = PREFIX + ".ignored-names";

	static final String MAX_STATE_SIZE = PREFIX + ".state.max-size";

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	static final String NO_LIMIT = ", or leave it out for no limit";

	public SessionKitProperties {
		refuseBelowASecond("time-to-live", timeToLive);
		refuseBelowASecond("lease", lease);
		ignoredNames = (ignoredNames != null) ? List.copyOf(ignoredNames) : List.of();
	}

	/**
	 * How much history goes with a request.
	 *
	 * @param maxMessages How many messages a request may have, its own included, without
	 * system text. Cut at whole turns, never in the current one. Unset: no limit.
	 * @param maxTurns How many turns of history go with a request, without the current
	 * one. Unset: no limit.
	 * @param maxTokens How many tokens a request may have, its own included, without
	 * system text. Cut at whole turns, never in the current one. Unset: no limit.
	 * @param pin What stays in the request when older turns are left out.
	 */
	public record Trim(@Nullable Integer maxMessages, @Nullable Integer maxTurns, @Nullable Integer maxTokens,
			@DefaultValue Pin pin) {

		public Trim {
			refuseLessThanOne("trim.max-messages", maxMessages, NO_LIMIT);
			refuseLessThanOne("trim.max-turns", maxTurns, NO_LIMIT);
			refuseLessThanOne("trim.max-tokens", maxTokens, NO_LIMIT);
		}
	}

	/**
	 * What stays in the request when older turns are left out, with the turn that it
	 * belongs to.
	 *
	 * @param firstUserMessage Whether the first user message of a thread stays.
	 * @param roles The roles whose messages stay: user, assistant, system or tool. Unset:
	 * none.
	 * @param metadata Names in the metadata of messages that stay, unless the value is
	 * false. Unset: none.
	 */
	public record Pin(@DefaultValue("false") boolean firstUserMessage, @Nullable Set<MessageType> roles,
			@Nullable Set<String> metadata) {

		public Pin {
			roles = (roles != null) ? Set.copyOf(roles) : Set.of();
			metadata = (metadata != null) ? Set.copyOf(metadata) : Set.of();
		}
	}

	/**
	 * What is left of old tool results in a request.
	 *
	 * @param toolResultsKeep How many of the newest tool results of the history stay;
	 * older ones become a placeholder in the request. Unset: all stay.
	 */
	public record Prune(@Nullable Integer toolResultsKeep) {

		public Prune {
			if (toolResultsKeep != null && toolResultsKeep < 0) {
				throw ConfigurationRefusedException.of(PREFIX + ".prune.tool-results-keep", toolResultsKeep,
						"Write 0 or more, or leave it out to keep all.");
			}
		}
	}

	/**
	 * How messages are stored.
	 *
	 * @param strict Whether a reply with a part that cannot be stored is an error,
	 * instead of being stored without that part.
	 */
	public record Codec(@DefaultValue("false") boolean strict) {
	}

	/**
	 * What is done with requests that are not a valid sequence.
	 *
	 * @param strict Whether a request that is not a valid sequence of messages is an
	 * error, instead of being repaired.
	 * @param leadingReplies Whether replies in front of the first user message are sent,
	 * such as a greeting. Some providers refuse them.
	 */
	public record Sequence(@DefaultValue("false") boolean strict, @DefaultValue("false") boolean leadingReplies) {
	}

	/**
	 * What the attributes of sessions may be.
	 *
	 * @param maxSize How large the attributes of a session may be together as they are
	 * stored, a byte for each character.
	 */
	public record State(@DefaultValue("64KB") DataSize maxSize) {

		public State {
			if (maxSize.toBytes() < 1) {
				throw ConfigurationRefusedException.of(MAX_STATE_SIZE, maxSize,
						"Write a size above zero, such as 64KB.");
			}
		}
	}

	/**
	 * What else is kept with a turn.
	 *
	 * @param inputs Names of advisor parameters whose values are kept with the turn. The
	 * model is not shown them again, unless sessionkit.turn.replay names them. Unset:
	 * none.
	 * @param replay Names of inputs that the model is shown again, behind the question,
	 * when their turn is history, in this order; * for all. Unset: none.
	 * @param replayExclude Names of inputs that the model is not shown again, whatever
	 * sessionkit.turn.replay says; * for all. Unset: none.
	 */
	public record Turn(@Nullable List<String> inputs, @Nullable List<String> replay,
			@Nullable List<String> replayExclude) {

		private static final String ALL = "*";

		private static final Pattern TAG = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_.-]*");

		public Turn {
			inputs = (inputs != null) ? List.copyOf(inputs) : List.of();
			replay = (replay != null) ? List.copyOf(replay) : List.of();
			replayExclude = (replayExclude != null) ? List.copyOf(replayExclude) : List.of();
			inputs.forEach(Turn::refuseIfOwn);
			refuseUnlessKept("turn.replay", replay, inputs);
			refuseUnlessKept("turn.replay-exclude", replayExclude, inputs);
			refuseUnlessTags(replay.contains(ALL) ? inputs : replay, replayExclude);
		}

		private static void refuseIfOwn(String name) {
			if (name.isBlank() || name.startsWith(PREFIX + ".") || name.equals(ALL)) {
				throw ConfigurationRefusedException.of(PREFIX + ".turn.inputs", name,
						"Name advisor parameters of the application, such as context.");
			}
		}

		private static void refuseUnlessKept(String property, List<String> names, List<String> inputs) {
			for (String name : names) {
				if (!inputs.contains(name) && !name.equals(ALL)) {
					throw ConfigurationRefusedException.of(PREFIX + "." + property, name,
							"Only what is kept can be named there: add it to sessionkit.turn.inputs, which is " + inputs
									+ ", or leave it out.");
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
	 * What is kept of what was sent.
	 *
	 * @param system Whether the snapshot of a turn has the system text, and not only its
	 * digest.
	 */
	public record Snapshot(@DefaultValue("false") boolean system) {
	}

	/**
	 * Refuses a time in which nothing can be done. A time that stands in the environment
	 * is refused before, as it is written there.
	 */
	static void refuseBelowASecond(String property, @Nullable Duration value) {
		if (value != null && value.compareTo(SHORTEST) < 0) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write one second or more, such as 30s, 30m, 30h or 30d.");
		}
	}

	static void refuseLessThanOne(String property, @Nullable Number value, String alternative) {
		if (value != null && value.longValue() < 1) {
			throw ConfigurationRefusedException.of(PREFIX + "." + property, value,
					"Write 1 or more" + alternative + ".");
		}
	}

}
