package io.sessionkit.internal.call;

import java.util.List;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;
import io.sessionkit.TurnResult;

import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.core.Ordered;

/**
 * The names of the advisor parameters, and the orders of the advisors.
 */
public final class SessionParameters {

	public static final String SESSION = "sessionkit.session";

	public static final String AGENT = "sessionkit.agent";

	public static final String LIMIT = "sessionkit.limit";

	public static final String EXPECT_TURN = "sessionkit.expect-turn";

	public static final String EDITING = "sessionkit.editing";

	public static final String REGENERATING = "sessionkit.regenerating";

	public static final String BRANCH = "sessionkit.branch";

	public static final String HISTORY = "sessionkit.history";

	public static final String HISTORY_POLICY = "sessionkit.history-policy";

	/** The advisor parameter of a call that only reads its session. */
	public static final String READING = "sessionkit.reading";

	/** The parameters that name the place at which a turn begins. */
	public static final List<String> STARTS = List.of(EDITING, REGENERATING, BRANCH, HISTORY, READING);

	/** The advisor parameter that holds the child session of a call. */
	public static final String CHILD = "sessionkit.child";

	/** The advisor parameter that holds the history merge of one call. */
	public static final String MERGE = "sessionkit.merge";

	/** The advisor parameter that holds the {@link OnCancel} of one call. */
	public static final String ON_CANCEL = "sessionkit.on-cancel";

	/** The advisor parameter that holds the {@link Concurrency} of one call. */
	public static final String CONCURRENCY = "sessionkit.concurrency";

	/** The advisor parameter of a call whose messages join no other turn. */
	public static final String OWN_TURN = "sessionkit.own-turn";

	/** The advisor parameter that holds the name of the request that a call makes. */
	public static final String IDEMPOTENCY_KEY = "sessionkit.idempotency-key";

	/** The advisor parameter that holds the {@link TurnWait} of one call. */
	public static final String READER = "sessionkit.reader";

	/** The advisor parameter that holds the {@link StreamStart} of one call. */
	public static final String STREAM = "sessionkit.stream";

	/** The parameter that carries a call with its open turn through the chain. */
	public static final String OPEN_CALL = "sessionkit.open-call";

	/** The parameter that holds the key that the caller was found to reach. */
	public static final String REACHED = "sessionkit.reached";

	/**
	 * The parameter that marks a request that the turn advisor has seen and passed on. It
	 * holds what controls the tools of a call without a session; or true if the call has
	 * its turn already.
	 */
	public static final String PASSED = "sessionkit.passed";

	/** The metadata entry of a response that was not paid for again. */
	public static final String REPEATED = "sessionkit.repeated";

	/** The metadata entry of a response to a message that has joined another turn. */
	public static final String STEERED = "sessionkit.steered";

	/** The metadata entry of a response that holds its {@link TurnResult}. */
	public static final String TURN = "sessionkit.turn";

	/**
	 * The order of the advisor outside the tool loop. It is also outside Spring AI's own
	 * memory advisors and caches ({@link Advisor#DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER}).
	 * So another memory is refused before it has stored anything, and an answer from a
	 * cache is a turn too.
	 */
	public static final int TURN_ORDER = Advisor.DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER - 10;

	/**
	 * The order of the advisor inside the tool loop, close behind the default order of
	 * tool advisors.
	 */
	public static final int ROUND_ORDER = ToolCallingAdvisor.DEFAULT_ORDER + 100;

	/**
	 * The order of the advisor directly before the model, inside all advisors that may
	 * change a request.
	 */
	public static final int MODEL_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	private SessionParameters() {
	}

}
