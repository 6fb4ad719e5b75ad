package io.sessionkit.access;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.binding.ActingCaller;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The check at the doors to sessions: which key a caller reaches under the name of a
 * session. A name without an owner is one of the caller's own sessions. A name with
 * another owner needs a caller who reaches {@linkplain Caller#anyOwner() all owners}; for
 * all others there is no such session, whether it exists or not.
 * <p>
 * The caller is that of a {@link #callAs} inside of the tool or hook that runs, else the
 * owner of its turn. Outside of all turns it is that of {@code callAs}, else that of the
 * {@link CallerResolver}. Without one nothing is reached. Safe for use by many threads.
 */
public final class SessionAccess {

	private static final SessionAccess UNLIMITED = new SessionAccess(() -> Optional.of(Caller.server()));

	private final CallerResolver callers;

	private SessionAccess(CallerResolver callers) {
		this.callers = callers;
	}

	/**
	 * Returns the access of applications whose sessions do not depend on a caller: each
	 * name is the key as it is.
	 * @return the same object each time
	 */
	public static SessionAccess unlimited() {
		return UNLIMITED;
	}

	/**
	 * Creates the access of callers to their own sessions.
	 * @param callers finds the caller
	 * @return the access
	 */
	public static SessionAccess of(CallerResolver callers) {
		return new SessionAccess(callers);
	}

	/**
	 * Returns whether sessions do not depend on a caller.
	 * @return true for {@link #unlimited}
	 */
	public boolean isUnlimited() {
		return this == UNLIMITED;
	}

	/**
	 * Returns the caller that this thread works for.
	 * @return the caller
	 * @throws CallerRequiredException if none is known
	 */
	public Caller caller() {
		return isUnlimited() ? Caller.server() : here().or(this::resolved).orElseThrow(SessionAccess::unknown);
	}

	/**
	 * Returns the caller of a stream.
	 * @param context the context of the subscriber
	 * @return the caller, or a {@link CallerRequiredException} if none is known
	 */
	public Mono<Caller> caller(ContextView context) {
		if (isUnlimited() || here().isPresent()) {
			return Mono.fromCallable(this::caller);
		}
		return Objects.requireNonNull(this.callers.current(context), () -> isNull("Mono.empty()"))
			.switchIfEmpty(Mono.fromCallable(this::caller));
	}

	private Optional<Caller> resolved() {
		return Objects.requireNonNull(this.callers.current(), () -> isNull("Optional.empty()"));
	}

	private String isNull(String instead) {
		return "The CallerResolver " + this.callers.getClass().getName() + " has returned null. Return " + instead
				+ " if it does not know the caller.";
	}

	/**
	 * Returns the caller that SessionKit itself knows. A turn was opened for its owner,
	 * so its tools work for that one: on any thread, and also if the server or somebody
	 * who reaches all owners has made the call.
	 */
	private static Optional<Caller> here() {
		TurnAccess turn = TurnBinding.running();
		Caller named = named(turn);
		return (turn == null || named != null) ? Optional.ofNullable(named)
				: Optional.of(Caller.ownerOf(turn.facts().key()));
	}

	/** Returns the caller of {@link #callAs}, unless a turn has begun since. */
	private static @Nullable Caller named(@Nullable TurnAccess turn) {
		Object named = ActingCaller.of(turn);
		return (named instanceof SessionKey key) ? Caller.ownerOf(key) : (Caller) named;
	}

	private static CallerRequiredException unknown() {
		return new CallerRequiredException("The caller is unknown, so no session can be reached. Sign the user in"
				+ " first; on another thread, take the SecurityContext along (DelegatingSecurityContextExecutor, or"
				+ " spring.reactor.context-propagation=auto with spring-boot-reactor on the class path); for a job of no user use"
				+ " SessionAccess.callAs(Caller.server(), ..). If sessions do not belong to users, set sessionkit.owner=none"
				+ " and define no CallerResolver bean.");
	}

	/**
	 * Returns the key that the caller of this thread reaches by a name.
	 * @param named the name; without owner for the caller's own
	 * @return the key
	 * @throws SessionNotFoundException if it has an owner that the caller does not reach
	 * @throws CallerRequiredException if no caller is known
	 */
	public SessionKey key(SessionKey named) {
		return isUnlimited() ? named : key(named, caller());
	}

	/**
	 * Returns the key that a caller reaches by a name, as {@link #key(SessionKey)} does.
	 * @param named the name; without owner for the caller's own
	 * @param caller the caller
	 * @return the key
	 * @throws SessionNotFoundException if it has an owner that the caller does not reach
	 */
	public static SessionKey key(SessionKey named, Caller caller) {
		SessionKey key = owned(named, caller);
		if (!caller.reaches(key.owner())) {
			throw new SessionNotFoundException("There is no session " + key + " that " + caller
					+ " may reach. Name a session of the caller without its owner; if owners are not the names of users,"
					+ " let a CallerResolver bean say who the caller is, or have no such bean, set sessionkit.owner=none and"
					+ " check them yourself.");
		}
		return key;
	}

	/**
	 * Returns the key of a name, without a check.
	 * @param named the name; without owner for the caller's own
	 * @param caller the caller
	 * @return the key
	 */
	public static SessionKey owned(SessionKey named, Caller caller) {
		boolean isOwn = named.owner().isEmpty() && !caller.name().isEmpty();
		return isOwn ? SessionKey.of(caller.name(), named.id()) : named;
	}

	/**
	 * Returns the owner whose sessions the caller of this thread lists by a name.
	 * @param named the owner; empty for the caller
	 * @return the owner
	 * @throws io.sessionkit.InvalidSessionKeyException if no session can have the owner
	 * @throws SessionNotFoundException if the caller does not reach that owner
	 * @throws CallerRequiredException if no caller is known
	 */
	public String owner(String named) {
		if (!named.isEmpty()) {
			SessionKey.checkOwner(named);
		}
		Caller caller = caller();
		String owner = named.isEmpty() ? caller.name() : named;
		if (!caller.reaches(owner)) {
			throw new SessionNotFoundException("There are no sessions of " + Names.quoted(owner) + " that " + caller
					+ " may reach. List those of the caller, or let the caller reach all owners.");
		}
		return owner;
	}

	/**
	 * Refuses the caller of this thread who does not reach all owners.
	 */
	void requireAllOwners() {
		Caller caller = caller();
		if (!caller.anyOwner()) {
			throw new SessionNotFoundException("There are no sessions of all owners that " + caller
					+ " may reach. List those of the caller, or let the caller reach all owners.");
		}
	}

	/**
	 * Does work on this thread for another caller, such as a job for its user. What runs
	 * on other threads or later is not part of it, so the work waits for a stream itself.
	 * @param caller the caller
	 * @param work the work
	 * @param <T> the type of the result
	 * @return the result of the work
	 * @throws IllegalStateException if the result is a stream or a future
	 */
	public <T extends @Nullable Object> T callAs(Caller caller, Supplier<T> work) {
		return done(ActingCaller.as(caller, work));
	}

	/**
	 * Does work without a result on this thread for another caller, as {@link #callAs}.
	 * @param caller the caller
	 * @param work the work
	 */
	public void runAs(Caller caller, Runnable work) {
		this.<@Nullable Object>callAs(caller, () -> {
			work.run();
			return null;
		});
	}

	/** Work that is only prepared would run later, for another caller. */
	private static <T extends @Nullable Object> T done(T result) {
		if (result instanceof Publisher || result instanceof CompletionStage || result instanceof Future
				|| result instanceof BaseStream) {
			throw new IllegalStateException(
					"The work given to callAs has returned a " + result.getClass().getSimpleName()
							+ ", which would run later, for another caller. Wait for its result inside callAs.");
		}
		return result;
	}

	/**
	 * Puts this check around a store.
	 * @param store the store
	 * @return a store that the caller of each thread reaches as far as this access
	 * allows; the store itself if sessions do not depend on a caller
	 */
	public SessionStore guard(SessionStore store) {
		return isUnlimited() ? store : new GuardedStore(StoreGuard.unguarded(store), this);
	}

	/**
	 * Returns the check that was put around a store.
	 * @param store a store
	 * @return the check; {@link #unlimited} if there is none
	 */
	public static SessionAccess around(SessionStore store) {
		return (store instanceof GuardedStore guarded) ? guarded.access() : UNLIMITED;
	}

}
