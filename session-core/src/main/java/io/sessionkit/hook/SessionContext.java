package io.sessionkit.hook;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.TypedValue;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnFacts;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The session of the running call, for tools and hooks. It is a bean that is injected
 * once and gives each call its own session.
 * <p>
 * Attributes that are written are visible at once to everything else that runs in the
 * turn: later tools, prompts and hooks. They are stored together with the turn if it
 * becomes history, and dropped if it fails, is refused, is cancelled, loses a conflict or
 * is not stored at all, as with {@code SessionAdvisor.reading()}. Moving the head back to
 * a turn restores its attributes. No attribute is put into a {@code ToolContext}, whose
 * entries are sent to MCP servers.
 * <p>
 * A call is running on the thread that makes it, in hooks of its turn, and in its tools,
 * in streams too. On other threads it is running only in tasks that were wrapped. A call
 * on another session that is made inside of it has its own session. A call without a
 * session, if it is not a stream, has the session of the tool or hook that makes it.
 * Listeners have no session, since they change nothing. Everywhere else all methods throw
 * an {@link IllegalStateException}. Safe for use by many threads.
 */
public final class SessionContext {

	/**
	 * Returns the key of the session.
	 * @return the key
	 */
	public SessionKey key() {
		return running().facts().key();
	}

	/**
	 * Returns the id of the turn.
	 * @return the id
	 */
	public String turnId() {
		return running().facts().turnId();
	}

	/**
	 * Returns the name of the agent that handles this turn.
	 * @return the agent that the call named which opened the turn; empty if it named none
	 */
	public Optional<String> agent() {
		return Optional.ofNullable(running().facts().agent());
	}

	/**
	 * Returns the history in front of the turn's input, within the limits.
	 * @return the messages, oldest first; each read returns a copy
	 */
	public List<Message> history() {
		return running().facts().history();
	}

	/**
	 * Returns all attributes: those as of the head, with the changes of this turn.
	 * @return an immutable copy
	 */
	public Map<String, Object> attributes() {
		return running().facts().attributes();
	}

	/**
	 * Returns the value of an attribute.
	 * @param name the attribute
	 * @param type the class of the value that was put, or a supertype of it
	 * @param <T> the type
	 * @return a copy of the value; empty if the attribute is absent
	 * @throws IllegalArgumentException if the value is of another class
	 */
	public <T> Optional<T> attribute(String name, Class<T> type) {
		TurnFacts facts = running().facts();
		return TypedValue.find(facts.attributes(), name, type, facts.key());
	}

	/**
	 * Sets an attribute, replacing a value of the same name.
	 * @param name 1 to 255 characters, not blank, not starting with {@code sessionkit.},
	 * without control characters
	 * @param value a value that the codec can store: a string, boolean, number, date or
	 * time of {@code java.time}, {@code UUID}, {@code URI}, byte array, or a list, set or
	 * map of these. A copy is taken
	 * @throws IllegalArgumentException if the name breaks a rule, or if the attributes
	 * would be larger than {@code sessionkit.attributes.max-size}
	 * @throws io.sessionkit.codec.UnstorableMessageException if the value would not come
	 * back equal
	 * @throws IllegalStateException if the turn is over, or no call is running
	 */
	public void putAttribute(String name, Object value) {
		running().putAttribute(name, value);
	}

	/**
	 * Removes an attribute. Removing an absent attribute does nothing.
	 * @param name the attribute
	 * @return whether it was there
	 * @throws IllegalArgumentException if no attribute can have the name
	 * @throws IllegalStateException if the turn is over, or no call is running
	 */
	public boolean removeAttribute(String name) {
		return running().removeAttribute(name);
	}

	/**
	 * Returns where the messages of the session's own turns begin in {@link #history()},
	 * which are those that {@link #forget} takes. Before them are those of a summary,
	 * those that the call has brought, and those that a child session reads of its
	 * parent.
	 * @return the index of the first one; the size of the history if there is none
	 */
	public int forgettableFrom() {
		return running().forgettableFrom();
	}

	/**
	 * Forgets messages of {@link #history()} permanently. They are deleted in the commit
	 * that makes this turn history, in whole groups of tool calls and their results, and
	 * the next call no longer sees them. A turn that fails, is refused, is cancelled,
	 * loses a conflict or is not stored forgets nothing. If several calls work on it,
	 * since it waits or one of them breaks off, the call that ends it forgets what it was
	 * asked to itself, and nothing that an earlier one was asked to, whose tools do not
	 * run again. Snapshots that show them are incomplete from then on. A title that is
	 * the first words of one of them stays.
	 * @param from the index of the first message in the history
	 * @param to the index behind the last one; nothing is forgotten if it is not greater
	 * @throws IndexOutOfBoundsException if there are no such messages
	 * @throws IllegalArgumentException if one of them is no message of the session's own
	 * turns, as those before {@link #forgettableFrom} are
	 * @throws IllegalStateException if the turn is over, or no call is running; also in
	 * {@link SessionHook#beforeTurn} for a message that may not become part of the turn,
	 * since it is being queued or is to join a running turn
	 */
	public void forget(int from, int to) {
		running().forget(from, to);
	}

	/**
	 * Wraps a task for another thread, so that it runs as part of the call that is
	 * running now.
	 * @param task the task
	 * @return the wrapped task, which may run on any thread
	 */
	public Runnable wrap(Runnable task) {
		TurnAccess turn = running();
		return () -> {
			try (TurnBinding binding = TurnBinding.of(turn)) {
				task.run();
			}
		};
	}

	/**
	 * Wraps a task for another thread, so that it runs as part of the call that is
	 * running now.
	 * @param task the task
	 * @param <T> the type of the result
	 * @return the wrapped task, which may run on any thread
	 */
	public <T extends @Nullable Object> Callable<T> wrap(Callable<T> task) {
		TurnAccess turn = running();
		return () -> {
			try (TurnBinding binding = TurnBinding.of(turn)) {
				return task.call();
			}
		};
	}

	private static TurnAccess running() {
		TurnAccess turn = TurnBinding.running();
		if (turn == null) {
			throw new IllegalStateException("No call on a session runs on thread '" + Thread.currentThread().getName()
					+ "'. Use the SessionContext in tools and hooks of a ChatClient call that names a session; give"
					+ " other threads their work as sessionContext.wrap(..); between calls use"
					+ " conversations.get(key).putAttribute(..).");
		}
		return turn;
	}

}
