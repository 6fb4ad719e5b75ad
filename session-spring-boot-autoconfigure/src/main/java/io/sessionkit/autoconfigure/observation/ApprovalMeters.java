package io.sessionkit.autoconfigure.observation;

import java.util.EnumMap;
import java.util.Map;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval;
import org.jspecify.annotations.Nullable;

import org.springframework.context.event.EventListener;

/**
 * Counts what becomes of tool calls that need consent. The names of tools are no tags,
 * since those of servers are not known before.
 */
final class ApprovalMeters {

	private final Counter requested;

	private final Map<Decision.Verb, Counter> decided = new EnumMap<>(Decision.Verb.class);

	private final Counter expired;

	private final Counter executed;

	ApprovalMeters(MeterRegistry registry) {
		this.requested = counter("requested", "Tool calls that began to wait for a person.").register(registry);
		for (Decision.Verb verb : Decision.Verb.values()) {
			this.decided.put(verb,
					counter("decided", "Tool calls that were decided, also by a standing decision.")
						.tag("decision", ObservationNames.value(verb))
						.register(registry));
		}
		this.expired = counter("expired",
				"Tool calls that nobody decided in time, when their turn continues or is cancelled.")
			.register(registry);
		this.executed = counter("executed", "Tool calls with consent that have run.").register(registry);
	}

	private static Counter.Builder counter(String name, String description) {
		return Counter.builder("sessionkit.approvals." + name).description(description);
	}

	@EventListener
	void count(ApprovalEvent event) {
		if (event instanceof ApprovalEvent.Requested) {
			this.requested.increment();
		}
		else if (event instanceof ApprovalEvent.Decided) {
			decided(event.approval().decision());
		}
		else if (event instanceof ApprovalEvent.Expired) {
			this.expired.increment();
		}
		else if (event instanceof ApprovalEvent.Executed) {
			executed(event.approval().decision());
		}
	}

	/** With {@code durability=step} each call has an entry, and nobody decides. */
	private void executed(ToolApproval.@Nullable Decided decision) {
		if (decision != null) {
			this.executed.increment();
		}
	}

	private void decided(ToolApproval.@Nullable Decided decision) {
		Counter counter = (decision != null) ? this.decided.get(decision.verb()) : null;
		if (counter != null) {
			counter.increment();
		}
	}

}
