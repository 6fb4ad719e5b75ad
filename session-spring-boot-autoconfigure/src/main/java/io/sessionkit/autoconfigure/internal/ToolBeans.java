package io.sessionkit.autoconfigure.internal;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.sessionkit.approval.RequiresApproval;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.support.ToolUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds all tools that are beans, and their names: callbacks, providers of callbacks, and
 * beans with tool methods. A provider may send a request to a server to list its tools.
 */
public final class ToolBeans implements Supplier<Set<String>> {

	private static final Log logger = LogFactory.getLog(ToolBeans.class);

	private static final ReflectionUtils.MethodFilter IS_TOOL = (method) -> AnnotatedElementUtils.hasAnnotation(method,
			Tool.class);

	private final ListableBeanFactory beans;

	public ToolBeans(ListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Set<String> get() {
		Set<String> names = new LinkedHashSet<>();
		callbacks().forEach((tool) -> names.add(tool.getToolDefinition().name()));
		return names;
	}

	/**
	 * Returns the tools that are beans. A tool may be among them twice, as a method of a
	 * bean and by a provider.
	 */
	public List<ToolCallback> callbacks() {
		List<ToolCallback> tools = new ArrayList<>();
		this.beans.getBeanProvider(ToolCallback.class).stream().forEach(tools::add);
		this.beans.getBeanProvider(ToolCallbackProvider.class).stream().forEach((provider) -> addAll(tools, provider));
		forEachToolClass((bean, methods) -> {
			if (this.beans.isSingleton(bean)) {
				Collections.addAll(tools, ToolCallbacks.from(this.beans.getBean(bean)));
			}
		});
		return tools;
	}

	/**
	 * Returns the tools that are methods of beans and need an approval by their
	 * annotation, each with the name of its bean. No bean is created for this.
	 */
	public Set<String> annotated() {
		Set<String> names = new LinkedHashSet<>();
		forEachAnnotated((bean, method) -> names.add(ToolUtils.getToolName(method) + " (bean " + bean + ")"));
		return names;
	}

	/**
	 * Calls the action with each bean method that is a tool and needs an approval by its
	 * annotation, and with the name of its bean. No bean is created for this.
	 */
	public void forEachAnnotated(BiConsumer<String, Method> action) {
		forEachToolClass((bean, methods) -> methods.stream()
			.filter((method) -> AnnotatedElementUtils.hasAnnotation(method, RequiresApproval.class))
			.forEach((method) -> action.accept(bean, method)));
	}

	/**
	 * Calls the action with each bean method that is a tool, and with the name of its
	 * bean. No bean is created for this.
	 */
	public void forEachMethod(BiConsumer<String, Method> action) {
		forEachToolClass((bean, methods) -> methods.forEach((method) -> action.accept(bean, method)));
	}

	private void forEachToolClass(BiConsumer<String, Set<Method>> action) {
		for (String bean : definitionNames()) {
			Set<Method> methods = toolMethods(bean);
			if (!methods.isEmpty()) {
				action.accept(bean, methods);
			}
		}
	}

	/** Returns the names of the beans of this context and of those above it. */
	private Set<String> definitionNames() {
		Set<String> names = new LinkedHashSet<>();
		BeanFactory beans = this.beans;
		while (beans instanceof ListableBeanFactory listing) {
			Collections.addAll(names, listing.getBeanDefinitionNames());
			beans = (beans instanceof HierarchicalBeanFactory child) ? child.getParentBeanFactory() : null;
		}
		return names;
	}

	/**
	 * Returns the tool methods of a bean; none if its class cannot be inspected because a
	 * type is missing.
	 */
	private Set<Method> toolMethods(String bean) {
		try {
			Class<?> type = this.beans.getType(bean, false);
			return (type != null) ? MethodIntrospector.selectMethods(ClassUtils.getUserClass(type), IS_TOOL) : Set.of();
		}
		catch (RuntimeException | LinkageError ex) {
			logger
				.debug("The class of bean '" + bean + "' could not be searched for tools: " + ex.getClass().getName());
			return Set.of();
		}
	}

	/**
	 * Adds the tools of a provider. A server that cannot be reached must not prevent the
	 * application from starting.
	 */
	private static void addAll(List<ToolCallback> tools, ToolCallbackProvider provider) {
		try {
			Collections.addAll(tools, provider.getToolCallbacks());
		}
		catch (RuntimeException ex) {
			logger.warn("The tools of a " + provider.getClass().getName() + " could not be listed: "
					+ ex.getClass().getName());
		}
	}

}
