package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.util.ClassUtils;

/**
 * Checks and changes the input and the output of a turn. Every method leaves things as
 * they are unless it is overridden.
 * <p>
 * Hooks run in calls on a session. They do not run in a call that names no session, nor
 * when a model is called without the session advisor: a message is logged at the first
 * such call that the advisor sees.
 * <p>
 * Several hooks surround the model like layers. Beans are in the order that
 * {@code @Order} says. The hooks before the model run from the first to the last, those
 * after it from the last to the first, each with the value that the previous one has
 * left. The first hook that answers or refuses ends that sequence.
 * <p>
 * A hook is given copies: changing them has no effect, only the result counts. A result
 * of null is an error. One hook serves many turns at once and must be safe for use by
 * many threads. In a call it runs on the caller's thread, in a stream on a thread that
 * may block. A turn that is cancelled is also saved on a thread that may block.
 * <p>
 * Guards fail closed. A hook that throws before the model stops the turn: the model is
 * not called, the exception reaches the caller as it is, and the turn is kept as FAILED.
 * A hook that throws on a reply, or on the messages to store, withholds the reply like
 * one that refuses: the caller gets a {@link HookFailedException} and the turn has
 * failed.
 */
public interface SessionHook {

	/**
	 * Returns the name of the hook in verdicts, events and exceptions.
	 * @return the name; by default the name of the class without its package
	 */
	default String name() {
		Class<?> type = ClassUtils.getUserClass(this);
		String name = type.getSimpleName();
		return name.isEmpty() ? type.getName().substring(type.getName().lastIndexOf('.') + 1) : name;
	}

