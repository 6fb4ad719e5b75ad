package io.sessionkit.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every {@link StoreLayer}, beside that of a store: what it is asked
 * reaches the store beneath. Whoever writes one extends this class and returns the layer.
 */
public abstract class StoreLayerContract {

	/** These may be made of the other methods of the layer. */
	private static final Set<String> PROTOCOL = Set.of("messages", "add", "pop", "clear", "find");

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private static final String KIND = "notice";

	private final Map<Class<?>, Object> values = Map.ofEntries(Map.entry(SessionKey.class, KEY),
			Map.entry(Window.class, Window.ALL), Map.entry(Tail.class, Tail.ALL),
			Map.entry(PathQuery.class, PathQuery.to(Point.HEAD)), Map.entry(Page.class, Page.first(1)),
			Map.entry(Commit.class, Commit.any(KEY).header(HeaderChange.NONE.title("title"))),
			Map.entry(RecordWrite.class, RecordWrite.put(KIND, "1", "text")), Map.entry(Set.class, Set.of(KIND)),
			Map.entry(List.class, List.of(new UserMessage("q"), new AssistantMessage("a"))),
			Map.entry(String.class, KIND), Map.entry(long.class, 1L), Map.entry(int.class, 1),
			Map.entry(boolean.class, true), Map.entry(Runnable.class, (Runnable) () -> {
			}));

	private final List<Method> asked = new ArrayList<>();

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
			.map(Method::toString)).as("methods that the layer does not pass on").isEmpty();
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
		Object[] arguments = Arrays.stream(method.getParameterTypes()).map(this::value).toArray();
		try {
			method.invoke(layer, arguments);
		}
		catch (InvocationTargetException ex) {
			// a layer may refuse what the store beneath has returned
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
		return PROTOCOL.contains(method.getName()) ? !this.asked.isEmpty() : this.asked.contains(method);
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
					this.asked.add(method);
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
