package io.sessionkit.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the rows of one run of a path: its start (kind 0), and its newest turns.
 */
public final class RunCollector implements Sql.Receiver {

	private final List<TurnItems> turns = new ArrayList<>();

	private long runLo;

	private long runParent;

	private boolean found;

	@Override
	public void receive(ResultSet row) throws SQLException {
		if (row.getInt(1) == 0) {
			this.runLo = row.getLong(2);
			this.runParent = row.getLong(3);
			this.found = true;
		}
		else {
			this.turns.add(TurnItems.read(row, 2, 6));
		}
	}

	public void finish(RunWalk walk) {
		if (this.found) {
			walk.read(this.runLo, this.runParent, this.turns);
		}
		else {
			walk.stop();
		}
	}

}
