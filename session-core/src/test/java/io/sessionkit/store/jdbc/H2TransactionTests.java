package io.sessionkit.store.jdbc;

class H2TransactionTests extends JdbcTransactionContract {

	private static final TestDatabase DATABASE = TestDatabase.h2().created();

	@Override
	TestDatabase database() {
		return DATABASE;
	}

	@Override
	boolean hasOneTimePerTransaction() {
		return true;
	}

}
