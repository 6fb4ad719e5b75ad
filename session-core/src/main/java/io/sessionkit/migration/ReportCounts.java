package io.sessionkit.migration;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.migration.ImportReport.LeftOut;
import io.sessionkit.migration.ImportReport.NotImported;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportReport.Reason;

/**
 * Counts what an import does. Not safe for use by many threads.
 */
final class ReportCounts {

	private final Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);

	/** The outcomes that a warning has told of. */
	private final Set<Outcome> warned = EnumSet.noneOf(Outcome.class);

	private final Map<Reason, Long> reasons = new EnumMap<>(Reason.class);

	private final List<NotImported> notImported = new ArrayList<>();

	private final List<LeftOut> leftOut = new ArrayList<>();

	private long turns;

	private long messages;

	private long summaries;

	void ended(SourceConversation conversation, Outcome outcome) {
		this.outcomes.merge(outcome, 1, Integer::sum);
		boolean imported = outcome == Outcome.IMPORTED || outcome == Outcome.ALREADY_IMPORTED;
		if (!imported && this.notImported.size() < ImportReport.MAX_DETAILS) {
			this.notImported.add(new NotImported(conversation.id(), outcome));
		}
	}

	/** Returns whether no conversation has had an outcome so far. */
	boolean isFirst(Outcome outcome) {
		return !this.outcomes.containsKey(outcome);
	}

	/** Returns whether no warning has told of an outcome so far. */
	boolean isFirstWarning(Outcome outcome) {
		return this.warned.add(outcome);
	}

	void leftOut(SourceConversation conversation, SourceMessage message, Reason reason) {
		this.reasons.merge(reason, 1L, Long::sum);
		if (this.leftOut.size() < ImportReport.MAX_DETAILS) {
			this.leftOut.add(new LeftOut(conversation.id(), message.name(), reason));
		}
	}

	void imported(List<SourceTurn> turns) {
		this.turns += turns.size();
		turns.forEach((turn) -> this.messages += turn.messages().size());
	}

	void summary() {
		this.summaries++;
	}

	ImportReport report(boolean dryRun) {
		return new ImportReport(dryRun, this.outcomes, this.turns, this.messages, this.summaries, this.reasons,
				this.notImported, this.leftOut);
	}

}
