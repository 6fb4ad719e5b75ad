package io.sessionkit.store.jdbc;

import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import org.jspecify.annotations.Nullable;

/**
 * A header while a commit changes it. For one thread.
 */
final class HeaderDraft {

	private final HeaderRow seen;

	private final long now;

	private long version;

	private long turns;

	private long items;

	private long openTurn;

	private HeaderRow.Path path;

	private ViewTotals totals;

	private String branch;

	private @Nullable String title;

	private @Nullable String tags;

	private @Nullable String settings;

	private @Nullable String attributes;

	private @Nullable Long timeToLive;

	private boolean touched;

	HeaderDraft(HeaderRow seen, long now) {
		this.seen = seen;
		this.now = now;
		this.version = seen.version();
		this.turns = seen.turns();
		this.items = seen.items();
		this.openTurn = seen.openTurn();
		this.path = seen.path();
		this.totals = seen.totals();
		this.branch = seen.branch();
		this.title = seen.title();
		this.tags = seen.tags();
		this.settings = seen.settings();
		this.attributes = seen.attributes();
		this.timeToLive = seen.life().timeToLive();
	}

	HeaderRow seen() {
		return this.seen;
	}

	long pk() {
		return this.seen.pk();
	}

	/**
	 * Returns the time by the clock of the database, by which records are judged and
	 * dated, as they are outside of a commit.
	 */
	long now() {
		return this.now;
	}

	long version() {
		return this.version;
	}

	long turns() {
		return this.turns;
	}

	HeaderRow.Path path() {
		return this.path;
	}

	@Nullable String attributes() {
		return this.attributes;
	}

	ViewTotals totals() {
		return this.totals;
	}

	String branch() {
		return this.branch;
	}

	/** Returns the next number for a turn. */
	long nextTurn() {
		return ++this.turns;
	}

	/**
	 * Reserves the next sequences for items.
	 * @return the first of them
	 */
	long nextItems(int count) {
		long first = this.items + 1;
		this.items += count;
		return first;
	}

	void branch(String branch) {
		this.branch = branch;
	}

	/** Sets the head, and the summary and attributes in force there. */
	void head(HeaderRow.Path path, @Nullable String attributes) {
		this.path = path;
		this.attributes = attributes;
	}

	void totals(ViewTotals totals) {
		this.totals = totals;
	}

	/** Records a turn as the open one, or clears it if it is no longer open. */
	void openTurn(long number, boolean open) {
		if (open) {
			this.openTurn = number;
		}
		else if (this.openTurn == number) {
			this.openTurn = 0;
		}
	}

	/** Applies the fields that belong to the session as a whole, not to its head. */
	void change(EncodedCommit commit) {
		this.title = (commit.header().title() != null) ? commit.header().title() : this.title;
		this.tags = (commit.header().tags() != null) ? commit.header().tags() : this.tags;
		this.settings = (commit.header().settings() != null) ? commit.header().settings() : this.settings;
		Long changed = commit.header().timeToLive();
		if (changed != null) {
			this.timeToLive = (changed > 0) ? changed : null;
		}
	}

	/**
	 * Raises the version.
	 * @param step by how much; that of a session which was just created becomes 1
	 */
	void raiseVersion(long step) {
		this.version += (this.version == 0) ? 1 : step;
	}

	void touch() {
		this.touched = true;
	}

	HeaderRow row() {
		HeaderRow.Life life = this.seen.life();
		if (this.touched) {
			life = new HeaderRow.Life(this.timeToLive, life.created(), this.now,
					(this.timeToLive != null) ? this.now + this.timeToLive : null);
		}
		return new HeaderRow(pk(), this.seen.incarnation(), this.version, this.turns, this.items, this.path,
				this.openTurn, this.totals, life, this.branch, this.title, this.tags, this.settings, this.attributes,
				this.seen.stamp());
	}

}
