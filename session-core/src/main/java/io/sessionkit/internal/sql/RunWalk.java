package io.sessionkit.internal.sql;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;

/**
 * The walk from a head to the beginning, some turns of a run at a time.
 */
public final class RunWalk {

	private final long pk;

	private final long floor;

	private final long before;

	/** No turn that begins before the end has a greater number. */
	private final long upTo;

	/** The newest first. */
	private final List<TurnItems> turns = new ArrayList<>();

	private final List<ItemRow> apart = new ArrayList<>();

	/** One more than requested if it must be known whether a turn fits. */
	private long itemsLeft;

	private long turnsLeft;

	private long next;

	/**
	 * True if all the rest of a run is read: some turns of it are without items, so that
	 * their numbers do not say where the requested ones begin.
	 */
	private boolean gaps;

	/**
	 * Begins a walk to the newest turns of a view.
	 * @param floor the turn behind which the walk ends
	 */
	public RunWalk(HeaderRow header, long floor, Window window) {
		this.pk = header.pk();
		this.floor = floor;
		this.before = Long.MAX_VALUE;
		this.upTo = Long.MAX_VALUE;
		this.itemsLeft = window.isEmpty() ? 0 : window.items() + 1L;
		this.turnsLeft = window.turns();
		this.next = header.path().head();
	}

	/**
	 * Begins a walk to the items before a sequence.
	 * @param upTo the newest turn that begins before it
	 */
	public RunWalk(HeaderRow header, Tail tail, long upTo) {
		this.pk = header.pk();
		this.floor = 0;
		this.before = tail.before();
		this.upTo = upTo;
		this.itemsLeft = tail.limit();
		this.turnsLeft = Integer.MAX_VALUE;
		this.next = header.path().head();
	}

	/**
	 * Returns how many turns of a window to read at first.
	 */
	public static long turnsFor(Window window) {
		return Math.min(window.turns(), turnsFor(window.items() + 1L));
	}

	/**
	 * Returns how many turns to read at a time. A turn has two items or more, as a rule.
	 * HSQLDB takes no greater limit than an int.
	 */
	private static long turnsFor(long items) {
		return (items < Integer.MAX_VALUE) ? items / 2 + 2 : Integer.MAX_VALUE;
	}

	public boolean hasNext() {
		return this.itemsLeft > 0 && this.turnsLeft > 0 && this.next > this.floor;
	}

	public Params params() {
		return Params.of("pk", this.pk)
			.with("hi", this.next)
			.with("lo", lowest())
			.with("upTo", this.upTo)
			.with("before", this.before)
			.with("limit", limit());
	}

	private long lowest() {
		return Math.max(this.floor + 1, this.gaps ? 1 : this.next - this.turnsLeft + 1);
	}

	private long limit() {
		return Math.min(this.turnsLeft, turnsFor(this.itemsLeft));
	}

	/**
	 * Records what was read of the run that ends with the next turn, and continues with
	 * the turn before: that of the run, if there were as many turns as were asked for or
	 * some of them had no items, or the parent of the run.
	 * @param found the newest turns of the run, the newest first
	 */
	public void read(long runLo, long runParent, List<TurnItems> found) {
		boolean more = found.size() >= limit();
		long first = more ? found.get(found.size() - 1).turn() : Math.max(runLo, lowest());
		this.turnsLeft -= found.size();
		for (TurnItems turn : found) {
			this.itemsLeft -= isWhole() ? turn.count() : 0;
			this.turns.add(turn);
		}
		this.gaps = first > runLo && (this.gaps || !more);
		this.next = (first > runLo) ? first - 1 : runParent;
	}

	/** Only the newest turn that begins before the end may go beyond it. */
	private boolean isWhole() {
		return this.before == Long.MAX_VALUE || !this.turns.isEmpty();
	}

	/**
	 * Stops at a turn that is missing. Its session was then deleted too, or created
	 * again.
	 */
	public void stop() {
		this.next = 0;
	}

	/**
	 * Returns the parameters of a statement that reads the items in rows of their own.
	 * @return the parameters; empty if there are none
	 */
	public Optional<Params> apart() {
		LongSummaryStatistics numbers = this.turns.stream()
			.filter((turn) -> turn.apart() > 0)
			.mapToLong(TurnItems::turn)
			.summaryStatistics();
		return (numbers.getCount() > 0)
				? Optional.of(Params.of("pk", this.pk).with("lo", numbers.getMin()).with("hi", numbers.getMax()))
				: Optional.empty();
	}

	public void readApart(ItemRow item) {
		this.apart.add(item);
	}

	/**
	 * Returns the newest items before the end, oldest first.
	 */
	public List<ItemRow> items(int limit) {
		List<ItemRow> items = items(this.turns);
		items.removeIf((item) -> item.sequence() >= this.before);
		return items.subList(Math.max(0, items.size() - limit), items.size());
	}

	/**
	 * Returns the items of the newest turns that fit as a whole.
	 */
	public List<ItemRow> wholeTurns(Window window) {
		int fitting = 0;
		long items = 0;
		while (fitting < this.turns.size() && items + this.turns.get(fitting).count() <= window.items()) {
			items += this.turns.get(fitting).count();
			fitting++;
		}
		return items(this.turns.subList(0, fitting));
	}

	private List<ItemRow> items(List<TurnItems> chosen) {
		Set<Long> numbers = chosen.stream().map(TurnItems::turn).collect(Collectors.toSet());
		List<ItemRow> items = new ArrayList<>();
		chosen.forEach((turn) -> items.addAll(turn.inRow()));
		this.apart.stream().filter((item) -> numbers.contains(item.turn())).forEach(items::add);
		items.sort(Comparator.comparingLong(ItemRow::sequence));
		return items;
	}

}
