package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.sessionkit.internal.RandomNumbers;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs the scripts, each by its digest, or by its text if the server does not know it
 * yet. Each request has a token of its own, which its answer begins with. A request whose
 * answer is lost or incomplete is sent once more.
 */
final class RedisScripts {

	private final RedisConnectionFactory connections;

	private final Pair severalSlots;

	private final AtomicLong requests = new AtomicLong(RandomNumbers.upTo(1L << 48));

	/** True if one script may use keys of several hash tags; null before first use. */
	private volatile @Nullable Boolean oneServer;

	/**
	 * Creates the runner. Does not connect yet.
	 * @param connections connections to the server or Cluster
	 * @param severalSlots two keys of different hash slots
	 */
	RedisScripts(RedisConnectionFactory connections, Pair severalSlots) {
		this.severalSlots = severalSlots;
		this.connections = connections;
	}

	/**
	 * Returns whether all keys are on one server, so that a script may use those of a
	 * session and of an index together.
	 */
	boolean haveOneServer() {
		Boolean known = this.oneServer;
		if (known == null) {
			known = read(() -> !isCluster() && takesSeveralSlots());
			this.oneServer = known;
		}
		return known;
	}

	/**
	 * Returns a connection.
	 * @throws NoConnectionException if the application has stopped the factory, or not
	 * started it yet
	 */
	private RedisConnection connection() {
		try {
			return this.connections.getConnection();
		}
		catch (IllegalStateException ex) {
			throw new NoConnectionException(ex);
		}
	}

	private boolean isCluster() {
		try (RedisConnection connection = connection()) {
			return connection instanceof RedisClusterConnection;
		}
	}

