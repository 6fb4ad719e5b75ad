package io.sessionkit.store.redis;

import java.util.Objects;

import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.TurnWrite;

/**
 * What became of a commit, in the words of the store.
 */
final class Commits {

	private Commits() {
	}

	static CommitResult result(Commit commit, Reply reply) {
		return switch (reply.requiredText(0)) {
			case "COMMITTED" -> new CommitResult(Outcome.COMMITTED, reply.number(1), reply.number(2), reply.number(3));
			case "REPEATED" -> new CommitResult(Outcome.REPEATED, reply.number(1), reply.number(2), 0);
			case "CONFLICT" -> new CommitResult(Outcome.CONFLICT, reply.number(1), 0, 0);
			case "PART" -> throw new IllegalArgumentException(part(commit, reply.number(1)));
			case "HEAD" -> throw new IllegalArgumentException(head(commit, reply.requiredText(1)));
			case "CHECKPOINT" -> throw new IllegalArgumentException(checkpoint(commit, reply.number(1)));
			default -> throw new IllegalStateException(
					"The commit script answered '" + reply.requiredText(0) + "', which it never should.");
		};
	}

	private static String part(Commit commit, long parts) {
		TurnWrite turn = Objects.requireNonNull(commit.turn());
		return "Turn '" + turn.turn().id() + "' of session " + commit.key() + " has " + parts
				+ " parts; the next one is part " + parts + ", not " + turn.part() + ".";
	}

	private static String head(Commit commit, String why) {
		return "The head of session " + commit.key() + " cannot move to turn "
				+ Objects.requireNonNull(commit.header().head()).turn() + ": "
				+ (why.equals("absent") ? "there is none with this number" : "it is not completed")
				+ ". Name a completed turn, or 0 for the beginning.";
	}

	private static String checkpoint(Commit commit, long head) {
		return "A checkpoint of session " + commit.key() + " cannot cover turn "
				+ Objects.requireNonNull(commit.header().checkpoint()).turn() + ": it is not on the way from turn "
				+ head + " to the beginning.";
	}

}
