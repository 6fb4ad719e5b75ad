package io.sessionkit.autoconfigure.store;

import javax.sql.DataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;

/**
 * The place of the sessions: the marked DataSource, otherwise the only or primary one.
 *
 * @param used the DataSource
 */
record StoreDataSource(DataSource used) {

	static StoreDataSource of(ObjectProvider<DataSource> marked, ObjectProvider<DataSource> others) {
		return new StoreDataSource(marked.getIfAvailable(others::getObject));
	}

	/** Returns whether the database is gone when the process ends. */
	boolean isInMemory() {
		return EmbeddedDatabaseConnection.isEmbedded(this.used) || SqliteMemory.isIn(this.used);
	}

}
