package io.sessionkit.internal.ledger;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.attribute.AttributeChange;
import org.jspecify.annotations.Nullable;

/**
 * Converts calls and standing decisions to the values of a record and back. Values of a
 * newer version are refused: their meaning is not known, and nothing may run on a guess.
 */
final class LedgerForm {

	/** The newest version. Version 1 kept the last decision only. */
	private static final int VERSION = 2;

	private LedgerForm() {
	}

	static Map<String, Object> values(LedgerEntry entry) {
		ToolApproval approval = entry.approval();
		Values values = new Values().put("version", VERSION)
			.put("id", approval.id())
			.put("turn", approval.turnId())
			.put("round", approval.round())
			.put("index", approval.index())
			.put("agent", approval.agent())
			.put("call", approval.callId())
			.put("tool", approval.tool())
			.put("arguments", approval.arguments())
			.put("digest", approval.digest())
			.put("description", storable(approval.description()))
			.put("status", approval.status().name())
			.put("requestedAt", approval.requestedAt())
			.put("expiresAt", approval.expiresAt())
			.put("claimedAt", approval.claimedAt())
			.put("endedAt", approval.endedAt())
			.put("toolDigest", approval.requirements().toolDigest())
			.put("schema", storable(approval.requirements().schema()))
			.put("marker", approval.requirements().version())
			.put("trace", approval.requirements().traceId())
			.put("holder", entry.holder())
			.put("result", entry.result())
			.put("failed", entry.failed())
			.put("attributes", entry.attributes().isEmpty() ? null : entry.attributes().values())
			.put("times", approval.times())
			.put("decisions", approval.decisions().stream().map(LedgerForm::values).toList());
		return values.map();
	}

	private static Map<String, Object> values(ToolApproval.Decided decision) {
		return new Values().put("verb", decision.verb().name())
			.put("by", decision.by())
			.put("at", decision.at())
			.put("reason", storable(decision.reason()))
			.put("arguments", decision.arguments())
			.put("digest", decision.digest())
			.put("standing", decision.standing())
			.map();
	}

	/**
	 * Returns the text of a policy or a tool as it can be stored. A call must not be lost
	 * because its reason was cut in the middle of a character, or quotes an argument that
	 * was.
	 */
	private static @Nullable String storable(@Nullable String text) {
		return (text != null) ? LoneSurrogates.replaced(text) : null;
	}

	/**
	 * Returns the call that the values describe.
	 * @param revision the revision of their record
	 */
	static LedgerEntry entry(SessionKey key, Map<?, ?> values, long revision) {
		checkVersion(key, values);
		try {
			ToolApproval approval = new ToolApproval(key, text(values, "id"), origin(values), call(values),
					request(values), progress(values));
			return new LedgerEntry(approval, optional(values, "holder"), optional(values, "result"),
					Boolean.TRUE.equals(values.get("failed")), AttributeChange.of(values.get("attributes")), revision);
		}
		catch (ClassCastException | IllegalArgumentException ex) {
			throw unreadable(key);
		}
	}

	private static ToolApproval.Origin origin(Map<?, ?> values) {
		return new ToolApproval.Origin(text(values, "turn"), number(values, "round"), number(values, "index"),
				optional(values, "agent"));
	}

	private static ToolApproval.Call call(Map<?, ?> values) {
		return new ToolApproval.Call(text(values, "call"), text(values, "tool"), text(values, "arguments"),
				text(values, "digest"), values.containsKey("times") ? number(values, "times") : 1);
	}

	private static ToolApproval.Request request(Map<?, ?> values) {
		return new ToolApproval.Request(optional(values, "description"), instant(values, "requestedAt"),
				(Instant) values.get("expiresAt"), new ToolApproval.Requirements(optional(values, "toolDigest"),
						optional(values, "schema"), optional(values, "marker"), optional(values, "trace")));
	}

	private static ToolApproval.Progress progress(Map<?, ?> values) {
		return new ToolApproval.Progress(ApprovalStatus.valueOf(text(values, "status")), decisions(values),
				(Instant) values.get("claimedAt"), (Instant) values.get("endedAt"));
	}

