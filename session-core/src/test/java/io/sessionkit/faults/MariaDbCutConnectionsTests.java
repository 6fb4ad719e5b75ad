package io.sessionkit.faults;

import java.io.IOException;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.MariaDbServer;

class MariaDbCutConnectionsTests extends CutConnections {

	private final MariaDbServer server = MariaDbServer.running();

	private final String database = this.server.newDatabase();

	@Override
	SessionStore clean(Ways ways) {
		return ways.jdbc(Ways.withTables(this.server.dataSource(this.database), "mariadb"), 4);
	}

	@Override
	SessionStore cut(Ways ways) throws IOException {
		int port = proxy(ways, this.server.host(), this.server.port()).port();
		return ways.jdbc(this.server.dataSource(this.database, "127.0.0.1", port, ""), 8);
	}

}
