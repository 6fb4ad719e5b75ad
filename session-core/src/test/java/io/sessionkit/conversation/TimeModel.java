package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.sessionkit.Session;
import io.sessionkit.SessionSettings;
import org.jspecify.annotations.Nullable;

/**
 * A model of a session after any number of turns, moves and deletions.
 */
final class TimeModel {

	final List<ModelTurn> turns = new ArrayList<>();

	final Map<String, Long> heads = new TreeMap<>(Map.of(Session.MAIN, 0L));

	/** The summaries, by the last turn that each covers; an empty one is a reset. */
	final Map<Long, String> summaries = new TreeMap<>();

	/** The resets behind which even the seed is not sent. */
	final Set<Long> bare = new HashSet<>();

	/** The summaries in whose place there is a reset. */
	final Map<Long, String> replaced = new HashMap<>();

	final List<Left> lefts = new ArrayList<>();

	String active = Session.MAIN;

	Map<String, Object> attributes = Map.of();

	SessionSettings settings = SessionSettings.NONE;

	/** The first turn that retention has left. */
	long first = 1;

	/** The day by the clock of the store. */
	long day;

	/**
	 * A turn.
	 */
	static final class ModelTurn {

		final long number;

		final long parent;

		final String branch;

		final boolean history;

		List<String> texts;

		Map<String, Object> attributes = Map.of();

		boolean seeded;

		/** The turn that it is, or is a copy of. */
		long original;

		/**
		 * The number of turns of the seed that stay when the session starts anew here.
		 */
		@Nullable Integer keeps;

		/** The history that the model was sent; null if it was not called. */
		@Nullable List<String> sent;

		/** True if something that the model was sent has been deleted. */
		boolean lost;

		/** The day on which it has ended. */
		final long day;

		ModelTurn(long number, long parent, String branch, boolean history, List<String> texts, long day) {
			this.number = number;
			this.original = number;
			this.parent = parent;
			this.branch = branch;
			this.history = history;
			this.texts = texts;
			this.day = day;
		}

		boolean isFilled() {
			return !this.texts.isEmpty();
		}

	}

	/**
	 * Turns that were left, with the resets that were taken back on the way to them. With
	 * 0 as the first turn it is such a reset alone.
	 */
	record Left(long tip, String branch, long fork, long first, List<Reset> resets) {

		Left(long tip, String branch, long fork, long first) {
			this(tip, branch, fork, first, List.of());
		}

		Left from(long head, long next) {
			return new Left(this.tip, this.branch, head, next, this.resets);
		}

		Left with(List<Reset> others) {
			return new Left(this.tip, this.branch, this.fork, this.first, others);
		}

	}

	/**
	 * A reset that was taken back.
	 */
	record Reset(long turn, boolean bare) {
	}

	long head() {
		return this.heads.get(this.active);
	}

	@Nullable ModelTurn find(long number) {
		return (number > 0 && number <= this.turns.size()) ? this.turns.get((int) number - 1) : null;
	}

	/** The turns up to an end, oldest first. */
	List<Long> path(long end) {
		List<Long> path = new ArrayList<>();
		for (ModelTurn turn = find(end); turn != null; turn = find(turn.parent)) {
			path.add(0, turn.number);
		}
		return path;
	}

	/** Returns the first turn of the way to the head that has a text. */
	ModelTurn firstWith(String text) {
		return path(head()).stream()
			.map((number) -> this.turns.get(number.intValue() - 1))
			.filter((turn) -> turn.texts.stream().anyMatch((each) -> each.contains(text)))
			.findFirst()
			.orElseThrow();
	}

	List<String> log() {
		return path(head()).stream().flatMap((number) -> find(number).texts.stream()).toList();
	}

	/** Returns the history with which the next call on an end begins. */
	List<String> view(long end) {
		return view(end, this.first);
	}

	/**
	 * Returns the history with which the next call on an end begins if retention has left
	 * a turn and those after it.
	 */
	List<String> view(long end, long from) {
		List<Long> path = path(end);
		long covered = covered(end);
		List<String> view = new ArrayList<>();
		if (covered > 0 && this.summaries.get(covered).isEmpty()) {
			seed(this.bare.contains(covered) ? List.of() : path.stream().filter((number) -> number <= covered).toList())
				.stream()
				.filter((turn) -> turn.number >= from)
				.forEach((turn) -> view.addAll(turn.texts));
		}
		else if (covered > 0) {
			view.add("Summarize our conversation so far.");
			view.add(this.summaries.get(covered));
		}
		path.stream()
			.filter((number) -> number > covered && number >= from)
			.forEach((number) -> view.addAll(find(number).texts));
		return view;
	}

