package io.sessionkit.store.redis;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.store.StoreUnavailableException;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessApiUsageException;

/**
 * Finds the meaning of a server failure. The message of the server is not passed on,
 * except for the code at its start: it can contain an argument.
 */
final class RedisErrors {

	/**
	 * Redis names an error by one word in capitals. That of a script is in the middle of
	 * the message about the script.
	 */
	private static final Pattern CODE = Pattern.compile("\\b(WRONGTYPE|CROSSSLOT|READONLY|MISCONF|NOREPLICAS|NOPERM|"
			+ "NOAUTH|WRONGPASS|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|TURNSLOST)\\b");

	/**
	 * A right that a script found missing while it ran, which most versions name without
	 * a code.
	 */
	private static final Pattern IN_SCRIPT = Pattern.compile("NOPERM.* script|user executing the script can't");

	private static final Pattern ANSWERS = Pattern.compile("Execution|NoScript|ReadOnly|Loading|Busy");

	/**
	 * JedisDataException and its subclasses. The other exceptions come from the client,
	 * which may have sent the script before: a Cluster call that it gave up, a pool, a
	 * cache.
	 */
	private static final Pattern JEDIS_ANSWERS = Pattern.compile("redis\\.clients\\.jedis\\.exceptions\\.Jedis"
			+ "(Data|NoScript|Busy|AccessControl|MovedData|AskData|Redirection|Cluster)Exception");

	private static final String OTHER = "ERR";

	private static final String UNKNOWN = " Whether the write took place is unknown: read the session before you write"
			+ " again. Committing a turn again with the same id is safe.";

	/**
	 * A command within a script that the user may not run: what the script has written
	 * before stays. One that is refused as a whole has the code alone.
	 */
	private static final String HALFWAY = "NOPERM in a script";

	/**
	 * Refusals of a whole script, before it can recognize that it arrives twice. The
	 * first request may have been done: of a driver that has lost the connection then,
	 * sent it again, and met a server that has been restarted or is still at work on it.
	 */
	private static final Set<String> BLIND = Set.of("LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN");

	/** The server is full, cannot save, or has too few replicas. */
	private static final Set<String> PASSING = Set.of("OOM", "MISCONF", "NOREPLICAS");

	private RedisErrors() {
	}

	/**
	 * Returns whether it is unknown after the failure whether the script ran.
	 */
	static boolean isAmbiguous(DataAccessException ex) {
		return !(ex instanceof InvalidDataAccessApiUsageException) && code(ex).isEmpty();
	}

	/**
	 * Returns whether the keys of a script are kept by several servers.
	 */
	static boolean isCrossSlot(DataAccessException ex) {
		return code(ex).equals("CROSSSLOT");
	}

	/**
	 * Returns whether the server does not know the digest of a script.
	 */
	static boolean isUnknownScript(DataAccessException ex) {
		for (Throwable each = ex; each != null; each = each.getCause()) {
			if (isAnswer(each) && String.valueOf(each.getMessage()).contains("NOSCRIPT")) {
				return true;
			}
		}
		return false;
	}

	static StoreUnavailableException translate(DataAccessException ex, boolean write) {
		String code = code(ex);
		if (code.equals("WRONGTYPE")) {
			return new StoreUnavailableException("A key that the session store needs holds something else (WRONGTYPE);"
					+ " nothing was written. Delete it, or set sessionkit.store.redis.key-prefix.", null);
		}
		if (code.equals("TURNSLOST")) {
			return turnsLost();
		}
		return isAmbiguous(ex) ? unanswered(ex, write) : refused(ex, code, write);
	}

	/**
	 * Returns the exception for a session that has fewer turns than its header says,
	 * whether the script or the reader of its answer has noticed it.
	 */
	static StoreUnavailableException turnsLost() {
		return new StoreUnavailableException("Redis has the header of a session but not all of its turns,"
				+ " as if it had evicted or lost a key; nothing was written. Erase the session,"
				+ " and set maxmemory-policy to noeviction.", null);
	}

	/**
	 * Returns the exception for a server on which sessions could not be written.
	 * @param command the command that it refuses
	 * @param reason the code of its error, or a word for one that has none
	 */
	static StoreUnavailableException cannotWrite(String command, String reason) {
		return new StoreUnavailableException("The session store cannot write to Redis: " + switch (reason) {
			case "SYNTAX" -> "it does not know " + command + " with PXAT, so its version is older than 6.2.";
			case "READONLY" -> "it is a replica (READONLY).";
			case "REPLICA" ->
				"it is a replica, which forgets what is written to it when it next synchronizes (replica-read-only no).";
			case "NOPERM" -> "the user may not run " + command + " (NOPERM).";
			default -> "it refuses " + command + " (" + reason + ").";
		}, null);
	}

	/**
	 * Returns whether a server that refuses writes for this reason may take them again
	 * without a change of the configuration.
	 */
	static boolean mayPass(String reason) {
		return PASSING.contains(reason);
	}

	private static StoreUnavailableException unanswered(DataAccessException ex, boolean write) {
		String what = (ex instanceof BrokenAnswerException)
				? "The Redis server of the session store gave no whole answer ("
				: "The Redis server of the session store cannot be reached (";
		return new StoreUnavailableException(what + ex.getClass().getSimpleName() + ")."
				+ (write ? UNKNOWN : " Nothing was changed by it; try again later."), ex);
	}

	private static StoreUnavailableException refused(DataAccessException ex, String code, boolean write) {
		String refusal = "Redis refused a script of the session store ("
				+ (code.isEmpty() ? ex.getClass().getSimpleName() : code) + ").";
		if (code.equals(OTHER) || code.equals(HALFWAY)) {
			return new StoreUnavailableException(refusal + why(code, write), null);
		}
		if (write && BLIND.contains(code)) {
			return new StoreUnavailableException(refusal + UNKNOWN + why(code, true), null);
		}
		String known = refusal + " Nothing was written." + why(code, write);
		return write ? StoreUnavailableException.unwritten(known, null) : new StoreUnavailableException(known, null);
	}

	private static String why(String code, boolean write) {
		return switch (code) {
			case HALFWAY -> " The user may not run all commands of the scripts"
					+ (write ? ", so part of it may have been written" : "")
					+ ": allow those that docs/configuration.md lists.";
			case "BUSY" -> " Another script or function runs longer than busy-reply-threshold: try again later.";
			default -> "";
		};
	}

	/**
	 * Returns the code of the error that the server answered with; empty if it did not
	 * answer.
	 */
	private static String code(Throwable ex) {
		for (Throwable each = ex; each != null; each = each.getCause()) {
			if (isAnswer(each)) {
				return codeOf(String.valueOf(each.getMessage()));
			}
		}
		return "";
	}

	private static String codeOf(String message) {
		if (IN_SCRIPT.matcher(message).find()) {
			return HALFWAY;
		}
		Matcher matcher = CODE.matcher(message);
		return matcher.find() ? matcher.group(1) : OTHER;
	}

	/**
	 * Decides by the names of the exceptions of Lettuce and Jedis, since neither has to
	 * be on the class path.
	 */
	private static boolean isAnswer(Throwable ex) {
		String type = ex.getClass().getName();
		return (type.startsWith("io.lettuce.core.Redis") && ANSWERS.matcher(type).find())
				|| JEDIS_ANSWERS.matcher(type).matches();
	}

}
