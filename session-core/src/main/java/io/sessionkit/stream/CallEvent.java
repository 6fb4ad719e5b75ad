package io.sessionkit.stream;

import java.util.List;

import io.sessionkit.SessionException;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * An event of one call, for the one who reads its reply. The events of a call come from
 * {@link CallEvents}, in this order: {@link Begun}, {@link Steered} or {@link Repeated},
 * what happens, and {@link Ended} or {@link Failed} as the last one; a stream that is
 * resumed may end with {@link Lost}. They name neither the session nor its owner, so they
 * can be sent to a browser as they are. Immutable.
 */
public sealed interface CallEvent {

	/**
	 * Returns the name of the event, which distinguishes it from others once it is
	 * written as JSON. It suits the field {@code event} of a server-sent event.
	 * @return the name of its type in lower case, with hyphens between words
	 */
	String name();

	/**
	 * The first event of a call that has to wait until others have worked on its session.
	 */
	record InLine() implements CallEvent {

		@Override
		public String name() {
			return "in-line";
		}

	}

	/**
	 * The begin of a call that works on a turn: its model is about to be called, or the
	 * tools of a turn that it continues.
	 *
	 * @param turnId the id of the turn
	 */
	record Begun(String turnId) implements CallEvent {

		@Override
		public String name() {
			return "begun";
		}

	}

	/**
	 * The first event of a call that does not work itself, since its message has joined
	 * the turn of another call: the text and the end of that turn follow.
	 */
	record Steered() implements CallEvent {

		@Override
		public String name() {
			return "steered";
		}

	}

	/**
	 * The first event of a call whose request was answered before: the text and the end
	 * of that turn follow.
	 */
	record Repeated() implements CallEvent {

		@Override
		public String name() {
			return "repeated";
		}

	}

	/**
	 * A message of another call has joined the turn. The model reads it in its next
	 * round.
	 *
	 * @param text what the user has said
	 */
	record Joined(String text) implements CallEvent {

		@Override
		public String name() {
			return "joined";
		}

	}

	/**
	 * A piece of what the model thinks, from a provider that tells it. There is none if a
	 * hook checks replies, since hooks check their texts alone.
	 *
	 * @param text the text, which never ends within a character
	 */
	record Reasoning(String text) implements CallEvent {

		@Override
		public String name() {
			return "reasoning";
		}

	}

	/**
	 * A piece of what the model says.
	 *
	 * @param text the text, which never ends within a character
	 */
	record Text(String text) implements CallEvent {

		@Override
		public String name() {
			return "text";
		}

	}

	/**
	 * A tool call of a reply that is complete. It need not run: a call that needs an
	 * approval waits.
	 *
	 * @param callId the id that the model gave it; may be empty, and need not be unique
	 * @param tool the name of the tool
	 * @param arguments the arguments, as the model wrote them
	 */
	record ToolCalled(String callId, String tool, String arguments) implements CallEvent {

		@Override
		public String name() {
			return "tool-called";
		}

	}

	/**
	 * The result of a tool call. It comes as soon as the tool has ended, before those of
	 * other calls of the same reply. The text that replaces the result of a tool that has
	 * failed comes when all calls of the reply have ended.
	 *
	 * @param callId the id that the model gave the call; may be empty, and need not be
	 * unique
	 * @param tool the name of the tool
	 * @param result the result, as the model gets it
	 */
	record ToolReturned(String callId, String tool, String result) implements CallEvent {

		@Override
		public String name() {
			return "tool-returned";
		}

	}

	/**
	 * The tool calls that wait for a person. The end of the call follows.
	 *
	 * @param calls the calls, in their order
	 */
	record Waiting(List<WaitingCall> calls) implements CallEvent {

		public Waiting {
			calls = List.copyOf(calls);
		}

		@Override
		public String name() {
			return "waiting";
		}

	}

	/**
	 * A tool call that waits for a person.
	 *
	 * @param id the id by which it is decided, as
	 * {@link io.sessionkit.approval.ToolApproval#id()}
	 * @param callId the id that the model gave it, as {@link ToolCalled#callId}; may be
	 * empty, and need not be unique
	 * @param tool the name of the tool
	 * @param arguments the arguments, as the model wrote them
	 * @param description the text of the policy for the person who decides; null for none
	 * @param shown what a decision on the call says that its person was shown, as
	 * {@link io.sessionkit.approval.ToolApproval#asShown()}
	 */
	record WaitingCall(String id, String callId, String tool, String arguments, @Nullable String description,
			String shown) {
	}

	/**
	 * The end of a call. If the status is AWAITING_APPROVAL, another call continues the
	 * turn.
	 *
	 * @param turnId the id of the turn; null if the call is not stored and has not asked
	 * the model
	 * @param turn the number of the turn; 0 if the turn is not stored, or if its number
	 * is not known
	 * @param status how the turn is stored
	 */
	record Ended(@Nullable String turnId, long turn, TurnStatus status) implements CallEvent {

		@Override
		public String name() {
			return "ended";
		}

	}

	/**
	 * The end of a stream that is resumed and has no end: the process that worked on the
	 * call has not shown for a lease that it is there, more has happened than is kept of
	 * a stream, or the session was erased. Also the end of a call that is still at work
	 * when its process ends, for its own readers too, and of one that was stopped, if
	 * what became of its turn is not known ten seconds later, or if nothing of it can be
	 * kept. The turn may be stored all the same, or be open: read the session. Behind
	 * {@link Steered}, the end of a call that was stopped when its message had joined the
	 * turn of another call, where it stays, and that turn was not stored yet.
	 */
	record Lost() implements CallEvent {

		@Override
		public String name() {
			return "lost";
		}

	}

	/**
	 * The end of a call that has failed after its first event.
	 *
	 * @param turnId the id of the turn; null if none was opened
	 * @param status how the turn is kept; null if the call has no turn or nothing is kept
	 * of it, and if it is not known how
	 * @param code what was wrong, as {@link SessionException#code()}; {@code error} for
	 * an exception that is none of SessionKit, whose class is in the log
	 * @param messageKept whether the message of the call is kept with a turn that is open
	 * or in the history: if so, do not send it again, and if not, it can be sent again;
	 * null if nobody knows, so that you have to read the session first
	 */
	record Failed(@Nullable String turnId, @Nullable TurnStatus status, String code,
			@Nullable Boolean messageKept) implements CallEvent {

		@Override
		public String name() {
			return "failed";
		}

	}

}
