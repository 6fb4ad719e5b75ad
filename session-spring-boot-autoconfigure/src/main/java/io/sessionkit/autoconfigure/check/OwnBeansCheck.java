package io.sessionkit.autoconfigure.check;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.internal.door.BeanParts;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/**
 * Refuses what has no effect beside a bean of the application that takes the place of one
 * of the auto-configuration: properties, and other beans that only the latter would have.
 * A tool that is named there would run unasked, and a guard would check nothing. The same
 * goes for what a context has of its own, where one above it has the bean: that was built
 * with the properties and beans of its own context.
 */
final class OwnBeansCheck extends AtStart {

	private final ListableBeanFactory beans;

	private final Environment environment;

	/** The beans that others have, by their type, without those that are not injected. */
	private final Map<Class<?>, ObjectProvider<?>> parts;

	OwnBeansCheck(ListableBeanFactory beans, Environment environment, Map<Class<?>, ObjectProvider<?>> parts) {
		this.beans = beans;
		this.environment = environment;
		this.parts = parts;
	}

	@Override
	protected void run() {
		for (OwnBean each : OwnBean.ALL) {
			List<String> names = names(each.type());
			if (names.isEmpty() || !isUsed(each)) {
				continue;
			}
			BeanFactory home = home(each.ours());
			if (home == null) {
				refuseProperties(each, names);
				refuseParts(each, names);
				refuseOptions(each, names);
			}
			else if (home != this.beans) {
				refuseDifferences(each, home);
				refuseLocalParts(each, names);
			}
		}
	}

	/**
	 * Returns the factory that has a bean itself: this one, or one above it; null if none
	 * has it.
	 */
	private @Nullable BeanFactory home(String name) {
		BeanFactory home = this.beans;
		while (home instanceof HierarchicalBeanFactory child && !child.containsLocalBean(name)) {
			home = child.getParentBeanFactory();
		}
		return home;
	}

	/** While SessionKit is switched off, no property is compared with a store. */
	private boolean isUsed(OwnBean own) {
		return own.type() != SessionStore.class
				|| OnSwitchCondition.isOn(this.environment, SessionKitProperties.ENABLED);
	}

	private void refuseProperties(OwnBean own, List<String> names) {
		refuseWritten(own.properties(), described(own, names) + ", which the application builds itself.",
				"Say it where that bean is built, with " + own.said() + ", and leave the properties out."
						+ " Or leave the bean out.");
	}

	private void refuseWritten(List<String> properties, String bean, String cure) {
		refuse(WrittenValues.written(this.environment, properties), bean, cure);
	}

	private static void refuse(List<String> written, String bean, String cure) {
		if (!written.isEmpty()) {
			throw new ConfigurationRefusedException(
					"What '" + String.join("', '", written) + "' says is not applied to the " + bean, cure);
		}
	}

	/**
	 * Refuses properties that say something else here than in the context above that has
	 * the bean.
	 */
	private void refuseDifferences(OwnBean own, BeanFactory home) {
		Environment above = home.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME, Environment.class);
		refuse(WrittenValues.differing(this.environment, above, own.properties()),
				own.type().getSimpleName() + " bean of a context above this one, where they say something else.",
				"Write them for that context.");
	}

	private void refuseParts(OwnBean own, List<String> names) {
		forEachUnused(own, names, (type, part) -> {
			throw refusal(type, part, described(own, names) + ", which the application builds itself,",
					"Give it to that bean, with " + own.said() + ".");
		});
	}

	/**
	 * Refuses beans of this context that a bean of a context above would need to have.
	 */
	private void refuseLocalParts(OwnBean own, List<String> names) {
		forEachUnused(own, names, (type, part) -> {
			if (names(type).stream().anyMatch((name) -> isLocal(name) && isOf(name, part))) {
				throw refusal(type, part, described(own, names) + " of a context above this one",
						"Define it in that context.");
			}
		});
	}

	/**
	 * A prototype is another one each time, so its class says whether it is that bean.
	 */
	private boolean isOf(String name, Object part) {
		Object bean = this.beans.getBean(name);
		return bean == part || this.beans.isPrototype(name) && bean.getClass() == part.getClass();
	}

	private boolean isLocal(String name) {
		return home(name) == this.beans;
	}

	/** Calls the action with each part that none of the beans has, and with its type. */
	private void forEachUnused(OwnBean own, List<String> names, BiConsumer<Class<?>, Object> action) {
		List<?> owners = names.stream().map((name) -> this.beans.getBean(name, own.type())).toList();
		for (Class<?> type : own.parts()) {
			Objects.requireNonNull(this.parts.get(type)).forEach((part) -> {
				if (owners.stream().noneMatch((owner) -> has(owner, part))) {
					action.accept(type, part);
				}
			});
		}
	}

	private static boolean has(Object owner, Object part) {
		return InnerParts.find(owner, BeanParts.class).filter((parts) -> parts.has(part)).isPresent();
	}

	/**
	 * Refuses properties of the options if no store of the application has what they say.
	 * One that is built with the bean has all of it.
	 */
	private void refuseOptions(OwnBean own, List<String> names) {
		if (own.type() == SessionStore.class && this.beans.containsBean(OwnBean.OPTIONS)) {
			refuseWritten(differing(options(names), this.beans.getBean(OwnBean.OPTIONS, StoreOptions.class)),
					described(own, names) + ", which the application builds with other StoreOptions.",
					"Build it with the StoreOptions bean, or leave the properties out.");
		}
	}

	/** Returns the options of stores; those of a mock are null. */
	private List<StoreOptions> options(List<String> names) {
		return names.stream()
			.map((name) -> this.beans.getBean(name, SessionStore.class).options())
			.filter(Objects::nonNull)
			.toList();
	}

	private static List<String> differing(List<StoreOptions> theirs, StoreOptions ours) {
		return OwnBean.OF_OPTIONS.entrySet()
			.stream()
			.filter((each) -> !theirs.isEmpty()
					&& theirs.stream().noneMatch((options) -> each.getValue().test(options, ours)))
			.map(Map.Entry::getKey)
			.toList();
	}

	private ConfigurationRefusedException refusal(Class<?> type, Object part, String owner, String cure) {
		return new ConfigurationRefusedException(
				"The " + type.getSimpleName() + " bean " + named(type, part) + " is never asked: the " + owner
						+ " does not have it.",
				cure + " If it is meant for something else, define it with @Bean(defaultCandidate = false).");
	}

	private static String described(OwnBean own, List<String> names) {
		return own.type().getSimpleName() + " bean '" + String.join("', '", names) + "'";
	}

	private String named(Class<?> type, Object part) {
		return names(type).stream()
			.filter((name) -> this.beans.getBean(name) == part)
			.findFirst()
			.map((name) -> "'" + name + "'")
			.orElse("of type " + part.getClass().getName());
	}

	private List<String> names(Class<?> type) {
		return List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, type, true, false));
	}

}
