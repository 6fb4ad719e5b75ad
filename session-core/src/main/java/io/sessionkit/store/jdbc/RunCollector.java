package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.ItemRow;

/**
 * Collects the rows of one run of a path: its start (kind 0), and its items.
 */
final class RunCollector implements Sql.Receiver {

	private final RunWalk walk;

	private final List<ItemRow> items = new ArrayList<>();

	private boolean found;

	RunCollector(RunWalk walk) {
		this.walk = walk;
	}

	@Override
	public void receive(ResultSet row) throws SQLException {
		if (row.getInt(1) == 0) {
			this.walk.leave(row.getLong(2), row.getLong(3));
			this.found = true;
		}
		else {
			this.items.add(Columns.item(row, 2, 6));
		}
	}

	void finish() {
		this.walk.read(this.items);
		if (!this.found) {
			this.walk.stop();
		}
	}

}
