package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.TcpProxy;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * SessionKit's store on a Redis server of its own.
 */
final class RedisStepServer implements StepServer {

	private final RedisLab lab;

	private final TcpProxy proxy;

	private final LettuceConnectionFactory connections;

	private final SessionStore store;

	RedisStepServer() {
		this.lab = RedisLab.start();
		try {
			this.proxy = new TcpProxy(this.lab.host(), this.lab.port());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.connections = RedisLab.connections(this.proxy.port());
		this.store = new RedisSessionStore(this.connections, Contenders.OPTIONS);
	}

	@Override
	public String name() {
		return Contenders.REDIS;
	}

	@Override
	public SessionStore store() {
		return this.store;
	}

	@Override
	public long roundTrips() {
		return this.proxy.roundTrips();
	}

	@Override
	public double logBytes() {
		return this.lab.logBytes();
	}

	@Override
	public void close() {
		this.connections.destroy();
		try {
			this.proxy.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.lab.close();
	}

}
