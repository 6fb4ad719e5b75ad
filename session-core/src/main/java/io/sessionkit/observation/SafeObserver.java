package io.sessionkit.observation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.context.SummaryResult;
import io.sessionkit.internal.Interrupts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * Calls several observers, none of which can disturb the others or what they observe.
 */
final class SafeObserver implements CallObserver {

	private static final Log logger = LogFactory.getLog(SafeObserver.class);

	/** The innermost first, in the order in which they are put around work. */
	private final List<CallObserver> insideOut;

	SafeObserver(List<? extends CallObserver> observers) {
		this.insideOut = reversed(observers);
	}

	static <T> List<T> reversed(List<? extends T> list) {
		List<T> reversed = new ArrayList<>(list);
		Collections.reverse(reversed);
		return reversed;
	}

	@Override
	public ObservedCall begin(boolean streams) {
		List<ObservedCall> begun = new ArrayList<>(this.insideOut.size());
		tell(this.insideOut, (observer) -> begun.add(returned(observer, observer.begin(streams), ObservedCall.NONE)));
		return new SafeCall(begun);
	}

	@Override
	public SummaryResult summarize(Supplier<SummaryResult> work) {
		return around(this.insideOut, CallObserver::summarize, work);
	}

	@Override
	public void toolStopped() {
		tell(this.insideOut, CallObserver::toolStopped);
	}

	@Override
	public void leaseLost(LeaseKind kind) {
		tell(this.insideOut, (observer) -> observer.leaseLost(kind));
	}

	private static <O, T extends @Nullable Object> T around(List<O> observers, BiConsumer<O, Supplier<T>> observation,
			Supplier<T> work) {
		Supplier<T> whole = work;
		for (O observer : observers) {
			Supplier<T> inner = whole;
			whole = () -> new Once<>(inner).around(observer, observation);
		}
		return whole.get();
	}

	private static <O> void tell(List<O> observers, Consumer<O> news) {
		observers.forEach((observer) -> tellOne(observer, news));
	}

	static <O> void tellOne(O observer, Consumer<O> news) {
		try {
			news.accept(observer);
		}
		catch (Throwable ex) {
			log(observer, ex);
		}
	}

	/** Returns what an observer has returned, or what it should have if that is null. */
	static <T> T returned(Object observer, @Nullable T returned, T none) {
		if (returned == null) {
			logger.warn("The observer of calls " + observer.getClass().getName()
					+ " returned null where it should return NONE, so it observes nothing there.");
			return none;
		}
		return returned;
	}

	private static void log(Object observer, Throwable thrown) {
		Interrupts.keep(thrown);
		logger.warn("The observer of calls " + observer.getClass().getName() + " threw " + thrown.getClass().getName()
				+ ", which changes nothing for the call.");
	}

	/**
	 * Calls the observers of one call, the innermost first.
	 */
	private record SafeCall(List<ObservedCall> insideOut) implements ObservedCall {

		@Override
		public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
			return around(this.insideOut, (call, each) -> call.observe(stage, each), work);
		}

		@Override
		public ObservedStream observeStream(CallStage stage, ContextView context) {
			return new SafeStream(reversed(this.insideOut), stage, context);
		}

		@Override
		public void opened(String turnId) {
			tell(this.insideOut, (call) -> call.opened(turnId));
		}

		@Override
		public void viewed(int tokens, boolean trimmed) {
			tell(this.insideOut, (call) -> call.viewed(tokens, trimmed));
		}

		@Override
		public void ended(CallOutcome outcome, @Nullable String failure) {
			tell(this.insideOut, (call) -> call.ended(outcome, failure));
		}

	}

	/**
	 * Work that is done once, whatever an observer around it does.
	 */
	private static final class Once<T extends @Nullable Object> implements Supplier<T> {

		private final Supplier<T> work;

		private boolean done;

		private @Nullable T result;

		private @Nullable Throwable thrown;

		Once(Supplier<T> work) {
			this.work = work;
		}

		<O> T around(O observer, BiConsumer<O, Supplier<T>> observation) {
			try {
				observation.accept(observer, this);
			}
			catch (Throwable ex) {
				if (ex != this.thrown) {
					log(observer, ex);
				}
			}
			return get();
		}

		@Override
		public T get() {
			if (!this.done) {
				this.done = true;
				run();
			}
			if (this.thrown != null) {
				Once.<RuntimeException>rethrow(this.thrown);
			}
			return result();
		}

		/** The work may throw a checked exception that it does not declare. */
		@SuppressWarnings("unchecked")
		private static <X extends Exception> void rethrow(Throwable thrown) throws X {
			if (thrown instanceof Error error) {
				throw error;
			}
			throw (X) thrown;
		}

		private void run() {
			try {
				this.result = this.work.get();
			}
			catch (Throwable ex) {
				this.thrown = ex;
			}
		}

		// the work may return null, which the type of the result then says
		@SuppressWarnings("NullAway")
		private T result() {
			return this.result;
		}

	}

}
