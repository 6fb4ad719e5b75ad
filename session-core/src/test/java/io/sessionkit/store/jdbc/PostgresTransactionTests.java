package io.sessionkit.store.jdbc;

import io.sessionkit.test.BesideOthers;

@BesideOthers
class PostgresTransactionTests extends JdbcTransactionContract {

	private static final TestDatabase DATABASE = TestDatabase.postgres().created();

	@Override
	TestDatabase database() {
		return DATABASE;
	}

}
