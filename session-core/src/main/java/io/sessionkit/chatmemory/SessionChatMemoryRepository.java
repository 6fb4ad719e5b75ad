package io.sessionkit.chatmemory;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Window;

import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.messages.Message;
import org.springframework.util.Assert;

/**
 * A {@link ChatMemoryRepository} whose conversations are sessions, for code that injects
 * one. A conversation id is the id of a session, and the owner is asked for with each
 * call. {@link SessionChatMemory} is better wherever a {@code ChatMemory} is enough.
 * <p>
 * {@link #saveAll} replaces what {@link #findByConversationId} returns, and deletes no
 * turn. Messages at the end of the list become turns as in {@link SessionChatMemory}. If
 * the oldest messages are missing, as {@code MessageWindowChatMemory} leaves them out,
 * this repository no longer returns them, and the log keeps them. With any other change
 * the head goes back to the last turn that is the same, and the rest is written behind
 * it, with new turn numbers. The turns that were left stay in the session, as those that
 * an edit leaves do.
 * <p>
 * The interface has no version. If two callers read, change and save the same
 * conversation at the same time, the later one decides what is history, and the turn of
 * the other one is left as above. Safe for use by many threads.
 */
public final class SessionChatMemoryRepository implements ChatMemoryRepository, SessionDoor {

	private static final int PAGE = 500;

	private final SessionStore store;

	private final Supplier<String> owner;

	private SessionChatMemoryRepository(SessionStore store, Supplier<String> owner) {
		this.store = Objects.requireNonNull(store, "store");
		this.owner = Objects.requireNonNull(owner, "owner");
	}

	/**
	 * Creates a repository.
	 * @param store the store that holds the sessions
	 * @param owner returns the owner of the sessions that the current call is for; empty
	 * for none. It is asked on the thread that uses the repository. If it does not know
	 * the owner there, it must throw an exception. Where a store completes the owner, as
	 * a guarded one does, and the codec binds payloads to their session, the owner must
	 * be named: the first question is encoded before the session has one
	 * @return the repository
	 */
	public static SessionChatMemoryRepository of(SessionStore store, Supplier<String> owner) {
		return new SessionChatMemoryRepository(store, owner);
	}

	/**
	 * Returns the ids of all sessions of the owner, child sessions among them. A session
	 * that is written meanwhile may be missing.
	 * @return the ids, last written first
	 */
	@Override
	public List<String> findConversationIds() {
		String owner = this.owner.get();
		Set<String> ids = new LinkedHashSet<>();
		List<Session> sessions;
		Page page = Page.first(PAGE);
		do {
			sessions = this.store.list(owner, page);
			sessions.forEach((session) -> ids.add(session.key().id()));
			page = page.next();
		}
		while (sessions.size() == PAGE);
		return new ArrayList<>(ids);
	}

	/**
	 * Returns the system messages, the view of the session, and the messages that wait
	 * for their answer, without those that were left out by {@link #saveAll}.
	 * @param conversationId the id of the session
	 * @return copies of the messages; none if the session is absent
	 */
	@Override
	public List<Message> findByConversationId(String conversationId) {
		return session(conversationId).read(Window.ALL).messages();
	}

	/**
	 * Replaces the messages that this repository returns for a conversation.
	 * @param conversationId the id of the session; created if it is absent
	 * @param messages all messages
	 * @throws IllegalArgumentException if the messages are not a valid sequence; nothing
	 * is changed then
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message would not be
	 * read back equal; nothing is changed then
	 * @throws io.sessionkit.TurnOpenException if the session has an open turn: its tool
	 * calls wait, or it broke off
	 * @throws io.sessionkit.SessionConflictException if others kept writing to the
	 * session
	 */
	@Override
	public void saveAll(String conversationId, List<Message> messages) {
		Assert.noNullElements(messages, "messages must not contain null");
		session(conversationId).replace(messages);
	}

	/**
	 * Erases the session with all its turns.
	 * @param conversationId the id of the session
	 * @throws io.sessionkit.TurnOpenException if the session has an open turn that this
	 * code is no part of; nothing is erased then
	 */
	@Override
	public void deleteByConversationId(String conversationId) {
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
