package io.sessionkit.internal.door;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The parts of what applications hold that other packages of SessionKit need. As public
 * methods they would be offered to every application. The class of the whole says how
 * each part is read when it is initialized, so before there is an object of it.
 */
public final class InnerParts {

	private static final Map<Place, Function<Object, Object>> READERS = new ConcurrentHashMap<>();

	private InnerParts() {
	}

	private record Place(Class<?> whole, Class<?> part) {
	}

	/**
	 * Opens a part to the other packages.
	 * @param whole the class that has the part
	 * @param part the type of the part
	 * @param reader reads the part of an object
	 */
	public static <W, P> void open(Class<W> whole, Class<P> part, Function<? super W, ? extends P> reader) {
		READERS.put(new Place(whole, part), (each) -> reader.apply(whole.cast(each)));
	}

	/**
	 * Returns a part of an object. A mock, instead of the object in a test, has none.
	 * @throws IllegalArgumentException if its class has opened no such part
	 */
	public static <P> P of(Object whole, Class<P> part) {
		return part.cast(reader(whole, part).apply(whole));
	}

	/**
	 * Returns a part of an object; empty for a mock.
	 * @throws IllegalArgumentException if its class has opened no such part
	 */
	public static <P> Optional<P> find(Object whole, Class<P> part) {
		return Optional.ofNullable(reader(whole, part).apply(whole)).map(part::cast);
	}

	private static Function<Object, Object> reader(Object whole, Class<?> part) {
		Function<Object, Object> reader = READERS.get(new Place(whole.getClass(), part));
		if (reader == null) {
			throw new IllegalArgumentException(
					whole.getClass().getName() + " has no part of type " + part.getName() + " for other packages.");
		}
		return reader;
	}

}
