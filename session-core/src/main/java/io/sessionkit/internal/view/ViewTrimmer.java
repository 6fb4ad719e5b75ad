package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;

import io.sessionkit.SessionKey;
import io.sessionkit.context.Trim;
import io.sessionkit.internal.view.History.Kind;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Keeps a request within the limits on messages and tokens while the tool loop makes the
 * current turn longer. It leaves out the oldest turns first, then the summary, then
 * pinned turns. A pinned turn or summary for which there is no room in any case is left
 * out first. The current turn stays. Not safe for use by many threads.
 */
public final class ViewTrimmer {

	private static final Log logger = LogFactory.getLog(ViewTrimmer.class);

	private final SessionKey key;

	private final History history;

	private final Trim trim;

	private final @Nullable RequestSize size;

	private final TokenMemory memory;

	private boolean overLimit;

	private boolean trimmed;

	/**
	 * Creates the trimmer for the requests of a turn.
	 * @param size counts tokens; may be null if the limits do not
	 * @param memory knows what was reported of the session
	 */
	public ViewTrimmer(SessionKey key, History history, Trim trim, @Nullable RequestSize size, TokenMemory memory) {
		this.key = key;
		this.history = history;
		this.trim = trim;
		this.size = size;
		this.memory = memory;
		if (history.isWithoutPins()) {
			reportPins();
		}
		if (history.isSummaryTooLarge()) {
			logger.warn("The summary of session " + key + " alone is larger than trim.max-tokens allows, so requests"
					+ " leave it out. A new one replaces it: Conversation.summarize(true).");
		}
	}

	public boolean isOverLimit() {
		return this.overLimit;
	}

	/** Returns whether some request was made shorter. */
	public boolean hasTrimmed() {
		return this.trimmed;
	}

	/**
	 * Returns the request without the turns that cannot be sent in any case. If the
	 * current turn alone is larger than the limits, that is not reported yet.
	 * @param current finds the index at which the current turn begins
	 */
	List<Message> fitRoughly(List<Message> request, IntSupplier current) {
		return isOver(request) ? shorter(request, current, UnaryOperator.identity()) : request;
	}

	/**
	 * Returns the request as it may be sent: a valid sequence with as many of the newest
	 * turns as fit. The size is measured after the guard has run, because a repair can
	 * add messages.
	 * @param current finds the index at which the current turn begins
	 */
	List<Message> fit(List<Message> request, IntSupplier current, UnaryOperator<List<Message>> guard) {
		List<Message> sent = guard.apply(request);
		if (isOver(sent)) {
			sent = shorter(request, current, guard);
			if (isOver(sent)) {
				report(sent);
			}
		}
		return sent;
	}

	private List<Message> shorter(List<Message> request, IntSupplier current, UnaryOperator<List<Message>> guard) {
		Set<Message> left = Collections.newSetFromMap(new IdentityHashMap<>());
		long messages = RequestSize.messages(request);
		double tokens = tokens(request);
		for (RequestUnits.Unit unit : units(request, current.getAsInt())) {
			left.addAll(unit.messages());
			this.trimmed = true;
			messages -= RequestSize.messages(unit.messages());
			tokens -= tokens(unit.messages());
			if (!isOver(messages, tokens)) {
				List<Message> sent = guard.apply(without(request, left));
				if (!isOver(sent)) {
					return sent;
				}
			}
		}
		return guard.apply(without(request, left));
	}

	/**
	 * Returns the units before the current turn, in the order in which they are left out.
	 */
	private List<RequestUnits.Unit> units(List<Message> request, int current) {
		List<RequestUnits.Unit> units = RequestUnits.beforeCurrentTurn(request, current, this.history);
		Set<RequestUnits.Unit> first = withoutRoom(units,
				without(request, units.stream().flatMap((unit) -> unit.messages().stream()).toList()));
		List<RequestUnits.Unit> ordered = new ArrayList<>();
		units.stream().filter(first::contains).forEach(ordered::add);
		units.stream().filter((unit) -> !first.contains(unit)).forEach(ordered::add);
		return ordered;
	}

