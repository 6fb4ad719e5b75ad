package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

import io.sessionkit.context.Pins;
import io.sessionkit.context.Trim;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * The messages that precede the input of a turn: a summary, pinned turns and the newest
 * turns, in units that are sent as a whole or not at all. Turns of which one has tool
 * calls and the next one their results are one unit. A history does not change once it is
 * created. Not safe for use by many threads.
 */
public final class History {

	/**
	 * The reason why a unit is in the history. The order of the constants is the order in
	 * which units are left out if there is no room for all of them; only a pinned unit or
	 * a summary that has no room in any case is left out before turns.
	 */
	enum Kind {

		TURN, SUMMARY, PINNED,

		/** The call has brought the unit, so it is never left out. */
		GIVEN,

		/** The unit belongs to the current turn, so it is never left out. */
		CARRIED

	}

	/**
	 * Messages that belong together.
	 */
	record Unit(Kind kind, List<ViewLine> lines) {

		/** Returns whether a limit on turns counts the unit. */
		boolean isTurn() {
			return this.kind == Kind.TURN || this.kind == Kind.PINNED;
		}

		/** Returns whether no limit applies to the unit. */
		boolean stays() {
			return this.kind == Kind.CARRIED || this.kind == Kind.GIVEN;
		}

		int tokens() {
			int tokens = 0;
			for (ViewLine line : this.lines) {
				tokens += line.tokens();
			}
			return tokens;
		}

	}

	private final List<Unit> units;

	private final List<ViewLine> lines;

	private final List<Message> messages;

	private final boolean summaryTooLarge;

	private final boolean withoutPins;

	/** Null until it is first needed: most histories are sent as they are. */
	private @Nullable Map<Message, Unit> unitOf;

	private History(List<Unit> units, List<ViewLine> lines, boolean summaryTooLarge, boolean withoutPins) {
		this.summaryTooLarge = summaryTooLarge;
		this.withoutPins = withoutPins;
		this.units = units;
		this.lines = lines;
		this.messages = messages(lines);
	}

	/**
	 * Creates the history from the lines of a view that the limits leave. What is read of
	 * a session is a guess if tokens are limited, so they are counted here: hooks and a
	 * merge are to be given the same history however much was read.
	 * @param view the lines of the view
	 * @param covered the last turn that a summary covers; the lines that are left of
	 * these turns were pinned when the summary was written
	 * @param head the head of the session
	 * @param trim the limits, with the tokens as they are estimated
	 * @param limit the number of the newest messages that a call allows, cut at a turn
	 * @param input the messages that the current turn begins with
	 * @param tokens estimates those
	 */
	public static History of(List<ViewLine> view, long covered, long head, Trim trim, int limit, List<Message> input,
			ToIntFunction<Message> tokens) {
		List<Unit> units = units(view, covered, trim.pins());
		int all = units.size();
		boolean summaryTooLarge = trim.limitsTokens()
				&& size(units, EnumSet.of(Kind.SUMMARY), Unit::tokens) > trim.maxTokens();
		carry(units, CarriedTurns.start(view, head, input));
		leaveNewest(units, limit);
		int pins = pins(units);
		// pins for which there are not enough tokens take no room from other turns
		leave(units, trim.maxTokens(), Unit::tokens, () -> tokens(input, tokens));
		leave(units, trim.maxTurns(), (unit) -> unit.isTurn() ? 1 : 0, () -> 0);
		return new History(units, (units.size() == all) ? view : lines(units), summaryTooLarge, pins(units) < pins);
	}

	/**
	 * Creates the history that a call brings, to which no limit applies.
	 * @param lines its messages
	 */
	public static History given(List<ViewLine> lines) {
		List<Unit> units = new ArrayList<>();
		for (Unit unit : units(lines, 0, Pins.NONE)) {
			units.add(new Unit(Kind.GIVEN, unit.lines()));
		}
		return new History(units, lines, false, false);
	}

