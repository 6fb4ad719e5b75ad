package io.sessionkit.autoconfigure.check;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;

/**
 * Refuses what has no effect beside a bean of the application that takes the place of one
 * of the auto-configuration: properties, and other beans that only the latter would have.
 * A tool that is named there would run unasked, and a guard would check nothing.
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
		for (OwnBean<?> each : OwnBean.ALL) {
			List<String> names = names(each.type());
			if (!names.isEmpty() && !this.beans.containsBean(each.ours()) && isUsed(each)) {
				refuseProperties(each, names);
				refuseParts(each, names);
				refuseOptions(each, names);
			}
		}
	}

	/** While SessionKit is switched off, no property is compared with a store. */
	private boolean isUsed(OwnBean<?> own) {
		return own.type() != SessionStore.class
				|| OnSwitchCondition.isOn(this.environment, SessionKitProperties.ENABLED);
	}

	private void refuseProperties(OwnBean<?> own, List<String> names) {
		refuse(own.properties(), described(own, names) + ", which the application builds itself.",
				"Say it where that bean is built, with " + own.said() + ", and leave the properties out."
						+ " Or leave the bean out.");
	}

	private void refuse(List<String> properties, String bean, String cure) {
		List<String> written = WrittenValues.written(this.environment, properties);
		if (!written.isEmpty()) {
			throw new ConfigurationRefusedException(
					"What '" + String.join("', '", written) + "' says is not applied to the " + bean, cure);
		}
	}

	private <T> void refuseParts(OwnBean<T> own, List<String> names) {
		List<T> owners = names.stream().map((name) -> this.beans.getBean(name, own.type())).toList();
		for (Class<?> type : own.parts()) {
			Objects.requireNonNull(this.parts.get(type)).forEach((part) -> {
				if (owners.stream().noneMatch((owner) -> own.has().test(owner, part))) {
					throw refusal(type.getSimpleName() + " bean " + named(type, part), described(own, names),
							own.said());
				}
			});
		}
	}

	/**
	 * Refuses properties of the options if no store of the application has what they say.
	 * One that is built with the bean has all of it.
	 */
	private void refuseOptions(OwnBean<?> own, List<String> names) {
		if (own.type() == SessionStore.class && this.beans.containsBean(OwnBean.OPTIONS)) {
			refuse(differing(options(names), this.beans.getBean(OwnBean.OPTIONS, StoreOptions.class)),
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

	private static ConfigurationRefusedException refusal(String part, String owner, String said) {
		return new ConfigurationRefusedException(
				"The " + part + " is never asked: the " + owner + ", which the application builds itself, does not have"
						+ " it.",
				"Give it to that bean, with " + said + ". If it is meant for something else, define it with"
						+ " @Bean(defaultCandidate = false).");
	}

	private static String described(OwnBean<?> own, List<String> names) {
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
