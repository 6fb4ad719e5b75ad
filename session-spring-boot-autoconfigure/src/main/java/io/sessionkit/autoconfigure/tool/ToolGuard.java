package io.sessionkit.autoconfigure.tool;

import java.util.List;
import java.util.Set;

import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.UnattendedTools;

import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.resolution.ToolCallbackResolver;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Wraps each {@link ToolCallingManager} bean in a {@link GuardedToolCallingManager}. The
 * rules are those of the {@link Approvals} beans. Without such a bean, when SessionKit is
 * disabled, the rules consist of the configured tool names, the annotations and the
 * policies.
 */
final class ToolGuard implements BeanPostProcessor {

	private static final String SWITCHED_OFF = "Set '" + SessionKitProperties.ENABLED + "' to true and build the client"
			+ " from the ChatClient.Builder bean, or do not offer this tool.";

	private final SingletonSupplier<UnattendedTools> rules;

	private final ObjectProvider<ToolCallbackResolver> resolvers;

	ToolGuard(BeanFactory beans) {
		this.rules = SingletonSupplier.of(() -> rules(beans));
		this.resolvers = beans.getBeanProvider(ToolCallbackResolver.class);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		return (bean instanceof ToolCallingManager manager)
				? new GuardedToolCallingManager(manager, this.rules::obtain, this.resolvers) : bean;
	}

	static UnattendedTools rules(BeanFactory beans) {
		List<Approvals> approvals = beans.getBeanProvider(Approvals.class).stream().toList();
		return approvals.isEmpty() ? withoutApprovals(beans) : UnattendedTools.of(approvals);
	}

	private static UnattendedTools withoutApprovals(BeanFactory beans) {
		Set<String> names = beans.getBean(SessionKitProperties.class).approval().namedTools();
		return UnattendedTools.of(names, beans.getBeanProvider(ApprovalPolicy.class).stream().toList(), SWITCHED_OFF);
	}

}
