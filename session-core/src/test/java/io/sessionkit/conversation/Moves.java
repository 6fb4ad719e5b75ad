package io.sessionkit.conversation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * The moves of a {@link Conversation}. A move that is new is added here; the tests that
 * refuse all of them then try it by themselves, and the others say what they lack.
 */
public final class Moves {

	/** Their names. */
	public static final Set<String> NAMES = Set.of("undo", "redo", "reset", "choose", "branch", "branchFromContent",
			"switchTo", "deleteBranch");

	/** Those that take no turn from the history of the branch that it is on. */
	public static final Set<String> KEEPING = Set.of("redo", "branch", "branchFromContent", "switchTo");

	private Moves() {
	}

	/**
	 * Returns a call of each move, in each of its forms.
	 * @param text the name of a branch that is not there, and a text of a question that
	 * is
	 */
	public static Map<String, ThrowingCallable> of(Conversation conversation, String text) {
		Map<Class<?>, Object> values = Map.of(int.class, 1, long.class, 1L, boolean.class, true, String.class, text);
		Map<String, ThrowingCallable> calls = new TreeMap<>();
		Stream.of(Conversation.class.getMethods())
			.filter((method) -> NAMES.contains(method.getName()))
			.forEach((method) -> calls.put(method.toString(), () -> call(conversation, method, values)));
		return calls;
	}

	private static void call(Conversation conversation, Method method, Map<Class<?>, Object> values) throws Throwable {
		try {
			method.invoke(conversation, Stream.of(method.getParameterTypes()).map(values::get).toArray());
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

}
