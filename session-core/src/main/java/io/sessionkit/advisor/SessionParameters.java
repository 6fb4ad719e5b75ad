package io.sessionkit.advisor;

import java.util.List;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;
import io.sessionkit.TurnResult;
import io.sessionkit.hook.HistoryMerge;

import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.core.Ordered;

/**
 * The names of the advisor parameters, and the orders of the advisors.
 */
final class SessionParameters {

	static final String SESSION = "sessionkit.session";

	static final String AGENT = "sessionkit.agent";

	static final String LIMIT = "sessionkit.limit";

	static final String EXPECT_TURN = "sessionkit.expect-turn";

	static final String EDITING = "sessionkit.editing";

	static final String REGENERATING = "sessionkit.regenerating";

	static final String BRANCH = "sessionkit.branch";

	static final String HISTORY = "sessionkit.history";

	static final String HISTORY_POLICY = "sessionkit.history-policy";

	/** The advisor parameter of a call that only reads its session. */
	static final String READING = "sessionkit.reading";

	/** The parameters that name the place at which a turn begins. */
	static final List<String> STARTS = List.of(EDITING, REGENERATING, BRANCH, HISTORY, READING);

	/** The advisor parameter that holds the {@link ChildSession} of a call. */
	static final String CHILD = "sessionkit.child";

	/** The advisor parameter that holds the merge of one call: a {@link HistoryMerge}. */
	static final String MERGE = "sessionkit.merge";

	/** The advisor parameter that holds the {@link OnCancel} of one call. */
	static final String ON_CANCEL = "sessionkit.on-cancel";

	/** The advisor parameter that holds the {@link Concurrency} of one call. */
	static final String CONCURRENCY = "sessionkit.concurrency";

	/** The advisor parameter of a call whose messages join no other turn. */
	static final String OWN_TURN = "sessionkit.own-turn";

	/** The advisor parameter that holds the name of the request that a call makes. */
	static final String IDEMPOTENCY_KEY = "sessionkit.idempotency-key";

	/** The advisor parameter that holds the {@link CallReader} of one call. */
	static final String READER = "sessionkit.reader";

	/** The advisor parameter that holds the {@link StreamStart} of one call. */
	static final String STREAM = "sessionkit.stream";

	/** The metadata entry of a response that was not paid for again. */
	static final String REPEATED = "sessionkit.repeated";

	/** The metadata entry of a response to a message that has joined another turn. */
	static final String STEERED = "sessionkit.steered";

	/** The metadata entry of a response that holds its {@link TurnResult}. */
	static final String TURN = "sessionkit.turn";

	/**
	 * The order of the advisor outside the tool loop. It is also outside Spring AI's own
	 * memory advisors and caches ({@link Advisor#DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER}).
	 * So another memory is refused before it has stored anything, and an answer from a
	 * cache is a turn too.
	 */
	static final int TURN_ORDER = Advisor.DEFAULT_CHAT_MEMORY_PRECEDENCE_ORDER - 10;

	/**
	 * The order of the advisor inside the tool loop, close behind the default order of
	 * tool advisors.
	 */
	static final int ROUND_ORDER = ToolCallingAdvisor.DEFAULT_ORDER + 100;

	/**
	 * The order of the advisor directly before the model, inside all advisors that may
	 * change a request.
	 */
	static final int MODEL_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	private SessionParameters() {
	}

}