	/**
	 * Checks and changes the input of a turn. Called once, when the turn is open, except
	 * for messages that join another turn.
	 * <p>
	 * The hook may keep the input. It may replace it, for the model and for the store. It
	 * may answer: then neither the advisors inside of the session advisor nor the model
	 * are called, and the input is stored as it is and becomes history;
	 * {@link #beforeSave} can remove what must not stay. It may refuse. If it refuses or
	 * throws, nothing of the input is kept with the turn.
	 * <p>
	 * A question that is asked again, as by {@code SessionAdvisor.regenerating()}, comes
	 * as it is stored, so as the hook has left it before: a hook that adds something
	 * looks whether it is there.
	 * <p>
	 * A message that is to join another turn, one that waits
	 * ({@link io.sessionkit.approval.OnNewMessage#QUEUE}) or one that runs
	 * ({@link io.sessionkit.Concurrency#STEER}), is stored before that turn has it. So
	 * the hook is called before it is stored, on the thread of the call that brings it,
	 * with the id of a turn that is not stored and without messages of the turn so far.
	 * It must neither answer nor forget messages then. It is called again when the
	 * message joins, with what is left of the message, if it has written an attribute:
	 * what it wrote is dropped, since the turn may have changed the attributes. It is
	 * called first when the message joins if only the call at work on the turn has it, or
	 * if it was not there before; hooks are known by their {@link #name names}. A hook
	 * that each call sets for itself is called both when a message is queued and when the
	 * turn continues. If a message that was to join a running turn does not join it, it
	 * is a turn of its own, and the hook is called for that turn too.
	 * @param context the turn
	 * @param input the messages of the call, without system text
	 * @return the decision; a replacement must have at least one message and no system
	 * text, and must end with a user message or tool results unless the caller's input
	 * ends otherwise
	 */
	default HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
		return HookResult.keep();
	}

	/**
	 * Checks and changes the request of a model call. Called before each model call.
	 * Limits are applied to its result, and then the
	 * {@link io.sessionkit.context.SequenceGuard}.
	 * <p>
	 * The hook may keep the request. It may replace the messages of this model call; this
	 * changes neither what is stored nor the next round, for which the hook is called
	 * again with the original messages. So it should return the same result for the same
	 * messages. It may answer: then the model is not called again. It may refuse. The
	 * request must still end with a user message or tool results.
	 * @param context the turn
	 * @param request the system text, the history, the messages of this turn so far, and
	 * the index at which they begin
	 * @return the decision on its messages
	 */
	default HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
		return HookResult.keep();
	}

	/**
	 * Checks and changes a reply of the model. Called after each model call, before the
	 * tools of the reply are called. Answers that a hook or an advisor gave instead of
	 * the model, and results of tools that go to the caller directly, are passed to
	 * {@link #beforeSave} only.
	 * <p>
	 * The hook may keep the reply; replace it for the tool loop, the caller and the
	 * store; or refuse. If the replacement has no tool calls, no tool runs.
	 * @param context the turn
	 * @param reply the reply that the tool loop follows; its text may be null, and the
	 * arguments of its tool calls are JSON as the model has written it, including escapes
	 * @return the decision
	 */
	default HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
		return HookResult.keep();
	}

	/**
	 * Checks and changes the messages of a turn before they are stored: once when the
	 * turn is over, or once for each {@link TurnPart part} if it is stored in parts. A
	 * turn that has failed or was cancelled is stored too, but not as history.
	 * <p>
	 * The hook may keep the messages. It may replace them, which changes nothing for the
	 * caller. It may refuse: then the turn ends as REFUSED, its reply is withheld, and if
	 * more of the turn was to follow no further tool runs. A guard on replies should look
	 * at {@link TurnPart#reply} only. If the hook refuses or throws, only the input of
	 * the part is kept, as {@link #beforeTurn} has left it.
	 * <p>
	 * What is kept of a stream that can be resumed has no text that is left out here, and
	 * neither arguments nor results of tools, if a hook overrides this method; only calls
	 * that wait for a person keep their arguments, on which the person decides. Readers
	 * in the process that works on the call get its events as from a stream that cannot
	 * be resumed.
	 * <p>
	 * Messages that are left out of a part that is not the last are missing when another
	 * process continues the turn: the model does not see them again then.
	 * @param context the turn
	 * @param part the messages that are about to be stored: input, tool rounds and reply
	 * @return the decision; a replacement must have no system text. Unless the turn ends
	 * without becoming history, the results of each call must follow it directly. The
	 * first part must have at least one message
	 */
	default HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		return HookResult.keep();
	}

	/**
	 * Checks and changes the messages that are summarized, outside of any turn, and those
	 * that a title is made of. Called up to three times for a summary: with the summary
	 * before, if there is one, with the messages since then, and with the summary that
	 * was written. Called up to twice for a title: with the first question that has a
	 * text and its answer, and with the title that a model has made; again after each of
	 * the first ten turns as long as there is no title. {@link SummaryContext#kind} says
	 * with which. A summary or title is given as the text of one reply. Only hooks that
	 * are registered for all calls are called, in their order.
	 * <p>
	 * The hook may keep the messages, replace them, or refuse. What replaces a summary or
	 * title must be one message with text. If it refuses or throws, or leaves no such
	 * text, no summary is made and nothing changes; the title becomes the first words of
	 * the question, as the hooks have left it, and there is none if that is what they
	 * refuse. The thread that runs it may block.
	 * @param context the session, and what the messages are
	 * @param messages user, assistant and tool response messages
	 * @return the decision
	 */
	default HookResult<List<Message>> beforeSummary(SummaryContext context, List<Message> messages) {
		return HookResult.keep();
	}

	/**
	 * Returns whether {@link #beforeTurn} runs in parallel with the first model call of
	 * the turn instead of before it, so that the two take as long as the slower of them.
	 * It may then only keep or refuse; replacing the input or answering is an error,
	 * since the model has already received the input.
	 * <p>
	 * Nothing of the model's reply is passed on before the guard has passed: no chunk of
	 * a stream reaches the caller, no tool runs, and no other hook receives the reply. If
	 * the guard refuses or throws, the model call is cancelled, and the turn ends as if
	 * the guard had run before it, without any message.
	 * <p>
	 * This has a cost: the model receives the input, and is paid for, even if the guard
	 * refuses it. Hooks on the request and the advisors inside of the session advisor
	 * have already run by then. A call is cancelled by interrupting its thread, a stream
	 * by cancelling it; whether the provider then stops depends on the client of the
	 * model. So use this for guards that seldom refuse, and never for a guard that must
	 * keep texts from the model.
	 * <p>
	 * In a call the guard runs on the caller's thread, and the model call on another one,
	 * with the observation and everything else that is registered for context
	 * propagation. Guards that run in parallel with the model run one after the other,
	 * with the input as the other hooks have left it. If the model is not called because
	 * a hook or a cache answers, they run before the answer is passed on. For messages
	 * that were queued while the turn waited, they run before any tool does.
	 * @return false by default: the guard runs before the model is called
	 */
	default boolean runsBesideModel() {
		return false;
	}

	/**
	 * Returns whether this hook may withhold or change a reply. If it may, a stream
	 * waits, since text that was delivered cannot be taken back: its subscriber gets
	 * nothing before all replies of the turn have passed and the turn is stored, and then
	 * only the replies that the hooks have seen, each in one piece.
	 * <p>
	 * For a hook that returns false, in calls and in streams, it is an error to refuse or
	 * replace in {@link #afterModel}, or to refuse in {@link #beforeSave}. Such a hook
	 * may still look at replies, and change what is stored.
	 * @return true if the hook may; by default, true if it overrides {@link #afterModel}
	 * or {@link #beforeSave}
	 */
	default boolean checksReplies() {
		return ReplyMethods.areOverriddenBy(getClass());
	}

}
