package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lists the tool calls of all threads that wait for a person.
 */
@RestController
final class InboxController {

	private static final int MOST = 100;

	/** The store has the newest first, so more are read than are shown. */
	private static final int MOST_READ = 1_000;

	private final Approvals approvals;

	private final Compensations compensations;

	private final SessionStore store;

	private final ThreadViews threads;

	InboxController(Approvals approvals, Compensations compensations, SessionStore store, ThreadViews threads) {
		this.approvals = approvals;
		this.compensations = compensations;
		this.store = store;
		this.threads = threads;
	}

	@GetMapping("/api/inbox")
	List<WaitingCall> inbox() {
		Map<SessionKey, String> titles = new HashMap<>();
		return Stream
			.concat(this.approvals.pending("", Page.first(MOST_READ)).stream(),
					this.compensations.pending("", Page.first(MOST_READ)).stream().filter(this::isBeingTakenBack))
			.filter((call) -> call.status().isPending())
			.sorted(Comparator.comparing(ToolApproval::requestedAt))
			.limit(MOST)
			.map((call) -> view(call, titles.computeIfAbsent(call.key(), this::title)))
			.toList();
	}

	/** One that somebody has left again waits for nobody. */
	private boolean isBeingTakenBack(ToolApproval call) {
		return this.store.find(call.key()).filter((session) -> RewindController.begun(session) != 0).isPresent();
	}

	private String title(SessionKey key) {
		return this.store.find(key).map(this.threads::title).orElse(key.id());
	}

	private static WaitingCall view(ToolApproval call, String title) {
		return new WaitingCall(call.key().id(), title, call.tool(), ToolCallViews.title(call.tool()),
				call.requestedAt(), call.expiresAt());
	}

	/**
	 * @param thread the id of the thread
	 * @param title its title
	 * @param callTitle the head of a sentence for the tool
	 */
	record WaitingCall(String thread, String title, String tool, String callTitle, Instant requestedAt,
			@Nullable Instant expiresAt) {
	}

}
