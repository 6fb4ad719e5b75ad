package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.hook.SessionHook;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Logs once that hooks do not run in calls that name no session, since an application
 * with a guard may expect that it checks all calls. Safe for use by many threads.
 */
final class SkippedHooks {

	private static final Log logger = LogFactory.getLog(SkippedHooks.class);

	private final List<SessionHook> ofAllCalls;

	private final AtomicBoolean reported = new AtomicBoolean();

	SkippedHooks(List<SessionHook> ofAllCalls) {
		this.ofAllCalls = ofAllCalls;
	}

	/**
	 * Logs the hooks that are skipped, for the first call without a session that has any.
	 * @param parameters the advisor parameters of the call, which may bring hooks
	 */
	void passed(Map<String, ?> parameters) {
		if (this.reported.get()) {
			return;
		}
		List<SessionHook> skipped = new ArrayList<>(this.ofAllCalls);
		skipped.addAll(CallAddition.of(parameters, SessionHook.class));
		if (!skipped.isEmpty() && this.reported.compareAndSet(false, true)) {
			logger.warn("A call names no session, so it passes without its hooks being asked: "
					+ skipped.stream().map(SessionHook::name).toList() + ". Guards check calls on a session only. Add"
					+ " .advisors(SessionAdvisor.session(..)) to the call, or SessionAdvisor.none() if that is meant;"
					+ " sessionkit.require-session=true refuses such calls. This is logged once.");
		}
	}

}
