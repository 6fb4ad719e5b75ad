package io.sessionkit.advisor;

import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.internal.call.SessionParameters;

/**
 * Refuses a call without a session that says something of its session, since nothing
 * would come of it. Hooks and listeners say nothing of a session: such a call passes
 * without them.
 */
final class SessionlessCheck {

	/**
	 * The words that speak of one session, by their parameters. {@code none()} beside
	 * them contradicts them.
	 */
	private static final Map<String, String> OF_ONE = Map.of(SessionParameters.EDITING, "SessionAdvisor.editing(..)",
			SessionParameters.REGENERATING, "SessionAdvisor.regenerating(..)", SessionParameters.BRANCH,
			"SessionAdvisor.branch(..)", SessionParameters.HISTORY, "SessionAdvisor.history(..)",
			SessionParameters.READING, "SessionAdvisor.reading()", SessionParameters.CHILD, "SessionAdvisor.child(..)",
			SessionParameters.EXPECT_TURN, "SessionAdvisor.expectTurn(..)", SessionParameters.IDEMPOTENCY_KEY,
			"SessionAdvisor.idempotencyKey(..)", SessionParameters.STREAM, "a stream of TurnStreams");

	/**
	 * The words for the treatment of a call on any session. A client may have them as
	 * defaults, and {@code none()} leaves them aside for one call.
	 */
	private static final Map<String, String> OF_ANY = Map.of(SessionParameters.AGENT, "SessionAdvisor.agent(..)",
			SessionParameters.LIMIT, "SessionAdvisor.limit(..)", SessionParameters.MERGE, "SessionAdvisor.merge(..)",
			SessionParameters.CONCURRENCY, "SessionAdvisor.concurrency(..)", SessionParameters.OWN_TURN,
			"SessionAdvisor.ownTurn()", SessionParameters.ON_CANCEL, "SessionAdvisor.onCancel(..)");

	private SessionlessCheck() {
	}

	/**
	 * Checks the advisor parameters of a call that has no session.
	 * @param isMeant whether the call says that it is to have none
	 * @throws SessionRequiredException if it says something of its session
	 */
	static void check(Map<String, ?> parameters, boolean isMeant) {
		String ofOne = said(OF_ONE, parameters);
		if (!ofOne.isEmpty()) {
			throw new SessionRequiredException(refusal(ofOne));
		}
		String ofAny = said(OF_ANY, parameters);
		if (!ofAny.isEmpty() && !isMeant) {
			throw new SessionRequiredException(
					refusal(ofAny) + " A call that is to have no session says so with SessionAdvisor.none().");
		}
	}

	private static String said(Map<String, String> words, Map<String, ?> parameters) {
		Stream<String> said = words.entrySet()
			.stream()
			.filter((word) -> parameters.get(word.getKey()) != null)
			.map(Map.Entry::getValue);
		return String.join(", ", said.sorted().toList());
	}

	private static String refusal(String said) {
		return "This call has no session, and says something of it: " + said
				+ ". Add .advisors(SessionAdvisor.session(..)), or leave that out.";
	}

}
