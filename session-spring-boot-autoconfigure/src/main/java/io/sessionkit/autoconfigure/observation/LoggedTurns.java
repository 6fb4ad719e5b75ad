package io.sessionkit.autoconfigure.observation;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.observation.ObservedStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Puts the id of the turn into the logging context (MDC) of the threads that work for it.
 * The stages of a stream have it where they run; tools and the model of a stream have it
 * if the application propagates the Reactor context to threads, as it does for traces.
 */
final class LoggedTurns implements CallObserver, AutoCloseable {

	/** The key in the logging context, and in the Reactor context. */
	static final String KEY = "sessionkit.turn";

	private final ContextRegistry contexts;

	LoggedTurns(ContextRegistry contexts) {
		this.contexts = contexts;
		Accessor.add(this);
	}

	@Override
	public ObservedCall begin(boolean streams) {
		return new LoggedTurn(streams);
	}

	@Override
	public void close() {
		Accessor.remove(this);
	}

	private static void put(@Nullable String turnId) {
		if (turnId != null) {
			MDC.put(KEY, turnId);
		}
		else {
			MDC.remove(KEY);
		}
	}

	/**
	 * One call. Its id is known once its session was read.
	 */
	private static final class LoggedTurn implements ObservedCall, ObservedStream {

		private final boolean streams;

		private volatile @Nullable String id;

		LoggedTurn(boolean streams) {
			this.streams = streams;
		}

		@Override
		public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
			String before = MDC.get(KEY);
			if (this.id != null) {
				put(this.id);
			}
			try {
				return work.get();
			}
			finally {
				put(before);
			}
		}

		@Override
		public ObservedStream observeStream(CallStage stage, ContextView outer) {
			return (stage == CallStage.CALL) ? this : ObservedStream.NONE;
		}

		@Override
		public ContextView context() {
			return Context.of(KEY, this);
		}

		/** The stage that encloses this one restores what was there before. */
		@Override
		public void opened(String turnId) {
			this.id = turnId;
			if (!this.streams) {
				put(turnId);
			}
		}

	}

	/**
	 * Carries the id to other threads: as it was on this one, or as the Reactor context
	 * has it, which knows the turn before its id is known.
	 */
	private static final class Accessor implements ThreadLocalAccessor<Object> {

		/**
		 * More than one if the process has several contexts, which share the registry.
		 */
		private final Set<LoggedTurns> users = new HashSet<>();

		static void add(LoggedTurns user) {
			synchronized (user.contexts) {
				Accessor there = in(user.contexts);
				if (there == null) {
					there = new Accessor();
					user.contexts.registerThreadLocalAccessor(there);
				}
				there.users.add(user);
			}
		}

		static void remove(LoggedTurns user) {
			synchronized (user.contexts) {
				Accessor there = in(user.contexts);
				if (there != null && there.users.remove(user) && there.users.isEmpty()) {
					user.contexts.removeThreadLocalAccessor(KEY);
				}
			}
		}

		private static @Nullable Accessor in(ContextRegistry contexts) {
			return contexts.getThreadLocalAccessors()
				.stream()
				.filter(Accessor.class::isInstance)
				.map(Accessor.class::cast)
				.findFirst()
				.orElse(null);
		}

		@Override
		public Object key() {
			return KEY;
		}

		@Override
		public @Nullable Object getValue() {
			return MDC.get(KEY);
		}

		@Override
		public void setValue(Object value) {
			put((value instanceof LoggedTurn turn) ? turn.id : String.valueOf(value));
		}

		@Override
		public void setValue() {
			MDC.remove(KEY);
		}

	}

}
