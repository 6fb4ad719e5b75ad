package io.sessionkit.hook;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.util.ClassUtils;

/**
 * The session of the running call, for tools and hooks: a bean that is injected once and
 * gives each call its own.
 * <p>
 * Attributes that are written are seen at once by whatever else runs in the turn: later
 * tools, prompts and hooks. They are stored together with the turn, if it becomes
 * history, and dropped with one that fails, is refused, is cancelled or loses a conflict;
 * a move of the head back to a turn restores them. Nothing of it is put into a
 * {@code ToolContext}, whose entries go to MCP servers.
 * <p>
 * A call is running on the thread that makes it, in hooks of its turn and, also in
 * streams, in its tools; on other threads in tasks that were wrapped. A call on another
 * session that is made inside of it has its own, and one without a session has that of
 * the tool or hook that makes it, if it is no stream. Listeners have none, since they
 * change nothing. Everywhere else all methods throw an {@link IllegalStateException}.
 * Safe for use by many threads.
 */
public final class SessionContext {

	/**
	 * Which session it is.
	 * @return its key
	 */
	public SessionKey key() {
		return running().context().key();
	}

	/**
	 * Which turn it is.
	 * @return its id
	 */
	public String turnId() {
		return running().context().turnId();
	}

	/**
	 * Who answers.
	 * @return the agent that the call named; empty if it named none
	 */
	public Optional<String> agent() {
		return Optional.ofNullable(running().context().agent());
	}

	/**
	 * What goes before the turn's input, within the limits.
	 * @return the messages, oldest first; each read gives a copy
	 */
	public List<Message> history() {
		return running().context().history();
	}

	/**
	 * All attributes: those as of the head, with what was written in this turn.
	 * @return a copy that cannot be changed
	 */
	public Map<String, Object> state() {
		return running().context().state();
	}

	/**
	 * One attribute.
	 * @param name the attribute
	 * @param type the class that it was put with, or one above it
	 * @param <T> the type
	 * @return a copy of the value; empty if there is none
	 * @throws IllegalArgumentException if the value is of another class
	 */
	@SuppressWarnings("unchecked") // a primitive class cannot cast
	public <T> Optional<T> get(String name, Class<T> type) {
		HookContext context = running().context();
		Object value = context.state().get(name);
		if (value != null && !ClassUtils.isAssignableValue(type, value)) {
			throw new IllegalArgumentException("The attribute '" + name + "' of session " + context.key() + " is a "
					+ value.getClass().getName() + ", not a " + type.getName() + ". Ask for the class that was put.");
		}
		return Optional.ofNullable((T) value);
	}

	/**
	 * Writes an attribute, in the place of one of that name.
	 * @param name 1 to 255 characters, not blank, not starting with {@code sessionkit.}
	 * @param value what the codec can store: strings, booleans, numbers, dates, bytes,
	 * and lists and maps of these. A copy is taken
	 * @throws IllegalArgumentException if the name breaks a rule, or if the state would
	 * be larger than {@code sessionkit.state.max-size}
	 * @throws io.sessionkit.UnstorableMessageException if the value would not come back
	 * equal
	 * @throws IllegalStateException if the turn is over, or no call is running
	 */
	public void put(String name, Object value) {
		running().put(name, value);
	}

	/**
	 * Takes an attribute away. To take away what is absent does nothing.
	 * @param name the attribute
	 * @throws IllegalStateException if the turn is over, or no call is running
	 */
	public void remove(String name) {
		running().remove(name);
	}

	/**
	 * A task for another thread that has the call that is running now.
	 * @param task the task
	 * @return the task, to be run wherever
	 */
	public Runnable wrap(Runnable task) {
		RunningTurn turn = running();
		return () -> {
			try (TurnBinding binding = TurnBinding.of(turn)) {
				task.run();
			}
		};
	}

	/**
	 * A task for another thread that has the call that is running now.
	 * @param task the task
	 * @param <T> what it returns
	 * @return the task, to be run wherever
	 */
	public <T extends @Nullable Object> Callable<T> wrap(Callable<T> task) {
		RunningTurn turn = running();
		return () -> {
			try (TurnBinding binding = TurnBinding.of(turn)) {
				return task.call();
			}
		};
	}

	private static RunningTurn running() {
		RunningTurn turn = TurnBinding.running();
		if (turn == null) {
			throw new IllegalStateException("No call on a session runs on thread '" + Thread.currentThread().getName()
					+ "'. Use the SessionContext in tools and hooks of a ChatClient call that names a session; give"
					+ " other threads their work as sessionContext.wrap(..); between calls use"
					+ " conversations.get(key).put(..).");
		}
		return turn;
	}

}
