package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.sessionkit.store.redis.RedisKeys.Pair;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.zset.Tuple;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs the scripts, each by its digest, and by its text where the server does not know it
 * yet.
 */
final class RedisScripts {

	private final RedisTemplate<byte[], byte[]> redis = new RedisTemplate<>();

	private final Pair severalSlots;

	/** Whether one script may use keys of several hash tags; unknown before first use. */
	private volatile @Nullable Boolean oneServer;

	/**
	 * Does not connect yet.
	 * @param connections connections to the server or Cluster
	 * @param severalSlots two keys of different hash slots
	 */
	RedisScripts(RedisConnectionFactory connections, Pair severalSlots) {
		this.severalSlots = severalSlots;
		this.redis.setConnectionFactory(connections);
		this.redis.setEnableDefaultSerializer(false);
		this.redis.setKeySerializer(RedisSerializer.byteArray());
		this.redis.afterPropertiesSet();
	}

	/**
	 * Whether all keys are on one server, so that a script may use those of a session and
	 * of an index together.
	 */
	boolean haveOneServer() {
		Boolean known = this.oneServer;
		if (known == null) {
			known = run(() -> !isCluster() && takesSeveralSlots(), false);
			this.oneServer = known;
		}
		return known;
	}

	private boolean isCluster() {
		return Boolean.TRUE.equals(this.redis
			.execute((RedisCallback<Boolean>) (connection) -> connection instanceof RedisClusterConnection));
	}

	/** Something in front of a Cluster looks like one server until it is asked. */
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
	 * Keys of each server that has keys, to call a script there.
	 */
	List<Pair> servers(RedisKeys keys) {
		return run(() -> Objects.requireNonNull(this.redis.execute((RedisCallback<List<Pair>>) (connection) -> {
			if (!(connection instanceof RedisClusterConnection cluster)) {
				return List.of(keys.oneSlot(0));
			}
			List<Pair> servers = new ArrayList<>();
			for (RedisClusterNode node : cluster.clusterGetNodes()) {
				if (node.isMaster() && !node.getSlotRange().getSlots().isEmpty()) {
					servers.add(keysOn(node, keys));
				}
			}
			return servers;
		})), false);
	}

	private static Pair keysOn(RedisClusterNode node, RedisKeys keys) {
		int number = 0;
		while (!node.getSlotRange().contains(ClusterSlotHashUtil.calculateSlot(keys.oneSlot(number).first()))) {
			number++;
		}
		return keys.oneSlot(number);
	}

	Reply read(Script script, List<Pair> keys, Arguments arguments) {
		return run(() -> reply(script, keys, arguments), false);
	}

	/**
	 * Runs a script that uses an index too where there is one server.
	 * @param script the script
	 * @param keys the keys of the session
	 * @param index the keys of the indexes
	 * @param arguments the arguments
	 * @param repeatable whether it may be run once more where nobody knows whether it was
	 * run: it then says that it was
	 */
	Reply write(Script script, Pair keys, List<Pair> index, Arguments arguments, boolean repeatable) {
		return run(() -> {
			try {
				return writeOnce(script, keys, index, arguments);
			}
			catch (DataAccessException ex) {
				if (!repeatable || !RedisErrors.isAmbiguous(ex)) {
					throw ex;
				}
				return writeOnce(script, keys, index, arguments);
			}
		}, true);
	}

	private Reply writeOnce(Script script, Pair keys, List<Pair> index, Arguments arguments) {
		List<Pair> all = new ArrayList<>(List.of(keys));
		if (haveOneServer()) {
			all.addAll(index);
		}
		return reply(script, all, arguments);
	}

	private Reply reply(Script script, List<Pair> keys, Arguments arguments) {
		List<byte[]> names = new ArrayList<>();
		for (Pair pair : keys) {
			names.add(pair.first());
			names.add(pair.second());
		}
		return new Reply(Objects.requireNonNull(this.redis.execute(script.script(), RedisSerializer.byteArray(),
				ofElements(), names, arguments.toArray())));
	}

	/** Spring asks for a serializer of the whole list and uses it for what is in it. */
	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static RedisSerializer<List> ofElements() {
		return (RedisSerializer) RedisSerializer.byteArray();
	}

	/**
	 * The newest members of an index with their times.
	 */
	List<Tuple> newest(byte[] index, long from, long to) {
		return run(() -> Objects.requireNonNull(this.redis.execute((RedisCallback<List<Tuple>>) (connection) -> List
			.copyOf(connection.zSetCommands().zRevRangeWithScores(index, from, to)))), false);
	}

	private static <T> T run(Supplier<T> work, boolean write) {
		try {
			return work.get();
		}
		catch (DataAccessException ex) {
			throw RedisErrors.translate(ex, write);
		}
	}

}