	/** The number of turns of the view that have messages. */
	long turnsInView() {
		long covered = covered(head());
		return filled(head()).stream().filter((number) -> number > covered).count();
	}

	/** The turns of the way to the head before which retention has deleted none. */
	List<Long> left() {
		return path(head()).stream().filter((number) -> number >= this.first).toList();
	}

	/**
	 * Returns the first turn that exceeds no limit, or that stays since it is the newest.
	 */
	long firstToStay() {
		SessionSettings.RetentionSettings limits = this.settings.retention();
		List<Long> history = filled(head());
		int gone = (limits.maxTurns() != null) ? Math.max(0, history.size() - limits.maxTurns()) : 0;
		while (limits.maxAge() != null && gone < history.size() - 1
				&& this.day - find(history.get(gone)).day > limits.maxAge().toDays()) {
			gone++;
		}
		return (gone > 0) ? Math.max(this.first, history.get(gone - 1) + 1) : this.first;
	}

	/** Deletes the oldest turns, after a turn has become the head. */
	void retain() {
		long before = firstToStay();
		for (long number = this.first; number < before; number++) {
			ModelTurn turn = find(number);
			turn.texts = List.of();
			turn.attributes = Map.of();
			turn.seeded = false;
			turn.keeps = null;
			turn.sent = null;
		}
		this.first = before;
	}

	/** The turns of the seed on a path. */
	private List<ModelTurn> seed(List<Long> path) {
		List<ModelTurn> seed = new ArrayList<>();
		for (long number : path) {
			ModelTurn turn = find(number);
			if (turn.keeps != null) {
				seed.subList(0, Math.max(0, seed.size() - turn.keeps)).clear();
			}
			if (turn.seeded) {
				seed.add(turn);
			}
		}
		return seed;
	}

	/** Starts the session anew with a history of one turn, and a turn behind it. */
	ModelTurn replace(List<String> history, List<String> texts) {
		if (head() > 0) {
			resetAt(head());
			this.bare.add(head());
		}
		ModelTurn first = add(head(), this.active, true, history);
		first.seeded = true;
		first.keeps = 0;
		ModelTurn turn = add(head(), this.active, true, texts);
		turn.keeps = 1;
		return turn;
	}

	long covered(long end) {
		return path(end).stream().filter(this.summaries::containsKey).max(Comparator.naturalOrder()).orElse(0L);
	}

	/** A turn that becomes history behind a parent, on a branch. */
	ModelTurn add(long parent, String branch, boolean history, List<String> texts) {
		ModelTurn turn = new ModelTurn(this.turns.size() + 1L, parent, branch, history, texts, this.day);
		boolean atHead = branch.equals(this.active) && parent == head();
		turn.attributes = atHead ? this.attributes : attributesOf(parent);
		this.turns.add(turn);
		if (history) {
			if (branch.equals(this.active)) {
				this.attributes = turn.attributes;
			}
			this.heads.put(branch, turn.number);
		}
		return turn;
	}

	/** Remembers what a turn in the place behind a parent leaves. */
	void leave(long parent) {
		if (parent != head()) {
			long next = path(head()).stream().filter((number) -> number > parent).findFirst().orElse(0L);
			addLeft(new Left(head(), this.active, parent, next));
		}
	}

	private void addLeft(Left left) {
		this.lefts.removeIf((each) -> each.tip() == left.tip() && each.branch().equals(left.branch()));
		this.lefts.add(left);
	}

	/** The first turn with messages behind another one, on the way to the head. */
	private long next(long parent) {
		return filled(head()).stream().filter((number) -> number > parent).findFirst().orElse(head());
	}

	void put(Map<String, Object> all) {
		this.attributes = all;
		if (find(head()) != null) {
			find(head()).attributes = all;
		}
	}

	private Map<String, Object> attributesOf(long number) {
		return (find(number) != null) ? find(number).attributes : Map.of();
	}

	private void moveTo(long number) {
		this.heads.put(this.active, number);
		this.attributes = attributesOf(number);
	}

	/** The turns of a path that have messages. */
	List<Long> filled(long end) {
		return path(end).stream().filter((number) -> find(number).isFilled()).toList();
	}

