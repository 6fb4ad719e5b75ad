package io.sessionkit.benchmarks;

import java.util.OptionalDouble;
import java.util.UUID;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.test.CountingDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;

/**
 * A contender in an H2 database in the memory of the process. There is no wire, so the
 * calls that would be round trips to a server are counted.
 */
final class H2Contender implements Contender {

	private final String name;

	private final @Nullable String byHand;

	private final Function<DataSource, Threads> kind;

	private final HikariDataSource pool;

	private final Threads threads;

	H2Contender(String name, @Nullable String byHand, String schema, Function<DataSource, Threads> kind) {
		this.name = name;
		this.byHand = byHand;
		this.kind = kind;
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
		database.setUser("sa");
		this.pool = Pools.of(database, Pools.SIZE);
		Pools.runScript(schema, this.pool);
		this.threads = kind.apply(this.pool);
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public @Nullable String byHand() {
		return this.byHand;
	}

	@Override
	public Threads threads() {
		return this.threads;
	}

	@Override
	public void preload(String thread, int messages) {
		this.threads.preload(thread, messages);
	}

	@Override
	public void settle() {
		// H2 tidies up while it writes
	}

	@Override
	public OptionalDouble storedBytes() {
		return OptionalDouble.empty();
	}

	@Override
	public TurnCost count(String thread, int turns) {
		CountingDataSource counting = new CountingDataSource(this.pool);
		Threads counted = this.kind.apply(counting);
		counted.turn(thread, Dialogue.question(0));
		counting.reset();
		for (int i = 0; i < turns; i++) {
			counted.turn(thread, Dialogue.question(i));
		}
		return TurnCost.ofRoundTrips((double) counting.calls() / turns);
	}

	@Override
	public ServerWork work(String thread, int turns) {
		return ServerWork.UNKNOWN;
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
