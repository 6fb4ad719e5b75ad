package io.sessionkit.store.jdbc;

import java.util.HashSet;
import java.util.Set;

import org.apache.shardingsphere.infra.database.core.type.DatabaseType;
import org.apache.shardingsphere.infra.spi.type.typed.TypedSPILoader;
import org.apache.shardingsphere.sql.parser.api.CacheOption;
import org.apache.shardingsphere.sql.parser.api.SQLParserEngine;

/**
 * The grammar of a database that no server is there for. It knows what a statement may
 * look like, not what it does.
 */
enum Grammar {

	MYSQL("MySQL"), ORACLE("Oracle"), SQLSERVER("SQLServer");

	private final SQLParserEngine parser;

	private final Set<String> known = new HashSet<>();

	Grammar(String type) {
		this.parser = new SQLParserEngine(TypedSPILoader.getService(DatabaseType.class, type), new CacheOption(128, 1));
	}

	/**
	 * Does nothing if the statement is of this language.
	 * @throws RuntimeException if it is not
	 */
	synchronized void check(String sql) {
		if (!this.known.contains(sql)) {
			this.parser.parse(sql.strip(), false);
			this.known.add(sql);
		}
	}

}
