package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.OptionalDouble;
import java.util.function.Function;

import io.sessionkit.test.TcpProxy;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A contender on a Redis server of its own. Round trips and bytes are counted on the
 * wire.
 */
final class RedisContender implements Contender {

	/** The number of first calls, which load the scripts into the server. */
	private static final int LEAD_IN = 3;

	/**
	 * The turns between two looks at the time of the scripts. All do the same work, so
	 * the shortest time is the one in which the server was interrupted least. They run
	 * 100 scripts: a multiple of 50, after which Redis collects the garbage of scripts.
	 */
	private static final int SLICE = 50;

	private final String name;

	private final @Nullable String byHand;

	private final RedisLab lab;

	private final Function<LettuceConnectionFactory, Threads> kind;

	private final LettuceConnectionFactory connections;

	private final Threads threads;

	RedisContender(String name, @Nullable String byHand, Function<LettuceConnectionFactory, Threads> kind) {
		this.name = name;
		this.byHand = byHand;
		this.lab = RedisLab.start();
		this.kind = kind;
		this.connections = this.lab.connections();
		this.threads = kind.apply(this.connections);
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
		// there is nothing to put in order
	}

	@Override
	public OptionalDouble storedBytes() {
		return OptionalDouble.of(this.lab.storedBytes());
	}

	@Override
	public TurnCost count(String thread, int turns) {
		try (TcpProxy proxy = new TcpProxy(this.lab.host(), this.lab.port())) {
			LettuceConnectionFactory counted = RedisLab.connections(proxy.port());
			try {
				return count(this.kind.apply(counted), proxy, thread, turns);
			}
			finally {
				counted.destroy();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static TurnCost count(Threads counted, TcpProxy proxy, String thread, int turns) {
		for (int i = 0; i < LEAD_IN; i++) {
			counted.turn(thread, Dialogue.question(i));
		}
		proxy.reset();
		for (int i = 0; i < turns; i++) {
			counted.turn(thread, Dialogue.question(i));
		}
		return new TurnCost((double) proxy.roundTrips() / turns, null, null, null,
				(double) proxy.bytesWritten() / turns, (double) proxy.bytesRead() / turns);
	}

	@Override
	public ServerWork work(String thread, int turns) {
		double logBytes = this.lab.logBytes();
		double micros = Double.MAX_VALUE;
		for (int done = 0; done < turns; done += SLICE) {
			micros = Math.min(micros, micros(thread, Math.min(SLICE, turns - done)));
		}
		return new ServerWork((this.lab.logBytes() - logBytes) / turns, micros);
	}

	private double micros(String thread, int turns) {
		RedisLab.Scripts before = this.lab.scripts();
		for (int i = 0; i < turns; i++) {
			this.threads.turn(thread, Dialogue.question(i));
		}
		RedisLab.Scripts after = this.lab.scripts();
		if (after.calls() - before.calls() < 2L * turns) {
			throw new IllegalStateException(this.name + " ran " + (after.calls() - before.calls()) + " scripts in "
					+ turns + " turns. To open and to commit takes two; the time of other commands is not counted.");
		}
		return (double) (after.micros() - before.micros()) / turns;
	}

	/**
	 * Returns a description of its server.
	 */
	@Override
	public String toString() {
		return this.lab.toString();
	}

	@Override
	public void close() {
		this.connections.destroy();
		this.lab.close();
	}

}
