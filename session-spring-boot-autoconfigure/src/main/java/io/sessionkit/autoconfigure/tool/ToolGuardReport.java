package io.sessionkit.autoconfigure.tool;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.autoconfigure.internal.ToolBeans;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Logs at start the tools that need an approval although nobody can be asked, and the
 * models that would run such tools without one.
 */
final class ToolGuardReport extends AtStart {

	private static final Log logger = LogFactory.getLog(ToolGuardReport.class);

	private final ConfigurableListableBeanFactory beans;

	private final SessionKitProperties properties;

	ToolGuardReport(ConfigurableListableBeanFactory beans, SessionKitProperties properties) {
		this.beans = beans;
		this.properties = properties;
	}

	@Override
	protected void run() {
		List<String> unguarded = unguardedModels();
		if (this.properties.enabled() && this.properties.autoRegister() && unguarded.isEmpty()) {
			return;
		}
		Set<String> tools = new TreeSet<>(ToolGuard.rules(this.beans).names());
		tools.addAll(new ToolBeans(this.beans).annotated());
		if (!tools.isEmpty()) {
			reportSwitches(tools);
			reportModels(tools, unguarded);
		}
	}

	private void reportSwitches(Set<String> tools) {
		if (!this.properties.enabled()) {
			logger
				.warn("'" + SessionKitProperties.ENABLED + "' is false, so nobody can be asked about tools that need an"
						+ " approval: calls that offer one of " + tools + " are refused.");
		}
		else if (!this.properties.autoRegister()) {
			logger.info("'" + SessionKitProperties.AUTO_REGISTER + "' is false: clients without the session advisor"
					+ " cannot offer " + tools + ", which need an approval.");
		}
	}

	private void reportModels(Set<String> tools, List<String> unguarded) {
		if (!unguarded.isEmpty()) {
			logger.warn("The ChatModel beans " + unguarded + " do not use the ToolCallingManager bean: calls of"
					+ " ChatClient.create(model) with one of them run " + tools
					+ " without approval. Build these models with"
					+ " .toolCallingManager(toolCallingManager), and clients from the ChatClient.Builder bean.");
		}
	}

	/**
	 * Returns the models that do not pass the tools of a request to the
	 * {@link GuardedToolCallingManager}.
	 */
	private List<String> unguardedModels() {
		return Arrays.stream(this.beans.getBeanNamesForType(ChatModel.class, true, false))
			.filter(this.beans::containsSingleton)
			.filter((name) -> !GuardedModel.isGuarded(target(this.beans.getBean(name))))
			.toList();
	}

	private static Object target(Object bean) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		return (target != null) ? target : bean;
	}

}