	static Map<String, Object> values(StandingDecision decision) {
		return new Values().put("version", VERSION)
			.put("tool", decision.tool())
			.put("digest", decision.digest())
			.put("toolDigest", decision.calls().toolDigest())
			.put("marker", decision.calls().version())
			.put("approved", decision.approved())
			.put("reason", storable(decision.reason()))
			.put("by", decision.by())
			.put("at", decision.at())
			.map();
	}

	/**
	 * Reads a standing decision. One that an earlier build has stored without the digest
	 * of its tool has that of no tool, so that it counts for no call and can be revoked.
	 */
	static StandingDecision standing(SessionKey key, String id, Map<?, ?> values) {
		checkVersion(key, values);
		try {
			return new StandingDecision(key, id,
					new StandingDecision.Calls(text(values, "tool"), optional(values, "digest"),
							Objects.requireNonNullElse(optional(values, "toolDigest"), ""), optional(values, "marker")),
					new StandingDecision.Decided(Boolean.TRUE.equals(values.get("approved")),
							optional(values, "reason"), text(values, "by"), instant(values, "at")));
		}
		catch (ClassCastException | IllegalArgumentException ex) {
			throw unreadable(key);
		}
	}

	private static List<ToolApproval.Decided> decisions(Map<?, ?> values) {
		if (values.containsKey("by")) {
			return List.of(decisionOfVersion1(values));
		}
		List<ToolApproval.Decided> decisions = new ArrayList<>();
		if (values.get("decisions") instanceof List<?> all) {
			all.forEach((each) -> decisions.add(decision((Map<?, ?>) each)));
		}
		return decisions;
	}

	private static ToolApproval.Decided decision(Map<?, ?> values) {
		return new ToolApproval.Decided(Decision.Verb.valueOf(text(values, "verb")), text(values, "by"),
				instant(values, "at"), optional(values, "reason"), optional(values, "arguments"),
				optional(values, "digest"), optional(values, "standing"));
	}

	/**
	 * Returns the decision of a record of version 1, which did not store its verb. The
	 * verb is derived from the outcome of the call.
	 */
	private static ToolApproval.Decided decisionOfVersion1(Map<?, ?> values) {
		String digest = optional(values, "effectiveDigest");
		boolean answered = digest == null && text(values, "status").equals(ApprovalStatus.DONE.name());
		Decision.Verb verb = (digest != null) ? Decision.Verb.APPROVE
				: answered ? Decision.Verb.ANSWER : Decision.Verb.REJECT;
		return new ToolApproval.Decided(verb, text(values, "by"), instant(values, "decidedAt"),
				optional(values, "reason"), optional(values, "effectiveArguments"), digest,
				optional(values, "standing"));
	}

	private static void checkVersion(SessionKey key, Map<?, ?> values) {
		if (!(values.get("version") instanceof Integer version) || version < 1) {
			throw unreadable(key);
		}
		if (version > VERSION) {
			throw new UnsupportedVersionException("A tool call that waits in session " + key
					+ " was written in version " + version + " of its form; this one reads up to " + VERSION
					+ ". Decide and continue it with the version that wrote it.");
		}
	}

	private static String text(Map<?, ?> values, String name) {
		Object value = values.get(name);
		if (value == null) {
			throw new IllegalArgumentException(name);
		}
		return (String) value;
	}

	private static @Nullable String optional(Map<?, ?> values, String name) {
		return (String) values.get(name);
	}

	private static int number(Map<?, ?> values, String name) {
		if (values.get(name) instanceof Integer number && number >= 0) {
			return number;
		}
		throw new IllegalArgumentException(name);
	}

	private static Instant instant(Map<?, ?> values, String name) {
		if (values.get(name) instanceof Instant instant) {
			return instant;
		}
		throw new IllegalArgumentException(name);
	}

	private static UnreadablePayloadException unreadable(SessionKey key) {
		return new UnreadablePayloadException("A tool call or decision of session " + key + " cannot be read.", null);
	}

	/**
	 * Collects values and leaves out those that are null.
	 */
	private record Values(Map<String, Object> map) {

		Values() {
			this(new HashMap<>());
		}

		Values put(String name, @Nullable Object value) {
			if (value != null) {
				this.map.put(name, value);
			}
			return this;
		}

	}

}
