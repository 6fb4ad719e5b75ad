package io.sessionkit.store.redis;

import io.sessionkit.internal.row.RefusedChange;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;

/**
 * Translates the answer to a commit into the results and exceptions of the store.
 */
final class Commits {

	private Commits() {
	}

	static CommitResult result(Commit commit, Reply reply) {
		return switch (reply.requiredText(0)) {
			case "COMMITTED" -> new CommitResult(Outcome.COMMITTED, reply.number(2), reply.number(3), reply.number(4));
			case "REPEATED" -> new CommitResult(Outcome.REPEATED, reply.number(2), reply.number(3), 0);
			case "CONFLICT" -> new CommitResult(Outcome.CONFLICT, reply.number(2), 0, 0);
			case "PART" -> throw RefusedChange.part(commit, reply.number(2));
			case "HEAD" -> throw RefusedChange.head(commit, !reply.requiredText(2).equals("absent"));
			case "SUMMARY" -> throw RefusedChange.summary(commit, reply.number(2));
			case "OLDEST" -> throw RefusedChange.oldest(commit);
			case "PAUSED" -> throw RefusedChange.openTurn(commit.key(), reply.number(2));
			default -> throw new IllegalStateException(
					"The commit script answered '" + reply.requiredText(0) + "', which it never should.");
		};
	}

}
