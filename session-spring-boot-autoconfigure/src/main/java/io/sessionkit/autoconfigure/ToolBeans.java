package io.sessionkit.autoconfigure;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * The names of all tools that are beans: callbacks, providers of callbacks, and beans
 * with methods that are tools. A provider may ask a server for its tools.
 */
final class ToolBeans implements Supplier<Set<String>> {

	private final ListableBeanFactory beans;

	ToolBeans(ListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Set<String> get() {
		Set<String> names = new LinkedHashSet<>();
		this.beans.getBeanProvider(ToolCallback.class).stream().forEach((tool) -> add(names, tool));
		this.beans.getBeanProvider(ToolCallbackProvider.class)
			.stream()
			.forEach((provider) -> add(names, provider.getToolCallbacks()));
		for (String bean : this.beans.getBeanDefinitionNames()) {
			Class<?> type = this.beans.getType(bean, false);
			if (type != null && this.beans.isSingleton(bean) && hasTools(ClassUtils.getUserClass(type))) {
				add(names, ToolCallbacks.from(this.beans.getBean(bean)));
			}
		}
		return names;
	}

	private static boolean hasTools(Class<?> type) {
		MethodIntrospector.MetadataLookup<Tool> lookup = (method) -> AnnotatedElementUtils.findMergedAnnotation(method,
				Tool.class);
		return !MethodIntrospector.selectMethods(type, lookup).isEmpty();
	}

	private static void add(Set<String> names, ToolCallback... tools) {
		for (ToolCallback tool : tools) {
			names.add(tool.getToolDefinition().name());
		}
	}

}
