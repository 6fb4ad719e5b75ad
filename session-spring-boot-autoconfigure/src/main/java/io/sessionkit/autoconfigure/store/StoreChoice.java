package io.sessionkit.autoconfigure.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.store.StoreNeeds.Rival;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * The choice of the store: the one that the application names, otherwise the one that it
 * has a connection for. An ambiguous choice is refused, since a wrong guess would lose
 * sessions.
 */
final class StoreChoice {

	private static final String USE_MEMORY = "set '" + StoreProperties.STORE_TYPE
			+ "' to 'memory' for sessions that are forgotten on restart";

	private final ConfigurableListableBeanFactory beans;

	private final @Nullable ClassLoader classLoader;

	private final @Nullable StoreType named;

	private StoreChoice(ConfigurableListableBeanFactory beans, @Nullable ClassLoader classLoader,
			@Nullable StoreType named) {
		this.beans = beans;
		this.classLoader = classLoader;
		this.named = named;
	}

	static StoreChoice of(ConditionContext context) {
		ConfigurableListableBeanFactory beans = context.getBeanFactory();
		Assert.state(beans != null, "The store is chosen when the beans are known");
		StoreType named = Binder.get(context.getEnvironment())
			.bind(StoreProperties.STORE_TYPE, String.class)
			.map(StoreChoice::named)
			.orElse(null);
		return new StoreChoice(beans, context.getClassLoader(), named);
	}

	/**
	 * Chooses anew when all beans are there. The choice may be another one then: what a
	 * factory makes whose method does not say so has no type before.
	 */
	static StoreChoice anew(ConfigurableListableBeanFactory beans) {
		return new StoreChoice(beans, beans.getBeanClassLoader(), null);
	}

	private static StoreType named(String name) {
		for (StoreType type : StoreType.values()) {
			if (type.name().equalsIgnoreCase(name.strip())) {
				return type;
			}
		}
		List<String> known = Stream.of(StoreType.values()).map(StoreType::quoted).toList();
		int last = known.size() - 1;
		throw ConfigurationRefusedException.of(StoreProperties.STORE_TYPE, name,
				"Write " + String.join(", ", known.subList(0, last)) + " or " + known.get(last)
						+ ", or leave it out to have it chosen.");
	}

	/**
	 * Returns the type of the store.
	 * @return the type that is named, otherwise that of the only store for which there is
	 * a connection, otherwise memory
	 * @throws ConfigurationRefusedException if there is no store for the application
	 */
	StoreType type() {
		if (this.named == null) {
			return chosen();
		}
		return StoreNeeds.of(this.named).map((needs) -> checked(needs, candidates(needs))).orElse(this.named);
	}

	private StoreType chosen() {
		Map<StoreNeeds, List<String>> found = new LinkedHashMap<>();
		for (StoreNeeds needs : StoreNeeds.ALL) {
			List<String> beans = candidates(needs);
			if (!beans.isEmpty()) {
				found.put(needs, beans);
			}
		}
		if (found.size() > 1) {
			throw ambiguous(found);
		}
		return found.entrySet()
			.stream()
			.map((only) -> checked(only.getKey(), only.getValue()))
			.findFirst()
			.orElse(StoreType.MEMORY);
	}

	/**
	 * Refuses a connection that was not seen when memory was chosen.
	 */
	void refuseUnseen() {
		StoreNeeds.of(chosen()).ifPresent((needs) -> {
			throw new ConfigurationRefusedException("The application has a " + needs.bean() + " " + candidates(needs)
					+ ", which could not be known as one when the store was chosen. So sessions would be"
					+ " forgotten on restart.", needs.declaration() + " Or " + USE_MEMORY + ".");
		});
	}

	/**
	 * Refuses the address of a server for which there is no connection, and a database
	 * that is only reached in a way in which no store does. A connection that is there
	 * and that no store may have, by the mark of its bean, is left alone.
	 * @param isWritten returns whether a property is written
	 */
	void refuseUnconnected(Predicate<String> isWritten) {
		for (StoreNeeds needs : StoreNeeds.ALL) {
			List<String> written = needs.addresses().stream().filter(isWritten).toList();
			if (beans(needs.connections()).isEmpty() && (!written.isEmpty() || rival(needs).isPresent())) {
				throw unconnected(needs, written);
			}
		}
	}

	private ConfigurationRefusedException unconnected(StoreNeeds needs, List<String> written) {
		List<String> signs = new ArrayList<>(written.stream().map((property) -> "'" + property + "'").toList());
		rival(needs).ifPresent((rival) -> signs.add(rival.name() + " " + beans(rival.bean())));
		return new ConfigurationRefusedException(
				"The application has " + String.join(" and ", signs) + ", but no " + needs.bean()
						+ ". So sessions would be forgotten on restart.",
				rival(needs).map(Rival::cure)
					.orElse("Add the dependency " + needs.dependency() + ", or define a " + needs.bean() + " bean.")
						+ " Or " + USE_MEMORY + ".");
	}

