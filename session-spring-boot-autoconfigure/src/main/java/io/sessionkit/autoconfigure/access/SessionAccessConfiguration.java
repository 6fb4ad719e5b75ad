package io.sessionkit.autoconfigure.access;

import java.security.Principal;

import io.sessionkit.access.CallerResolver;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.OwnerSource;
import io.sessionkit.autoconfigure.SessionKitProperties;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.hierarchicalroles.NullRoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Configures which sessions a caller reaches: by default those of the Spring Security
 * user, if the application uses Spring Security. It is part of another
 * auto-configuration, so that it cannot be left out.
 */
@Configuration(proxyBeanMethods = false)
public class SessionAccessConfiguration {

	static final String PRINCIPAL_CALLER = "sessionKitCallerResolver";

	@Bean
	@ConditionalOnMissingBean
	SessionAccess sessionKitAccess(ObjectProvider<CallerResolver> callers, SessionKitProperties properties) {
		CallerResolver known = callers.getIfAvailable();
		if (known != null) {
			return SessionAccess.of(known);
		}
		if (properties.owner() == OwnerSource.PRINCIPAL) {
			throw ConfigurationRefusedException.of(SessionKitProperties.OWNER, "principal",
					"Nobody says who calls. Add spring-boot-starter-security or a CallerResolver bean (before the application"
							+ " is processed ahead of time, if it is), or write none.");
		}
		if (!properties.approval().decidersByTool().isEmpty()) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".approval.deciders",
					properties.approval().decidersByTool(), "The caller is unknown, so no authority counts."
							+ " Set sessionkit.owner=principal with Spring Security, or leave it out.");
		}
		return SessionAccess.unlimited();
	}

	@Bean
	AccessCheck sessionKitAccessCheck(SessionAccess access, ConfigurableBeanFactory beans,
			SessionKitProperties properties, ObjectProvider<PrincipalOwner> owners,
			ObjectProvider<CallerResolver> callers) {
		return new AccessCheck(access, beans, properties, owners, callers);
	}

	@Bean
	static AccessGuard sessionKitAccessGuard(ObjectProvider<SessionAccess> access) {
		return new AccessGuard(access);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(SecurityContextHolder.class)
	@Conditional(OnPrincipalCondition.class)
	static class PrincipalConfiguration {

		@Bean(PRINCIPAL_CALLER)
		@ConditionalOnMissingBean({ CallerResolver.class, SessionAccess.class })
		PrincipalCaller sessionKitCallerResolver(SessionKitProperties properties, ObjectProvider<PrincipalOwner> owners,
				ObjectProvider<RoleHierarchy> roles) {
			return new PrincipalCaller(properties.anyOwnerAuthority(), owners.getIfAvailable(() -> Principal::getName),
					roles.getIfAvailable(NullRoleHierarchy::new));
		}

	}

}