	/** The numbers of the undone turns, newest first. */
	List<Long> undo(int turns) {
		List<Long> path = filled(head());
		List<Long> gone = new ArrayList<>(path.subList(Math.max(0, path.size() - turns), path.size()));
		long from = (gone.size() == turns) ? gone.get(0) : 0;
		long reset = path(head()).stream()
			.filter((number) -> number >= from && "".equals(this.summaries.get(number)))
			.max(Comparator.naturalOrder())
			.orElse(0L);
		gone.removeIf((number) -> number <= reset);
		if (gone.isEmpty()) {
			if (reset > 0 && reset == covered(head())) {
				rememberTakenBack(new Reset(reset, this.bare.contains(reset)));
				this.summaries.remove(reset);
				if (this.replaced.containsKey(reset)) {
					this.summaries.put(reset, this.replaced.remove(reset));
				}
				else {
					moveTo(head());
				}
			}
			return gone;
		}
		long first = gone.get(0);
		Left before = newestAt(head());
		Left left = (before != null) ? before.from(find(first).parent, first)
				: new Left(head(), this.active, find(first).parent, first);
		if (before != null) {
			this.lefts.set(this.lefts.indexOf(before), left);
		}
		else {
			addLeft(left);
		}
		moveTo(find(first).parent);
		Collections.reverse(gone);
		return gone;
	}

	private void rememberTakenBack(Reset reset) {
		Left before = newestAt(head());
		Left left = (before != null) ? before : new Left(head(), this.active, head(), 0);
		List<Reset> resets = new ArrayList<>(left.resets());
		resets.removeIf((each) -> each.turn() == reset.turn());
		resets.add(reset);
		if (before != null) {
			this.lefts.set(this.lefts.indexOf(before), left.with(resets));
		}
		else {
			addLeft(left.with(resets));
		}
	}

	/** The resets of turns that were left that are not made again by now. */
	private List<Reset> comingBack(Left left) {
		return left.resets().stream().filter((reset) -> !"".equals(this.summaries.get(reset.turn()))).toList();
	}

	private void resetAgain(Reset reset) {
		resetAt(reset.turn());
		if (reset.bare()) {
			this.bare.add(reset.turn());
		}
		else {
			this.bare.remove(reset.turn());
		}
	}

	private @Nullable Left newestAt(long head) {
		Left newest = null;
		for (Left left : this.lefts) {
			boolean here = left.fork() == head || isEmptyBetween(head, left.fork());
			newest = (left.branch().equals(this.active) && here) ? left : newest;
		}
		return newest;
	}

	private boolean isEmptyBetween(long head, long fork) {
		List<Long> path = path(fork);
		List<Long> way = path.stream().filter((number) -> number > head).toList();
		return !way.isEmpty() && (head == 0 || path.contains(head))
				&& way.stream().noneMatch((number) -> find(number).isFilled());
	}

	List<Long> redo(int turns) {
		Left left = newestAt(head());
		if (left == null) {
			return List.of();
		}
		long from = head();
		List<Long> behind = filled(left.tip()).stream().filter((number) -> number > from).toList();
		List<Long> again = behind.subList(0, Math.min(turns, behind.size()));
		boolean all = again.size() < turns;
		List<Reset> resets = comingBack(left);
		long last = again.isEmpty() ? from : again.get(again.size() - 1);
		long to = all ? Math.max(last, resets.stream().mapToLong(Reset::turn).max().orElse(0)) : last;
		List<Reset> back = resets.stream().filter((reset) -> all || reset.turn() < to).toList();
		if (again.isEmpty() && back.isEmpty()) {
			return List.of();
		}
		List<Reset> rest = resets.stream().filter((reset) -> !back.contains(reset)).toList();
		if (again.size() == behind.size() && rest.isEmpty()) {
			this.lefts.remove(left);
		}
		else {
			long next = (again.size() < behind.size()) ? behind.get(again.size()) : 0;
			this.lefts.set(this.lefts.indexOf(left), left.from(to, next).with(rest));
		}
		back.forEach(this::resetAgain);
		moveTo(to);
		return again;
	}

	List<Long> siblings(long number) {
		Set<Long> siblings = new TreeSet<>(Set.of(number));
		this.lefts.stream()
			.filter((left) -> left.branch().equals(this.active) && left.first() > 0)
			.filter((left) -> left.fork() == find(number).parent)
			.forEach((left) -> siblings.add(left.first()));
		return List.copyOf(siblings);
	}

	/** The turns that were left on the active branch, by the turn that they follow. */
	Map<Long, Set<Long>> siblings() {
		Map<Long, Set<Long>> siblings = new TreeMap<>();
		this.lefts.stream()
			.filter((left) -> left.branch().equals(this.active) && left.first() > 0)
			.forEach((left) -> siblings.computeIfAbsent(left.fork(), (fork) -> new TreeSet<>()).add(left.first()));
		return siblings;
	}

