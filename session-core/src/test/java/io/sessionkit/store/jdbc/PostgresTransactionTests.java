package io.sessionkit.store.jdbc;

class PostgresTransactionTests extends JdbcTransactionContract {

	private static final TestDatabase DATABASE = TestDatabase.postgres().created();

	@Override
	TestDatabase database() {
		return DATABASE;
	}

}
