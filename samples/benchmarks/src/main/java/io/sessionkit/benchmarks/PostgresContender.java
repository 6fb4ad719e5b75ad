package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.test.PostgresProxy;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A contender in a PostgreSQL database of its own. Round trips and bytes are counted on
 * the wire, rows by the server.
 */
final class PostgresContender implements Contender {

	/**
	 * The number of times that a driver must see a statement before it stops changing how
	 * it runs it.
	 */
	private static final int LEAD_IN = 8;

	/**
	 * The delay of each answer while round trips are counted. A driver does not wait for
	 * everything that it sends (a BEGIN goes with the statement after it), so the count
	 * is how often it spoke again after an answer.
	 */
	private static final Duration LATENCY = Duration.ofMillis(10);

	/**
	 * The time to wait for the row counts. The server counts rows in the background, half
	 * a second late.
	 */
	private static final long STATISTICS_ARE_LATE = TimeUnit.MILLISECONDS.toNanos(1_300);

	private final String name;

	private final @Nullable String byHand;

	private final PostgresLab lab;

	private final boolean waiting;

	private final String database;

	private final Function<DataSource, Threads> kind;

	private final HikariDataSource pool;

	private final Threads threads;

	/**
	 * Sets up an empty database.
	 * @param name the name in the tables
	 * @param byHand the same statements by hand; null for none
	 * @param lab the server
	 * @param waiting whether a commit waits for the disk
	 * @param schema the resource that creates its tables
	 * @param kind creates the {@link Threads} on connections
	 */
	PostgresContender(String name, @Nullable String byHand, PostgresLab lab, boolean waiting, String schema,
			Function<DataSource, Threads> kind) {
		this.name = name;
		this.byHand = byHand;
		this.lab = lab;
		this.waiting = waiting;
		this.database = lab.newDatabase();
		this.kind = kind;
		this.pool = Pools.of(lab.connections(this.database, waiting), Pools.SIZE);
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
		try (HikariDataSource hurried = Pools.of(this.lab.connections(this.database, false), 2)) {
			this.kind.apply(hurried).preload(thread, messages);
		}
	}

	@Override
	public void settle() {
		sql().execute("vacuum analyze");
	}

	@Override
	public OptionalDouble storedBytes() {
		Long bytes = sql().queryForObject("select sum(pg_total_relation_size(relid)) from pg_stat_user_tables",
				Long.class);
		return (bytes != null) ? OptionalDouble.of(bytes) : OptionalDouble.empty();
	}

	@Override
	public TurnCost count(String thread, int turns) {
		// a connection that is idle has rows that it has not reported yet
		this.pool.getHikariPoolMXBean().softEvictConnections();
		double[] rowsBefore = rows();
		TurnCost wire = countOnWire(thread, turns);
		double[] rows = rows();
		int all = LEAD_IN + turns;
		return new TurnCost(wire.roundTrips(), (rows[0] - rowsBefore[0]) / all, (rows[1] - rowsBefore[1]) / all,
				(rows[2] - rowsBefore[2]) / all, wire.sent(), wire.received());
	}

	private TurnCost countOnWire(String thread, int turns) {
		try (PostgresProxy proxy = new PostgresProxy(this.lab.host(), this.lab.port());
				HikariDataSource one = Pools
					.of(this.lab.connections(this.database, this.waiting, proxy.host(), proxy.port()), 1)) {
			Threads counted = this.kind.apply(one);
			for (int i = 0; i < LEAD_IN; i++) {
				counted.turn(thread, Dialogue.question(i));
			}
			proxy.latency(LATENCY);
			proxy.reset();
			for (int i = 0; i < turns; i++) {
				counted.turn(thread, Dialogue.question(i));
			}
			return new TurnCost((double) proxy.waits() / turns, null, null, null, (double) proxy.bytesWritten() / turns,
					(double) proxy.bytesRead() / turns);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the rows inserted, updated and deleted so far, once the server has counted
	 * all of them.
	 */
	private double[] rows() {
		LockSupport.parkNanos(STATISTICS_ARE_LATE);
		return sql().queryForObject("""
				select sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del) from pg_stat_user_tables
				""", (row, number) -> new double[] { row.getDouble(1), row.getDouble(2), row.getDouble(3) });
	}

	@Override
	public ServerWork work(String thread, int turns) {
		// the first change of a page after a checkpoint logs the whole page
		sql().execute("checkpoint");
		double before = this.lab.logBytes();
		for (int i = 0; i < turns; i++) {
			this.threads.turn(thread, Dialogue.question(i));
		}
		return new ServerWork((this.lab.logBytes() - before) / turns, null);
	}

	private JdbcTemplate sql() {
		return new JdbcTemplate(this.lab.connections(this.database, true));
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