	/**
	 * Returns the lines of a view that are pinned.
	 * @param covered the last turn that a summary covers
	 */
	static Set<ViewLine> pinned(List<ViewLine> view, long covered, Pins pins) {
		Set<ViewLine> pinned = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Unit unit : (covered == 0 && pins.isEmpty()) ? List.<Unit>of() : units(view, covered, pins)) {
			if (unit.kind() == Kind.PINNED) {
				pinned.addAll(unit.lines());
			}
		}
		return pinned;
	}

	/**
	 * Removes the oldest units until the rest is within the call's limit. This happens
	 * before the other limits choose, so that no older messages take the place of newer
	 * ones.
	 */
	private static void leaveNewest(List<Unit> units, int limit) {
		int messages = 0;
		for (Unit unit : units) {
			messages += (unit.kind() != Kind.CARRIED) ? unit.lines().size() : 0;
		}
		while (messages > limit) {
			messages -= units.remove(0).lines().size();
		}
	}

	/** Limits do not count system text. */
	private static int tokens(List<Message> input, ToIntFunction<Message> tokens) {
		return input.stream()
			.filter((message) -> message.getMessageType() != MessageType.SYSTEM)
			.mapToInt(tokens)
			.sum();
	}

	/**
	 * Removes units until the rest is not larger than the limit allows.
	 * @param input supplies the size of what the current turn begins with
	 */
	private static void leave(List<Unit> units, int limit, ToIntFunction<Unit> size, IntSupplier input) {
		if (limit == Integer.MAX_VALUE) {
			return;
		}
		long sum = 0;
		for (Unit unit : units) {
			sum += size.applyAsInt(unit);
		}
		if (sum <= limit) {
			return;
		}
		for (Unit unit : inOrderOfLeaving(units, (long) limit - input.getAsInt(), size)) {
			int without = size.applyAsInt(unit);
			if (sum > limit && without > 0 && !unit.stays()) {
				units.remove(unit);
				sum -= without;
			}
		}
	}

	/**
	 * Marks the units that belong to the current turn.
	 * @param start the index of the first line that belongs to the current turn
	 */
	private static void carry(List<Unit> units, int start) {
		int line = 0;
		for (int i = 0; i < units.size(); i++) {
			List<ViewLine> lines = units.get(i).lines();
			if (line >= start) {
				units.set(i, new Unit(Kind.CARRIED, lines));
			}
			line += lines.size();
		}
	}

	/**
	 * Returns the messages at the end that belong to the current turn.
	 */
	public List<Message> carried() {
		int carried = 0;
		for (Unit unit : this.units) {
			carried += (unit.kind() == Kind.CARRIED) ? unit.lines().size() : 0;
		}
		return (carried > 0) ? this.messages.subList(this.messages.size() - carried, this.messages.size()) : List.of();
	}

	public List<ViewLine> lines() {
		return this.lines;
	}

	public List<Message> messages() {
		return this.messages;
	}

	/**
	 * Returns whether the summary alone is larger than the limit on tokens, so that no
	 * request can have it.
	 */
	boolean isSummaryTooLarge() {
		return this.summaryTooLarge;
	}

	/**
	 * Returns whether limits on turns or tokens have left out something that is pinned.
	 */
	boolean isWithoutPins() {
		return this.withoutPins;
	}

	/**
	 * Returns the indexes of the messages at which a unit begins: a turn, or a summary.
	 */
	public List<Integer> starts() {
		List<Integer> starts = new ArrayList<>();
		int start = 0;
		for (Unit unit : this.units) {
			starts.add(start);
			start += unit.lines().size();
		}
		return starts;
	}

	/**
	 * Returns the unit that a message belongs to.
	 * @return the unit; null if the message is not part of the history
	 */
	@Nullable Unit unitOf(Message message) {
		Map<Message, Unit> known = this.unitOf;
		if (known == null) {
			known = new IdentityHashMap<>();
			for (Unit unit : this.units) {
				for (ViewLine line : unit.lines()) {
					known.put(line.message(), unit);
				}
			}
			this.unitOf = known;
		}
		return known.get(message);
	}

	/**
	 * Returns the units in the order in which they are left out. What has no room beside
	 * what stays longer than it is left out first, so that it does not take all turns
	 * with it.
	 * @param room the size of all that may stay
	 */
	private static List<Unit> inOrderOfLeaving(List<Unit> units, long room, ToIntFunction<Unit> size) {
		Set<Unit> first = withoutRoom(units, room, size);
		List<Unit> ordered = new ArrayList<>();
		units.stream().filter(first::contains).forEach(ordered::add);
		for (Kind kind : Kind.values()) {
			units.stream().filter((unit) -> unit.kind() == kind && !first.contains(unit)).forEach(ordered::add);
		}
		return ordered;
	}

	/**
	 * Returns the pinned units and the summary for which there is no room even without
	 * turns. The newest pinned units have the first choice.
	 */
	private static Set<Unit> withoutRoom(List<Unit> units, long room, ToIntFunction<Unit> size) {
		Set<Unit> without = Collections.newSetFromMap(new IdentityHashMap<>());
		long left = room - size(units, EnumSet.of(Kind.GIVEN, Kind.CARRIED), size);
		for (Kind kind : List.of(Kind.PINNED, Kind.SUMMARY)) {
			for (int i = units.size() - 1; i >= 0; i--) {
				Unit unit = units.get(i);
				if (unit.kind() == kind && size.applyAsInt(unit) > left) {
					without.add(unit);
				}
				else if (unit.kind() == kind) {
					left -= size.applyAsInt(unit);
				}
			}
		}
		return without;
	}

	private static int pins(List<Unit> units) {
		int pins = 0;
		for (Unit unit : units) {
			pins += (unit.kind() == Kind.PINNED) ? 1 : 0;
		}
		return pins;
	}

	private static long size(List<Unit> units, Set<Kind> kinds, ToIntFunction<Unit> size) {
		return units.stream().filter((unit) -> kinds.contains(unit.kind())).mapToLong(size::applyAsInt).sum();
	}

	private static List<ViewLine> lines(List<Unit> units) {
		List<ViewLine> lines = new ArrayList<>();
		for (Unit unit : units) {
			lines.addAll(unit.lines());
		}
		return lines;
	}

	private static List<Message> messages(List<ViewLine> lines) {
		List<Message> messages = new ArrayList<>(lines.size());
		for (ViewLine line : lines) {
			messages.add(line.message());
		}
		return Collections.unmodifiableList(messages);
	}

	private static List<Unit> units(List<ViewLine> view, long covered, Pins pins) {
		Message first = (pins.firstUserMessage() && isBeginning(view, covered)) ? firstUser(view) : null;
		List<Unit> units = new ArrayList<>();
		int from = 0;
		for (int i = 1; i <= view.size(); i++) {
			if (i == view.size() || isBetweenUnits(view.get(i - 1), view.get(i), covered)) {
				List<ViewLine> lines = view.subList(from, i);
				units.add(new Unit(kind(lines, covered, pins, first), lines));
				from = i;
			}
		}
		return units;
	}

	/**
	 * Returns whether a unit ends between two lines. Turns that are linked are one unit.
	 * What was pinned before a summary is not linked with what follows the summary.
	 */
	private static boolean isBetweenUnits(ViewLine before, ViewLine after, long covered) {
		if (before.turn() == after.turn()) {
			return false;
		}
		boolean linked = (before.turn() > covered || after.turn() <= covered)
				&& CarriedTurns.areLinked(before.message(), after.message());
		return !linked;
	}

	private static Kind kind(List<ViewLine> lines, long covered, Pins pins, @Nullable Message first) {
		long turn = lines.get(0).turn();
		if (turn == 0) {
			return Kind.SUMMARY;
		}
		return ((turn > 0 && turn <= covered) || isPinned(lines, pins, first)) ? Kind.PINNED : Kind.TURN;
	}

	private static boolean isPinned(List<ViewLine> lines, Pins pins, @Nullable Message first) {
		if (pins.isEmpty()) {
			return false;
		}
		for (ViewLine line : lines) {
			if (line.message() == first || pins.pins(line.message())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns whether a view begins with the first turn, or with the first one behind a
	 * new start: there is neither a summary, nor anything that was kept from before it.
	 */
	private static boolean isBeginning(List<ViewLine> view, long covered) {
		return covered == 0 || view.stream().noneMatch((line) -> line.turn() >= 0 && line.turn() <= covered);
	}

	private static @Nullable Message firstUser(List<ViewLine> view) {
		for (ViewLine line : view) {
			if (line.turn() >= 0 && line.message().getMessageType() == MessageType.USER) {
				return line.message();
			}
		}
		return null;
	}

}
