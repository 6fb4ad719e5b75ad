package io.sessionkit.store.jdbc;

class HsqldbTransactionTests extends JdbcTransactionContract {

	private static final TestDatabase DATABASE = TestDatabase.hsqldb("mvcc").created();

	@Override
	TestDatabase database() {
		return DATABASE;
	}

}
