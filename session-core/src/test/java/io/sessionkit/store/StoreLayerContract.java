package io.sessionkit.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every {@link StoreLayer}, beside that of a store: what it is asked
 * reaches the store beneath as it was asked, and what that answers is returned. Whoever
 * writes one extends this class and returns the layer.
 */
public abstract class StoreLayerContract {

	/** These may be made of the other methods of the layer. */
	private static final Set<String> PROTOCOL = Set.of("messages", "add", "pop", "clear", "find");

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final String KIND = "notice";

	/** One for each text that a method has, so that none takes another's place. */
	private static final List<String> TEXTS = List.of(KIND, "approval");

	/** What a store with one session would not answer, so that nobody can guess it. */
	private static final Map<String, Object> ANSWERS = Map.of("deleteExpired", 2, "mayRollBack", true);

	private static final Object REFUSED = new Object();

	private final Map<Class<?>, Object> values = Map.ofEntries(Map.entry(SessionKey.class, KEY),
			Map.entry(Window.class, Window.ALL), Map.entry(Tail.class, Tail.ALL),
			Map.entry(PathQuery.class, PathQuery.to(Point.HEAD)), Map.entry(Page.class, Page.first(1)),
			Map.entry(Commit.class, Commit.any(KEY).header(HeaderChange.NONE.title("title"))),
			Map.entry(RecordWrite.class, RecordWrite.put(KIND, "1", "text")), Map.entry(Set.class, Set.of(KIND)),
			Map.entry(List.class, List.of(new UserMessage("q"), new AssistantMessage("a"))), Map.entry(long.class, 1L),
			Map.entry(int.class, 3), Map.entry(boolean.class, true), Map.entry(Runnable.class, (Runnable) () -> {
			}));

	private final List<Call> asked = new ArrayList<>();

	/**
	 * A call that has reached the store beneath.
	 */
	private record Call(Method method, List<Object> arguments, @Nullable Object answer) {
	}

	/**
	 * Returns the layer under test on a store.
	 * @param store the store beneath
	 * @return the layer, for a caller who reaches all sessions
	 */
	protected abstract SessionStore layer(SessionStore store);

	@Test
	void everyMethodReachesTheStoreBeneath() {
		assertThat(Stream.of(SessionStore.class.getMethods())
			.filter((method) -> !Modifier.isStatic(method.getModifiers()))
			.filter((method) -> !reaches(method))
			.map(Method::toString))
			.as("methods that the layer does not pass on as they were asked, or answers otherwise")
			.isEmpty();
	}

	@Test
	void layerNamesTheStoreBeneath() {
		SessionStore beneath = beneath();
		SessionStore layer = layer(beneath);
		assertThat(layer).isInstanceOf(StoreLayer.class);
		assertThat(((StoreLayer) layer).layered()).isSameAs(beneath);
	}

	private boolean reaches(Method method) {
		SessionStore layer = layer(beneath());
		this.asked.clear();
		List<Object> arguments = arguments(method);
		Object answer = answer(layer, method, arguments);
		if (PROTOCOL.contains(method.getName())) {
			return !this.asked.isEmpty();
		}
		return this.asked.stream()
			.filter((call) -> call.method().equals(method) && call.arguments().equals(arguments))
			.anyMatch((call) -> answer == REFUSED || Objects.equals(call.answer(), answer));
	}

	/** A layer may refuse what the store beneath has returned. */
	private static @Nullable Object answer(SessionStore layer, Method method, List<Object> arguments) {
		try {
			return method.invoke(layer, arguments.toArray());
		}
		catch (InvocationTargetException ex) {
			return REFUSED;
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
	}

	private List<Object> arguments(Method method) {
		Iterator<String> texts = TEXTS.iterator();
		return Arrays.stream(method.getParameterTypes())
			.map((type) -> (type == String.class) ? texts.next() : value(type))
			.toList();
	}

	private Object value(Class<?> type) {
		return Objects.requireNonNull(this.values.get(type), () -> "This contract has no value of " + type);
	}

	/** A store with one session, which notes what it is asked. */
	private SessionStore beneath() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		store.add(KEY, List.of(new UserMessage("q"), new AssistantMessage("a")));
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					if (method.getDeclaringClass() != SessionStore.class) {
						return method.invoke(store, arguments);
					}
					List<Object> given = (arguments != null) ? List.of(arguments) : List.of();
					try {
						Object answer = ANSWERS.getOrDefault(method.getName(), method.invoke(store, arguments));
						this.asked.add(new Call(method, given, answer));
						return answer;
					}
					catch (InvocationTargetException ex) {
						this.asked.add(new Call(method, given, REFUSED));
						throw ex.getTargetException();
					}
				});
	}

}