	/** Returns what Spring Boot has made instead of a connection. */
	private Optional<Rival> rival(StoreNeeds needs) {
		return Optional.ofNullable(needs.rival()).filter((rival) -> !beans(rival.bean()).isEmpty());
	}

	private static ConfigurationRefusedException ambiguous(Map<StoreNeeds, List<String>> found) {
		List<String> beans = new ArrayList<>();
		List<String> cures = new ArrayList<>();
		found.forEach((needs, names) -> {
			beans.add("a " + needs.bean() + " " + names);
			cures.add("to " + needs.type().quoted() + " for the " + needs.bean());
		});
		return new ConfigurationRefusedException(
				"The application has " + String.join(" and ", beans)
						+ ", so it is not clear where sessions are to be kept.",
				"Set '" + StoreProperties.STORE_TYPE + "' " + String.join(" or ", cures) + ", or " + USE_MEMORY + ".");
	}

	/**
	 * Returns the type of a store, if the application has everything that the store
	 * needs.
	 */
	private StoreType checked(StoreNeeds needs, List<String> beans) {
		refuseMissingLibrary(needs);
		if (beans.isEmpty()) {
			throw new ConfigurationRefusedException(
					"The property '" + StoreProperties.STORE_TYPE + "' is '" + needs.type().value()
							+ "', but the application has no " + needs.bean() + ".",
					rival(needs).map(Rival::cure).orElse(needs.cures().missing()) + " If there is one: "
							+ needs.declaration());
		}
		if (!hasSingleCandidate(beans)) {
			throw new ConfigurationRefusedException(
					"Sessions are to be kept " + needs.place() + ", but the application has several beans of the type "
							+ needs.bean() + " " + beans + " and none of them is the primary one.",
					"Mark one of them @Primary, " + needs.cures().choice() + ", or " + USE_MEMORY + ".");
		}
		return needs.type();
	}

	private void refuseMissingLibrary(StoreNeeds needs) {
		List<String> missing = needs.libraries().stream().filter((name) -> !isPresent(name)).toList();
		if (!missing.isEmpty()) {
			throw new ConfigurationRefusedException(
					"Sessions are to be kept " + needs.place() + ", but the libraries for it are not on the classpath: "
							+ missing + " not found.",
					"Add the dependency " + needs.dependency() + ", or " + USE_MEMORY + ".");
		}
	}

	/**
	 * Returns the beans that are marked, otherwise those that could be injected by their
	 * type alone.
	 */
	private List<String> candidates(StoreNeeds needs) {
		List<String> all = beans(needs.connections());
		List<String> marked = all.stream().filter(this::isMarked).toList();
		return marked.isEmpty() ? all.stream().filter(this::isNotBarred).toList() : marked;
	}

	/** Returns the DataSource beans that are marked. */
	List<String> marked() {
		return beans(StoreNeeds.JDBC.connections()).stream().filter(this::isMarked).toList();
	}

	private List<String> beans(String className) {
		if (!isPresent(className)) {
			return List.of();
		}
		Class<?> type = ClassUtils.resolveClassName(className, this.classLoader);
		return List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, type, true, false));
	}

	private boolean isPresent(String className) {
		return ClassUtils.isPresent(className, this.classLoader);
	}

	private boolean isMarked(String name) {
		return !is(name, (definition) -> !definition.isAutowireCandidate())
				&& home(name).findAnnotationOnBean(name, SessionKitDataSource.class, false) != null;
	}

	private boolean isNotBarred(String name) {
		return !is(name, (definition) -> !definition.isAutowireCandidate()
				|| definition instanceof AbstractBeanDefinition bean && !bean.isDefaultCandidate());
	}

	private boolean hasSingleCandidate(List<String> names) {
		long primary = names.stream().filter((name) -> is(name, BeanDefinition::isPrimary)).count();
		long regular = names.stream().filter((name) -> !is(name, BeanDefinition::isFallback)).count();
		return names.size() == 1 || primary == 1 || (primary == 0 && regular == 1);
	}

	/**
	 * Returns whether the definition of a bean has a mark. Beans that were registered as
	 * objects have no definition, and so no marks.
	 */
	private boolean is(String name, Predicate<BeanDefinition> mark) {
		ConfigurableListableBeanFactory home = home(name);
		return home.containsBeanDefinition(name) && mark.test(home.getMergedBeanDefinition(name));
	}

	/** Returns the factory that has a bean itself: this one, or one of its parents. */
	private ConfigurableListableBeanFactory home(String name) {
		ConfigurableListableBeanFactory home = this.beans;
		while (!home.containsLocalBean(name)
				&& home.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent) {
			home = parent;
		}
		return home;
	}

}
