package io.sessionkit.store.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;

/**
 * Connections to a Cluster by which scripts on some keys fail, as if their server could
 * not be reached.
 */
final class RefusedKeys {

	private final List<byte[]> keys;

	/** How many scripts on these keys still work. */
	private final AtomicInteger left;

	private final AtomicInteger refused;

	private RefusedKeys(Collection<String> keys, int first, AtomicInteger refused) {
		this.keys = keys.stream().map((key) -> key.getBytes(StandardCharsets.UTF_8)).toList();
		this.left = new AtomicInteger(first);
		this.refused = refused;
	}

	static RedisConnectionFactory of(RedisConnectionFactory connections, Collection<String> keys) {
		return after(0, connections, keys);
	}

	/** Counts what is refused. */
	static RedisConnectionFactory counted(AtomicInteger refused, RedisConnectionFactory connections,
			Collection<String> keys) {
		return of(new RefusedKeys(keys, 0, refused), connections);
	}

	/** The first scripts work. */
	static RedisConnectionFactory after(int first, RedisConnectionFactory connections, Collection<String> keys) {
		return of(new RefusedKeys(keys, first, new AtomicInteger()), connections);
	}

	private static RedisConnectionFactory of(RefusedKeys refused, RedisConnectionFactory connections) {
		return proxy(RedisConnectionFactory.class, (method, arguments) -> {
			Object answer = method.invoke(connections, arguments);
			return (answer instanceof RedisConnection connection) ? refused.connection(connection) : answer;
		});
	}

	private RedisConnection connection(RedisConnection connection) {
		return proxy(RedisClusterConnection.class, (method, arguments) -> {
			Object answer = method.invoke(connection, arguments);
			return method.getName().equals("scriptingCommands") ? scripts((RedisScriptingCommands) answer) : answer;
		});
	}

	private RedisScriptingCommands scripts(RedisScriptingCommands commands) {
		return proxy(RedisScriptingCommands.class, (method, arguments) -> {
			if (Stream.of(arguments).anyMatch(this::isRefused) && this.left.getAndDecrement() <= 0) {
				this.refused.incrementAndGet();
				throw new RedisConnectionFailureException("down");
			}
			return method.invoke(commands, arguments);
		});
	}

	private boolean isRefused(Object argument) {
		return argument instanceof byte[][] texts
				&& Stream.of(texts).anyMatch((text) -> this.keys.stream().anyMatch((key) -> Arrays.equals(key, text)));
	}

	private interface Call {

		Object on(Method method, Object[] arguments) throws Exception;

	}

	private static <T> T proxy(Class<T> type, Call call) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				try {
					return call.on(method, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