	/**
	 * Returns the pinned units and the summary for which there is no room even without
	 * turns. The newest pinned units have the first choice.
	 * @param others what stays in any case
	 */
	private Set<RequestUnits.Unit> withoutRoom(List<RequestUnits.Unit> units, List<Message> others) {
		Set<RequestUnits.Unit> without = Collections.newSetFromMap(new IdentityHashMap<>());
		Room room = new Room(others);
		byChoice(units).stream().filter((unit) -> !room.takes(unit.messages())).forEach(without::add);
		if (!isOver(others) && without.stream().anyMatch((unit) -> unit.kind() == Kind.PINNED)) {
			reportPins();
		}
		return without;
	}

	private static List<RequestUnits.Unit> byChoice(List<RequestUnits.Unit> units) {
		List<RequestUnits.Unit> ordered = new ArrayList<>(of(Kind.PINNED, units));
		Collections.reverse(ordered);
		ordered.addAll(of(Kind.SUMMARY, units));
		return ordered;
	}

	private static List<RequestUnits.Unit> of(Kind kind, List<RequestUnits.Unit> units) {
		return units.stream().filter((unit) -> unit.kind() == kind).toList();
	}

	private static List<Message> without(List<Message> request, List<Message> left) {
		Set<Message> out = Collections.newSetFromMap(new IdentityHashMap<>());
		out.addAll(left);
		return without(request, out);
	}

	private static List<Message> without(List<Message> request, Set<Message> left) {
		List<Message> shorter = new ArrayList<>(request.size());
		for (Message message : request) {
			if (!left.contains(message)) {
				shorter.add(message);
			}
		}
		return shorter;
	}

	private boolean isOver(List<Message> request) {
		return hasLimit() && isOver(RequestSize.messages(request), tokens(request));
	}

	private boolean isOver(long messages, double tokens) {
		return messages > this.trim.maxMessages() || tokens > this.trim.maxTokens();
	}

	private boolean hasLimit() {
		return this.trim.maxMessages() != Integer.MAX_VALUE || this.trim.limitsTokens();
	}

	private double tokens(List<Message> messages) {
		return (this.size != null && this.trim.limitsTokens()) ? this.size.tokens(messages) : 0;
	}

	private void reportPins() {
		if (this.memory.isFirstReportOfPins(this.key, this.trim)) {
			logger.warn("A pinned turn of session " + this.key
					+ " has no room within trim.max-turns, trim.max-messages or"
					+ " trim.max-tokens beside the current turn and newer pinned ones, so requests leave it out. Raise the"
					+ " limit, or pin less. Logged once for the session and these limits.");
		}
	}

	private void report(List<Message> sent) {
		if (!this.overLimit) {
			String tokens = this.trim.limitsTokens() ? " and " + Math.round(tokens(sent)) + " tokens" : "";
			logger.warn("A request on session " + this.key + " has " + RequestSize.messages(sent) + " messages" + tokens
					+ ", more than trim.max-messages or trim.max-tokens allow: the current turn alone is larger, and it"
					+ " is sent whole.");
		}
		this.overLimit = true;
	}

	/** What the limits leave beside messages. */
	private final class Room {

		private long messages;

		private double tokens;

		Room(List<Message> others) {
			this.messages = RequestSize.messages(others);
			this.tokens = ViewTrimmer.this.tokens(others);
		}

		/** Returns whether there is room for messages, which they take then. */
		boolean takes(List<Message> more) {
			long messages = this.messages + RequestSize.messages(more);
			double tokens = this.tokens + ViewTrimmer.this.tokens(more);
			if (isOver(messages, tokens)) {
				return false;
			}
			this.messages = messages;
			this.tokens = tokens;
			return true;
		}

	}

}
