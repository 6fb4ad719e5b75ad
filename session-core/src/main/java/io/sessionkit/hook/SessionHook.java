package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.util.ClassUtils;

/**
 * Checks and changes what goes into a turn and what comes out of it. Every method leaves
 * things as they are unless it is overridden.
 * <p>
 * Hooks are asked in calls on a session. A call that names none passes without them, and
 * so does a model that is called without the session advisor: the log says so at the
 * first such call that the advisor sees.
 * <p>
 * Several hooks stand around the model like layers: those before the model are asked from
 * the first to the last, those after it from the last to the first, each with what the
 * one before has left. The first that answers or refuses ends that round of questions.
 * <p>
 * A hook is given copies: to change them has no effect, what counts is the result. A
 * result of null is an error. One hook serves many turns at once and must be safe for use
 * by many threads. In a call it runs on the caller's thread, in a stream on a thread that
 * may wait, with the one exception that {@link #checksReplies} names; a turn that is
 * cancelled is saved on such a thread too.
 * <p>
 * Guards fail closed. A hook that throws before the model stops the turn: the model is
 * not called, the exception reaches the caller as it is, and the turn is kept as FAILED.
 * A hook that throws on a reply, or on what is to be kept, withholds the reply like one
 * that refuses; the caller gets a {@link io.sessionkit.HookFailedException} and the turn
 * has failed.
 */
public interface SessionHook {

	/**
	 * How the hook is called in verdicts, events and exceptions.
	 * @return the name; by default that of the class, without its package
	 */
	default String name() {
		Class<?> type = ClassUtils.getUserClass(this);
		String name = type.getSimpleName();
		return name.isEmpty() ? type.getName().substring(type.getName().lastIndexOf('.') + 1) : name;
	}

	/**
	 * Asked once, when the turn is open, about what the user says.
	 * <p>
	 * May keep; replace what is sent and stored as the input of this turn; answer, and no
	 * advisor inside of the session nor the model is called; refuse. Where it answers,
	 * the input is stored as it is and becomes history: {@link #beforeSave} can take out
	 * what must not stay. Where it refuses or throws, nothing of the input is kept with
	 * the turn.
	 * @param context the turn
	 * @param input the messages of the call, without system text
	 * @return what to do with them; another input must have a message and no system text,
	 * and end with a user message or tool results unless the input that the caller gave
	 * ends otherwise
	 */
	default HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
		return HookResult.keep();
	}

	/**
	 * Asked before each model call about the request. Limits are applied to what it
	 * returns, then the {@link io.sessionkit.context.SequenceGuard}.
	 * <p>
	 * May keep; replace what this call sends, which changes nothing that is stored and
	 * nothing in the next round: it is asked anew then, about the original, and should
	 * give the same for the same; answer, and the model is not called again; refuse. The
	 * request must still end with a user message or tool results.
	 * @param context the turn
	 * @param request system text, history, the messages of this turn so far, and where
	 * they begin
	 * @return what to do with its messages
	 */
	default HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
		return HookResult.keep();
	}

	/**
	 * Asked after each model call about the reply, before its tools are called. An answer
	 * that a hook or an advisor gave instead of the model, and results of tools that go
	 * to the caller directly, are seen by {@link #beforeSave} only.
	 * <p>
	 * May keep; replace the reply for the tool loop, the caller and the store; refuse. No
	 * tool runs after another reply without tool calls.
	 * @param context the turn
	 * @param reply the reply that the tool loop follows; its text may be null, and the
	 * arguments of its tool calls are JSON as the model has written it, with escapes
	 * @return what to do with it
	 */
	default HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
		return HookResult.keep();
	}

	/**
	 * Checks and changes what is kept of the turn, before it is stored: once when it is
	 * over, or once for each {@link TurnPart part} where it is stored in parts. A turn
	 * that has failed or was cancelled is kept too, beside the history.
	 * <p>
	 * May keep; replace what is kept, which changes nothing for the caller; refuse, and
	 * the turn ends as REFUSED: its reply is withheld, and where more of it was to follow
	 * no further tool runs. A guard on replies looks at {@link TurnPart#reply} and at
	 * nothing else. Where it refuses or throws, only the input is kept of the part, as
	 * {@link #beforeTurn} has left it.
	 * <p>
	 * What is left out of a part that is not the last is not there when another process
	 * continues the turn: the model is not shown it again then.
	 * @param context the turn
	 * @param part the messages that are about to be stored: input, tool rounds, reply
	 * @return what to do with the messages; another list must have no system text, and
	 * unless the turn ends without becoming history the results of each call right behind
	 * it. It must have a message if this is the first part
	 */
	default HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		return HookResult.keep();
	}

	/**
	 * Asked about what is summarized, outside of any turn: first the messages that a
	 * summarizer is about to read, then the summary that it wrote, as the text of one
	 * reply. Only hooks of all calls are asked, in their order.
	 * <p>
	 * May keep; replace; refuse. Where it refuses or throws, no summary is made and
	 * nothing changes. The thread that runs it may wait.
	 * @param messages user, assistant and tool response messages
	 * @return what to do with them
	 */
	default HookResult<List<Message>> beforeSummary(List<Message> messages) {
		return HookResult.keep();
	}

	/**
	 * Returns whether {@link #beforeTurn} is asked beside the first model call of the
	 * turn instead of before it, so that the two take as long as the slower of them. It
	 * may keep or refuse then; to replace the input or to answer is an error, since the
	 * model has the input already.
	 * <p>
	 * Nothing that the model says goes on before the guard has passed: no chunk of a
	 * stream reaches the caller, no tool runs, no other hook is asked about the reply.
	 * Where the guard refuses or throws, the model call is cancelled, and the turn ends
	 * as if it had been asked before, without any message.
	 * <p>
	 * What it costs: the model gets the input, and is paid, also where the guard refuses
	 * it; hooks on the request and the advisors inside of the session have done their
	 * work by then. A call that is cancelled is interrupted, or its stream is cancelled;
	 * whether the provider stops then is up to the client of the model. So choose it for
	 * guards that seldom refuse, and never for one that keeps texts from the model.
	 * <p>
	 * In a call the guard runs on the caller's thread, and the model call on another one,
	 * with the observation and what else is registered for context propagation. Guards
	 * beside the model are asked one after the other, with the input as the others have
	 * left it. Where the model is not called, since a hook or a cache answers, they are
	 * asked before the answer goes on; about messages that were queued while the turn
	 * waited, before any tool runs.
	 * @return by default false: it is asked before the model
	 */
	default boolean runsBesideModel() {
		return false;
	}

	/**
	 * Whether this hook may withhold or change a reply. Then a stream waits: its
	 * subscriber gets nothing before all replies of the turn have passed and the turn is
	 * stored, and then only what the hooks have seen, in one piece for each reply. What
	 * was delivered could not be taken back.
	 * <p>
	 * A hook that says false is held to it, in calls as in streams: to refuse or replace
	 * in {@link #afterModel}, or to refuse in {@link #beforeSave}, is an error then. It
	 * may still look, and change what is kept. Its {@link #afterModel} runs where the
	 * model's stream does, and must not wait.
	 * @return by default, whether it overrides {@link #afterModel} or {@link #beforeSave}
	 */
	default boolean checksReplies() {
		return ReplyMethods.areOverriddenBy(getClass());
	}

}
