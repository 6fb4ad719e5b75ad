package io.sessionkit.autoconfigure.access;

import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.access.Caller;
import io.sessionkit.access.CallerRefusedException;
import io.sessionkit.access.CallerResolver;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.authentication.AuthenticationTrustResolver;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.ReactiveSecurityContextHolderThreadLocalAccessor;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * The user of Spring Security: of the thread, or of the subscriber of a stream. Somebody
 * who is not signed in is no caller.
 */
final class PrincipalCaller implements CallerResolver {

	private final AuthenticationTrustResolver trust = new AuthenticationTrustResolverImpl();

	/** The place in which automatic context propagation puts the user of a context. */
	private final ReactiveSecurityContextHolderThreadLocalAccessor carried = new ReactiveSecurityContextHolderThreadLocalAccessor();

	private final String anyOwner;

	private final PrincipalOwner owners;

	private final RoleHierarchy roles;

	PrincipalCaller(String anyOwner, PrincipalOwner owners, RoleHierarchy roles) {
		this.anyOwner = anyOwner;
		this.owners = owners;
		this.roles = roles;
	}

	@Override
	public Optional<Caller> current() {
		return caller(SecurityContextHolder.getContext().getAuthentication())
			.or(() -> Optional.ofNullable(this.carried.getValue()).flatMap(this::caller));
	}

	/**
	 * Returns the user that a reactive application has taken along to this thread. Most
	 * are known already; one that has to be looked up can be waited for only on a thread
	 * that may wait.
	 */
	private Optional<Caller> caller(Mono<SecurityContext> carried) {
		SecurityContext found = Schedulers.isInNonBlockingThread() ? carried.toFuture().getNow(null) : carried.block();
		return (found != null) ? caller(found.getAuthentication()) : Optional.empty();
	}

	@Override
	public Mono<Caller> current(ContextView context) {
		return ReactiveSecurityContextHolder.getContext()
			.flatMap((found) -> Mono.justOrEmpty(caller(found.getAuthentication())))
			.contextWrite(context);
	}

	/** Users without a name would all be the same one. */
	private Caller caller(Authentication found, Set<String> authorities) {
		String name = this.owners.owner(found);
		try {
			return Caller.of((name != null) ? name : "", authorities, authorities.contains(this.anyOwner));
		}
		catch (InvalidSessionKeyException ex) {
			throw new CallerRefusedException("The user who is signed in has a name that no owner can have: "
					+ ex.getMessage() + " Add a PrincipalOwner bean that gives each user another one.");
		}
	}

	private Optional<Caller> caller(@Nullable Authentication found) {
		if (!this.trust.isAuthenticated(found) || found == null) {
			return Optional.empty();
		}
		Set<String> authorities = this.roles.getReachableGrantedAuthorities(found.getAuthorities())
			.stream()
			.flatMap((granted) -> Stream.ofNullable(granted.getAuthority()))
			.collect(Collectors.toSet());
		return Optional.of(caller(found, authorities));
	}

}
