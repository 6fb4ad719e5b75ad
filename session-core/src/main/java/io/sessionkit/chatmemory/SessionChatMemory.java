package io.sessionkit.chatmemory;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Window;

import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.Message;
import org.springframework.util.Assert;

/**
 * A {@link ChatMemory} whose conversations are sessions, for code that injects one. A
 * conversation id is the id of a session, and the owner is asked for with each call.
 * <p>
 * An answer with content and without tool calls completes a turn, together with the
 * question and the tool rounds before it. Until then the question waits beside the
 * history: it is returned by {@link #get}, but it is not part of the log, and is gone if
 * the session is erased. If another question comes before the answer, both are answered
 * together. If tool calls are left without results, or results without an answer, they
 * are kept as a turn with the status FAILED, and are not returned again. So are a
 * question and its answer if the answer has neither text nor tool calls nor media. Right
 * in front of another answer, such an answer is left out: some models give their hidden
 * thoughts so.
 * <p>
 * The newest system message replaces the one before, is returned first, and belongs to
 * this memory alone: calls with a {@code SessionAdvisor} bring a system text of their
 * own. Such a call does not see a question that waits here.
 * <p>
 * Each write is one compare-and-set, made again if another writer was first, so messages
 * that are added at the same time are all kept. Use either this memory or a
 * {@code SessionAdvisor} on a call, not both: the advisor refuses a call that has another
 * memory. What a memory cannot do is in {@code docs/chat-memory.md}. Safe for use by many
 * threads.
 */
public final class SessionChatMemory implements ChatMemory, SessionDoor {

	private final SessionStore store;

	private final Supplier<String> owner;

	private final Window window;

	private SessionChatMemory(SessionStore store, Supplier<String> owner, Window window) {
		this.store = Objects.requireNonNull(store, "store");
		this.owner = Objects.requireNonNull(owner, "owner");
		this.window = window;
	}

	/**
	 * Creates a memory that returns the whole view of a session.
	 * @param store the store that holds the sessions
	 * @param owner returns the owner of the sessions that the current call is for; empty
	 * for none. It is asked on the thread that uses the memory, which for a stream of
	 * Spring AI's memory advisor is not the thread of the caller. If it does not know the
	 * owner there, it must throw an exception. Where a store completes the owner, as a
	 * guarded one does, and the codec binds payloads to their session, the owner must be
	 * named: the first question is encoded before the session has one
	 * @return the memory
	 */
	public static SessionChatMemory of(SessionStore store, Supplier<String> owner) {
		return new SessionChatMemory(store, owner, Window.ALL);
	}

	/**
	 * Returns a memory that returns only the newest history, in whole turns. A question
	 * that waits, the summary and the system message come in addition. Nothing is
	 * deleted.
	 * @param window the largest number of turns and items to return; with a limit of 0
	 * neither history nor summary
	 * @return the memory
	 */
	public SessionChatMemory window(Window window) {
		return new SessionChatMemory(this.store, this.owner, window);
	}

	/**
	 * Adds messages to a conversation, all of them or none.
	 * @param conversationId the id of the session; created if it is absent
	 * @param messages the messages
	 * @throws IllegalArgumentException if the session would no longer be a valid
	 * sequence: results must answer all calls right before them, in order, and the first
	 * message of a session must not be an answer
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message would not be
	 * read back equal
	 * @throws io.sessionkit.TurnOpenException if the session has an open turn: its tool
	 * calls wait, or it broke off
	 * @throws io.sessionkit.SessionConflictException if concurrent writers kept the
	 * messages from being stored
	 */
	@Override
	public void add(String conversationId, List<Message> messages) {
		Assert.noNullElements(messages, "messages must not contain null");
		session(conversationId).add(messages);
	}

	/**
	 * Returns what the next request begins with: the system message, the view of the
	 * session from its first question on, and the messages that wait for their answer.
	 * @param conversationId the id of the session
	 * @return copies of the messages; none if the session is absent
	 */
	@Override
	public List<Message> get(String conversationId) {
		MemorySession session = session(conversationId);
		MemoryView view = session.read(this.window);
		return view.messagesFromAQuestion();
	}

	/**
	 * Erases the session with all its turns.
	 * @param conversationId the id of the session
	 * @throws io.sessionkit.TurnOpenException if the session has an open turn that this
	 * code is no part of; nothing is erased then
	 */
	@Override
	public void clear(String conversationId) {
		session(conversationId).clear();
	}

	@Override
	public SessionAccess access() {
		return SessionAccess.around(this.store);
	}

	private MemorySession session(String conversationId) {
		return new MemorySession(this.store, SessionKey.of(this.owner.get(), conversationId));
	}

}
