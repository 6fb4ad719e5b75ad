package io.sessionkit.samples.webflux;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.Page;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The calls that wait for the user who is signed in: those that this user may decide,
 * whose thread it ever is.
 */
@RestController
@RequestMapping("/inbox")
class InboxController {

	private static final int OLDEST = 20;

	private final Approvals approvals;

	InboxController(Approvals approvals) {
		this.approvals = approvals;
	}

	record Waiting(String owner, String thread, String id, String shown, String tool, String arguments) {

		static Waiting of(ToolApproval call) {
			return new Waiting(call.key().owner(), call.key().id(), call.id(), call.asShown(), call.tool(),
					call.arguments());
		}

	}

	/** The request does not name the person who decides. */
	record Answer(String shown, boolean approved) {
	}

	@GetMapping
	Mono<List<Waiting>> waiting() {
		return Mono
			.fromCallable(() -> this.approvals.inbox(InboxQuery.ofAnyOwner(), Page.first(OLDEST))
				.stream()
				.map(Waiting::of)
				.toList())
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping(path = "/{owner}/{thread}/{id}", consumes = MediaType.APPLICATION_JSON_VALUE)
	Mono<String> decide(@PathVariable String owner, @PathVariable String thread, @PathVariable String id,
			@RequestBody Answer answer) {
		Decision decision = answer.approved() ? Decision.approve("the user") : Decision.reject("the user");
		return Mono
			.fromCallable(() -> this.approvals.decide(SessionKey.of(owner, thread), id, answer.shown(), decision))
			.map((decided) -> decided.status().code())
			.subscribeOn(Schedulers.boundedElastic());
	}

}
