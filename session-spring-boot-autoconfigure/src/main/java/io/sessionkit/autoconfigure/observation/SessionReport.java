package io.sessionkit.autoconfigure.observation;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * The answers of the endpoint. A value that could quote a conversation is null or empty
 * unless texts are shown.
 */
final class SessionReport {

	private SessionReport() {
	}

	/**
	 * The sessions of an owner.
	 *
	 * @param store the type of the store
	 * @param owner the owner; empty for none
	 * @param count the number of sessions
	 * @param isMore whether there may be more than that many
	 * @param sessions the sessions of the page
	 * @param approvals the tool calls of the page that wait for a person
	 */
	record Overview(String store, String owner, int count, boolean isMore, List<Header> sessions,
			List<Approval> approvals) {
	}

	/**
	 * One session.
	 *
	 * @param session its header
	 * @param turns its turns
	 * @param approvals its tool calls that wait for a person
	 */
	record Details(Header session, List<TurnLine> turns, List<Approval> approvals) {
	}

	/**
	 * A session without its turns. Title, tags and attributes are texts.
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record Header(String owner, String id, String branch, long version, long turns, long items, long viewTurns,
			long viewTokens, long summarizedUpTo, long openTurn, Instant createdAt, Instant updatedAt,
			@Nullable Instant expiresAt, @Nullable String title, @Nullable Set<String> tags,
			@Nullable Map<String, Object> attributes) {

		static Header of(Session session, boolean showTexts) {
			return new Header(session.key().owner(), session.key().id(), session.branch(), session.version(),
					session.turns(), session.items(), session.totals().turns(), session.totals().tokens(),
					session.summaryTurn(), session.openTurn(), session.createdAt(), session.updatedAt(),
					session.expiresAt(), showTexts ? session.title() : null, showTexts ? session.tags() : null,
					showTexts ? session.attributes() : null);
		}

	}

	/**
	 * A turn. Its messages are texts.
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record TurnLine(long number, String id, long parent, String branch, TurnStatus status, @Nullable String agent,
			@Nullable String model, Instant startedAt, @Nullable Instant endedAt, int items, int tokens, int rounds,
			TokenUsage usage, @Nullable String failure, @Nullable List<Line> messages) {

		static TurnLine of(Turn turn, List<SessionItem> messages) {
			return new TurnLine(turn.number(), turn.id(), turn.parent(), turn.branch(), turn.status(), turn.agent(),
					turn.model(), turn.startedAt(), turn.endedAt(), turn.items(), turn.tokens(), turn.rounds().size(),
					turn.usage(), turn.failure(), messages.isEmpty() ? null : messages.stream().map(Line::of).toList());
		}

	}

	/**
	 * A message.
	 */
	record Line(long sequence, String role, String text) {

		static Line of(SessionItem item) {
			return new Line(item.sequence(), item.role().getValue(), text(item.message()));
		}

		private static String text(Message message) {
			if (message instanceof ToolResponseMessage results) {
				return results.getResponses().toString();
			}
			String text = (message.getText() != null) ? message.getText() : "";
			return (message instanceof AssistantMessage reply && reply.hasToolCalls()) ? text + reply.getToolCalls()
					: text;
		}

	}

	/**
	 * A tool call that waits for a person. Its arguments and its description are texts.
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record Approval(String owner, String session, String id, String turnId, String tool, @Nullable String agent,
			ApprovalStatus status, Instant requestedAt, @Nullable Instant expiresAt, @Nullable String arguments,
			@Nullable String description) {

		static Approval of(ToolApproval call, boolean showTexts) {
			return new Approval(call.key().owner(), call.key().id(), call.id(), call.turnId(), call.tool(),
					call.agent(), call.status(), call.requestedAt(), call.expiresAt(),
					showTexts ? call.arguments() : null, showTexts ? call.description() : null);
		}

	}

}