	void choose(long sibling) {
		List<Long> before = path(head());
		if (before.contains(sibling)) {
			return;
		}
		Left there = null;
		for (Left left : this.lefts) {
			there = (left.branch().equals(this.active) && left.first() == sibling) ? left : there;
		}
		this.lefts.remove(there);
		List<Long> back = new ArrayList<>(path(there.tip()));
		long fork = back.stream().filter(before::contains).max(Comparator.naturalOrder()).orElse(0L);
		back.removeAll(before);
		this.lefts.replaceAll((left) -> (left.branch().equals(this.active) && back.contains(left.first()))
				? without(left, back) : left);
		this.lefts.removeIf(Objects::isNull);
		comingBack(there).forEach(this::resetAgain);
		if (head() != fork) {
			addLeft(new Left(head(), this.active, fork, next(fork)));
		}
		moveTo(there.tip());
	}

	/**
	 * Returns what is left of it when the head comes back to turns; null if nothing is.
	 */
	private @Nullable Left without(Left left, List<Long> back) {
		long fork = path(left.tip()).stream().filter(back::contains).max(Comparator.naturalOrder()).orElse(0L);
		long first = filled(left.tip()).stream().filter((number) -> number > fork).findFirst().orElse(0L);
		return (first > 0) ? left.from(fork, first) : null;
	}

	void branch(String name, long head) {
		Map<String, Object> before = (head() == 0 && head == 0) ? this.attributes : null;
		this.heads.put(name, head);
		switchTo(name);
		this.attributes = (before != null) ? before : this.attributes;
	}

	void switchTo(String name) {
		if (!name.equals(this.active)) {
			this.active = name;
			this.attributes = attributesOf(head());
		}
	}

	void deleteBranch(String name) {
		if (name.equals(this.active)) {
			switchTo(Session.MAIN);
		}
		Set<Long> own = new HashSet<>(path(this.heads.remove(name)));
		this.lefts.stream()
			.filter((left) -> left.branch().equals(name))
			.forEach((left) -> own.addAll(path(left.tip())));
		this.lefts.removeIf((left) -> left.branch().equals(name));
		Set<Long> stay = new HashSet<>();
		this.heads.values().forEach((head) -> stay.addAll(path(head)));
		this.lefts.forEach((left) -> stay.addAll(path(left.tip())));
		Set<Long> gone = new HashSet<>();
		this.turns.stream()
			.filter((turn) -> turn.branch.equals(name) || own.contains(turn.number))
			.filter((turn) -> !stay.contains(turn.number) && turn.isFilled())
			.forEach((turn) -> gone.add(turn.number));
		empty(gone);
	}

	/** Deletes a turn by its number. */
	void delete(long number) {
		if (find(number).isFilled()) {
			empty(Set.of(number));
		}
		else if (number < this.first) {
			loseWhatShows(Set.of(number));
			loseSummariesOf(Set.of(number));
		}
	}

	/** Takes what is deleted out of what the model was sent. */
	private void loseWhatShows(Set<Long> gone) {
		this.turns.stream()
			.filter((turn) -> gone.contains(turn.number) || path(turn.parent).stream().anyMatch(gone::contains))
			.forEach((turn) -> turn.lost = true);
	}

	/** Deletes the items of turns. */
	private void empty(Set<Long> gone) {
		if (gone.isEmpty()) {
			return;
		}
		loseWhatShows(gone);
		long inForce = covered(head());
		gone.forEach((number) -> find(number).texts = List.of());
		loseSummariesOf(gone);
		if (gone.contains(head())) {
			long after = path(head()).stream()
				.filter((number) -> number == inForce || find(number).isFilled())
				.max(Comparator.naturalOrder())
				.orElse(0L);
			Map<String, Object> before = this.attributes;
			moveTo(after);
			put(before);
		}
	}

	private void loseSummariesOf(Set<Long> gone) {
		this.replaced.keySet().removeIf((covered) -> path(covered).stream().anyMatch(gone::contains));
		this.summaries.entrySet()
			.removeIf((each) -> !each.getValue().isEmpty() && path(each.getKey()).stream().anyMatch(gone::contains));
	}

	private void resetAt(long number) {
		String before = this.summaries.put(number, "");
		if (before != null && !before.isEmpty()) {
			this.replaced.put(number, before);
		}
	}

	/** A session that was just reset stays as it is. */
	void reset() {
		if (turnsInView() == 0 && "".equals(this.summaries.get(covered(head())))) {
			return;
		}
		this.bare.remove(head());
		resetAt(head());
	}

	Map<String, Object> with(String name, Object value) {
		Map<String, Object> all = new HashMap<>(this.attributes);
		all.put(name, value);
		return all;
	}

}