	/**
	 * Returns whether a script may use keys of several slots. This has to be tried,
	 * because a proxy in front of a Cluster looks like one server.
	 */
	private boolean takesSeveralSlots() {
		try {
			reply(Script.PROBE, List.of(this.severalSlots), new Arguments());
			return true;
		}
		catch (DataAccessException ex) {
			if (RedisErrors.isCrossSlot(ex)) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * Returns keys of each server that has keys, for calling a script there.
	 */
	List<Pair> servers(RedisKeys keys) {
		return read(() -> {
			try (RedisConnection connection = connection()) {
				return (connection instanceof RedisClusterConnection cluster) ? mastersOf(cluster, keys)
						: List.of(keys.oneSlot(0));
			}
		});
	}

	private static List<Pair> mastersOf(RedisClusterConnection cluster, RedisKeys keys) {
		List<Pair> servers = new ArrayList<>();
		for (RedisClusterNode node : cluster.clusterGetNodes()) {
			if (node.isMaster() && !node.getSlotRange().getSlots().isEmpty()) {
				servers.add(keysOn(node, keys));
			}
		}
		return servers;
	}

	private static Pair keysOn(RedisClusterNode node, RedisKeys keys) {
		int number = 0;
		while (!node.getSlotRange().contains(ClusterSlotHashUtil.calculateSlot(keys.oneSlot(number).first()))) {
			number++;
		}
		return keys.oneSlot(number);
	}

	/**
	 * Runs a script that may run twice and changes nothing but to remove what has
	 * expired.
	 * @throws io.sessionkit.store.StoreUnavailableException if the server refuses it, or
	 * if there is no complete answer
	 */
	Reply read(Script script, List<Pair> keys, Arguments arguments) {
		return read(() -> reply(script, keys, arguments));
	}

	/**
	 * Runs a script that writes and may run twice.
	 * @throws io.sessionkit.store.StoreUnavailableException if the server refuses it, or
	 * if there is no complete answer, so that it is unknown whether the script ran
	 */
	Reply repeat(Script script, Pair keys, Arguments arguments) {
		return repeat(script, List.of(keys), arguments);
	}

	/**
	 * Runs a script that writes and may run twice, with any number of keys.
	 * @throws io.sessionkit.store.StoreUnavailableException if the server refuses it, or
	 * if there is no complete answer, so that it is unknown whether the script ran
	 */
	Reply repeat(Script script, List<Pair> keys, Arguments arguments) {
		return twice(() -> reply(script, keys, arguments), RedisErrors::isAmbiguous, true);
	}

	/** Retries once, but not after a timeout: the caller has waited long enough. */
	private static <T> T read(Supplier<T> work) {
		return twice(work, (ex) -> RedisErrors.isAmbiguous(ex) && !(ex instanceof QueryTimeoutException), false);
	}

	/**
	 * Runs a script that writes and recognizes a write that arrives twice.
	 * @param script the script
	 * @param keys the keys of the session
	 * @param index the keys of the indexes, used if there is one server
	 * @param arguments the arguments
	 * @param write the id of the write
	 * @throws io.sessionkit.store.StoreUnavailableException if the server refuses it, or
	 * if there is no complete answer, so that it is unknown whether the script ran
	 */
	Reply write(Script script, List<Pair> keys, List<Pair> index, Arguments arguments, WriteId write) {
		return write(script, keys, index, arguments.with(write.text()));
	}

	/**
	 * Runs a script that writes and recognizes by its other arguments a write that
	 * arrives twice.
	 * @param script the script
	 * @param keys the keys of the session
	 * @param index the keys of the indexes, used if there is one server
	 * @param arguments the arguments
	 * @throws io.sessionkit.store.StoreUnavailableException if the server refuses it, or
	 * if there is no complete answer, so that it is unknown whether the script ran
	 */
	Reply write(Script script, List<Pair> keys, List<Pair> index, Arguments arguments) {
		return twice(() -> {
			List<Pair> all = new ArrayList<>(keys);
			if (haveOneServer()) {
				all.addAll(index);
			}
			return reply(script, all, arguments);
		}, RedisErrors::isAmbiguous, true);
	}

	private static <T> T twice(Supplier<T> work, Predicate<DataAccessException> again, boolean write) {
		try {
			return work.get();
		}
		catch (NoConnectionException ex) {
			throw ex.translated(write);
		}
		catch (DataAccessException ex) {
			if (!again.test(ex)) {
				throw RedisErrors.translate(ex, write);
			}
			return again(work, ex, write);
		}
	}

	/**
	 * Does work whose first answer was lost. A refusal of the second request says nothing
	 * about the first, which may have been done.
	 */
	private static <T> T again(Supplier<T> work, DataAccessException lost, boolean write) {
		try {
			return work.get();
		}
		catch (DataAccessException ex) {
			throw write ? RedisErrors.translate(lost, true) : RedisErrors.translate(ex, false);
		}
	}

	private Reply reply(Script script, List<Pair> keys, Arguments arguments) {
		String token = Long.toString(this.requests.incrementAndGet(), Character.MAX_RADIX);
		return PackedAnswer.read(execute(script, 2 * keys.size(), arguments.toArray(keys, token)), token);
	}

	/**
	 * A template would do the same by way of a proxy of the connection.
	 */
	private byte @Nullable [] execute(Script script, int keys, byte[][] keysAndArguments) {
		try (RedisConnection connection = connection()) {
			return execute(connection.scriptingCommands(), script, keys, keysAndArguments);
		}
		catch (ClassCastException | IndexOutOfBoundsException | NullPointerException
				| UnsupportedOperationException ex) {
			// a driver that has lost its position in the answer
			throw new BrokenAnswerException(ex);
		}
	}

	private static byte @Nullable [] execute(RedisScriptingCommands server, Script script, int keys,
			byte[][] keysAndArguments) {
		try {
			return server.evalSha(script.digest(), ReturnType.VALUE, keys, keysAndArguments);
		}
		catch (DataAccessException ex) {
			if (!RedisErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return server.eval(script.text(), ReturnType.VALUE, keys, keysAndArguments);
		}
	}

}
