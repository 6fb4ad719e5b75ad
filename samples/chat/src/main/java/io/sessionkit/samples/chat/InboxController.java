package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;

import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lists the tool calls that wait for a person, in all threads.
 */
@RestController
final class InboxController {

	private static final int MOST = 100;

	private final Approvals approvals;

	private final Titles titles;

	InboxController(Approvals approvals, Titles titles) {
		this.approvals = approvals;
		this.titles = titles;
	}

	/**
	 * Returns the calls that have waited longest first.
	 */
	@GetMapping("/api/inbox")
	List<WaitingView> waiting() {
		return this.approvals.pending("", Page.first(MOST))
			.stream()
			.filter((call) -> call.status().isPending())
			.sorted(Comparator.comparing(ToolApproval::requestedAt))
			.map((call) -> new WaitingView(call.key().id(), this.titles.of(call.key()), call.tool(),
					Calls.title(call.tool()), call.requestedAt(), call.expiresAt()))
			.toList();
	}

	/**
	 * @param title the title of the thread
	 * @param callTitle what the tool does, in a few words
	 */
	record WaitingView(String thread, String title, String tool, String callTitle, Instant requestedAt,
			@Nullable Instant expiresAt) {
	}

}
