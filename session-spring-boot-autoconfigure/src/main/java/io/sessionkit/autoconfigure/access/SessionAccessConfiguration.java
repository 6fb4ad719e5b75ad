package io.sessionkit.autoconfigure.access;

import java.security.Principal;

import io.sessionkit.access.CallerResolver;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.OwnerSource;
import io.sessionkit.autoconfigure.SessionKitProperties;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Configures whose sessions a caller reaches: by default those of the user of Spring
 * Security, where the application has it. It is part of another auto-configuration, so
 * that it cannot be left out.
 */
@Configuration(proxyBeanMethods = false)
public class SessionAccessConfiguration {

	private static final String OUR_RESOLVER = "sessionKitCallerResolver";

	@Bean
	@ConditionalOnMissingBean
	SessionAccess sessionKitAccess(ObjectProvider<CallerResolver> callers, SessionKitProperties properties,
			BeanFactory beans, Environment environment) {
		CallerResolver known = callers.getIfAvailable();
		if (known != null) {
			checkApplied(beans, environment);
			return SessionAccess.of(known);
		}
		if (properties.owner() == OwnerSource.PRINCIPAL) {
			throw ConfigurationRefusedException.of(SessionKitProperties.OWNER, "principal",
					"Nobody says who calls. Add spring-boot-starter-security or a CallerResolver bean (before the application"
							+ " is processed ahead of time, if it is), or write none.");
		}
		if (!properties.approval().decidersByTool().isEmpty()) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".approval.deciders",
					properties.approval().decidersByTool(),
					"Nobody is known who calls, so the authority of nobody counts."
							+ " Set sessionkit.owner=principal with Spring Security, or leave it out.");
		}
		return SessionAccess.unlimited();
	}

	/** Only SessionKit's own resolver looks for the authority. */
	private static void checkApplied(BeanFactory beans, Environment environment) {
		BindResult<String> written = Binder.get(environment)
			.bind(SessionKitProperties.ANY_OWNER_AUTHORITY, String.class);
		if (written.isBound() && !beans.containsBean(OUR_RESOLVER)) {
			throw ConfigurationRefusedException.of(SessionKitProperties.ANY_OWNER_AUTHORITY, written.get(),
					"It is not applied to what a CallerResolver bean returns. Leave it out, and say in that bean who"
							+ " reaches all owners (Caller.of(name, authorities, anyOwner)). If the bean only names the"
							+ " owners of users of Spring Security, make it a PrincipalOwner, to which it is applied.");
		}
	}

	@Bean
	AccessCheck sessionKitAccessCheck(SessionAccess access, ConfigurableBeanFactory beans) {
		return new AccessCheck(access, beans);
	}

	@Bean
	static AccessGuard sessionKitAccessGuard(ObjectProvider<SessionAccess> access) {
		return new AccessGuard(access);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(SecurityContextHolder.class)
	@Conditional(OnPrincipalCondition.class)
	static class PrincipalConfiguration {

		@Bean(OUR_RESOLVER)
		@ConditionalOnMissingBean({ CallerResolver.class, SessionAccess.class })
		PrincipalCaller sessionKitCallerResolver(SessionKitProperties properties,
				ObjectProvider<PrincipalOwner> owners) {
			return new PrincipalCaller(properties.anyOwnerAuthority(), owners.getIfAvailable(() -> Principal::getName));
		}

	}

}
