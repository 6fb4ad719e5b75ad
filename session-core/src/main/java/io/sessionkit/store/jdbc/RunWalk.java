package io.sessionkit.store.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;

/**
 * The walk from a head to the beginning, run by run.
 */
final class RunWalk {

	private final long pk;

	private final long floor;

	private final long before;

	private final List<ItemRow> items = new ArrayList<>();

	/** One more than requested if it must be known whether a turn fits. */
	private long itemsLeft;

	private long turnsLeft;

	private long next;

	RunWalk(HeaderRow header, Window window) {
		this.pk = header.pk();
		this.floor = header.path().summary();
		this.before = Long.MAX_VALUE;
		this.itemsLeft = window.isEmpty() ? 0 : oneMore(window);
		this.turnsLeft = window.turns();
		this.next = header.path().head();
		leave(header.path().runLo(), header.path().runParent());
	}

	RunWalk(HeaderRow header, Tail tail) {
		this.pk = header.pk();
		this.floor = 0;
		this.before = tail.before();
		this.itemsLeft = tail.limit();
		this.turnsLeft = Integer.MAX_VALUE;
		this.next = header.path().head();
	}

	/**
	 * Returns one more than the limit of items. HSQLDB takes no greater limit than an
	 * int.
	 */
	static long oneMore(Window window) {
		return Math.min(window.items() + 1L, Integer.MAX_VALUE);
	}

	boolean hasNext() {
		return this.itemsLeft > 0 && this.turnsLeft > 0 && this.next > this.floor;
	}

	Params params() {
		return Params.of("pk", this.pk)
			.with("hi", this.next)
			.with("lo", Math.max(this.floor + 1, this.next - this.turnsLeft + 1))
			.with("before", this.before)
			.with("limit", this.itemsLeft);
	}

	/**
	 * Continues with the parent of the run.
	 */
	void leave(long runLo, long runParent) {
		this.turnsLeft -= this.next - runLo + 1;
		this.next = runParent;
	}

	/**
	 * Stops at a turn that is missing. Its session was then deleted too, or created
	 * again.
	 */
	void stop() {
		this.next = 0;
	}

	void read(List<ItemRow> run) {
		this.items.addAll(run);
		this.itemsLeft -= run.size();
	}

	List<ItemRow> items() {
		this.items.sort(Comparator.comparingLong(ItemRow::sequence));
		return this.items;
	}

	/**
	 * Returns the items, without those of the oldest turn if it does not fit as a whole.
	 */
	List<ItemRow> wholeTurns(Window window) {
		this.items.sort(Comparator.comparingLong(ItemRow::sequence));
		if (this.items.size() <= window.items()) {
			return this.items;
		}
		long cut = this.items.get(0).turn();
		return this.items.stream().filter((item) -> item.turn() > cut).toList();
	}

}
