package io.sessionkit.autoconfigure.check;

import java.lang.reflect.Parameter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.sessionkit.autoconfigure.SessionKitProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * All properties of SessionKit: the constructor parameters of
 * {@link SessionKitProperties} and of the types of its package in it. So a property is
 * known as soon as it can be bound.
 */
final class KnownProperties {

	static final KnownProperties ALL = new KnownProperties();

	private final Map<ConfigurationPropertyName, Property> properties = new LinkedHashMap<>();

	private final Set<ConfigurationPropertyName> groups = new TreeSet<>();

	/**
	 * A property.
	 *
	 * @param name the name of the property
	 * @param type the type of its value
	 * @param entryType the type of the values of a map; null if it is no map
	 * @param defaultValue the default value; null if the property may be unset
	 */
	record Property(String name, Class<?> type, @Nullable Class<?> entryType, @Nullable String defaultValue) {

		boolean isList() {
			return Collection.class.isAssignableFrom(this.type) || this.type.isArray();
		}

		boolean isMap() {
			return Map.class.isAssignableFrom(this.type);
		}

		Class<?> boxedType() {
			return ClassUtils.resolvePrimitiveIfNecessary(this.type);
		}
	}

	private KnownProperties() {
		add(ConfigurationPropertyName.of(SessionKitProperties.PREFIX), SessionKitProperties.class);
	}

	private void add(ConfigurationPropertyName group, Class<?> type) {
		this.groups.add(group);
		for (Parameter parameter : type.getDeclaredConstructors()[0].getParameters()) {
			Name written = parameter.getAnnotation(Name.class);
			ConfigurationPropertyName name = group
				.append((written != null) ? written.value() : DataObjectPropertyName.toDashedForm(parameter.getName()));
			if (isGroup(parameter.getType())) {
				add(name, parameter.getType());
			}
			else {
				this.properties.put(name, property(name, parameter));
			}
		}
	}

	private static boolean isGroup(Class<?> type) {
		return type.getPackage() == SessionKitProperties.class.getPackage() && !type.isEnum();
	}

	private static Property property(ConfigurationPropertyName name, Parameter parameter) {
		DefaultValue values = parameter.getAnnotation(DefaultValue.class);
		Class<?> entryType = ResolvableType.forType(parameter.getParameterizedType()).asMap().getGeneric(1).resolve();
		return new Property(name.toString(), parameter.getType(), entryType,
				(values != null) ? String.join(",", values.value()) : null);
	}

	Collection<Property> all() {
		return this.properties.values();
	}

	/**
	 * Returns the properties that have one of the names, or are in a group of that name.
	 */
	List<Property> of(List<String> names) {
		return names.stream()
			.map(ConfigurationPropertyName::of)
			.flatMap((above) -> this.properties.entrySet()
				.stream()
				.filter((known) -> above.equals(known.getKey()) || above.isAncestorOf(known.getKey()))
				.map(Map.Entry::getValue))
			.toList();
	}

	/**
	 * Returns whether a name is that of a property, of an element of a list property, or
	 * of an entry of a map property.
	 */
	boolean contains(ConfigurationPropertyName name) {
		Property property = this.properties.get(name);
		if (property != null) {
			return true;
		}
		for (ConfigurationPropertyName above = name.getParent(); !above.isEmpty(); above = above.getParent()) {
			Property owner = this.properties.get(above);
			if (owner != null) {
				return owner.isMap() || (owner.isList() && above.isParentOf(name) && name.isLastElementIndexed()
						&& name.isNumericIndex(name.getNumberOfElements() - 1));
			}
		}
		return false;
	}

	/** Returns whether there are properties below the name. */
	boolean isGroup(ConfigurationPropertyName name) {
		return this.groups.contains(name);
	}

	/**
	 * Returns whether a name of an environment variable is that of a property: with
	 * underscores for dots, and with or without underscores for dashes.
	 */
	boolean containsVariable(String variable) {
		return this.properties.values().stream().anyMatch((property) -> {
			String name = property.name();
			return isVariable(variable, name.replace("-", ""), property)
					|| isVariable(variable, name.replace('-', '_'), property);
		});
	}

	private static boolean isVariable(String variable, String name, Property property) {
		String expected = name.replace('.', '_');
		if (!variable.regionMatches(true, 0, expected, 0, expected.length())) {
			return false;
		}
		String rest = variable.substring(expected.length());
		return rest.isEmpty() || (property.isList() && rest.matches("_\\d+"))
				|| (property.isMap() && rest.startsWith("_"));
	}

	/**
	 * Returns the group that an environment variable names.
	 */
	Optional<ConfigurationPropertyName> groupOfVariable(String variable) {
		return this.groups.stream().filter((group) -> {
			String name = group.toString().replace('.', '_');
			return variable.equalsIgnoreCase(name.replace("-", ""))
					|| variable.equalsIgnoreCase(name.replace('-', '_'));
		}).findFirst();
	}

	/** Returns the names of the properties directly in a group. */
	String in(ConfigurationPropertyName group) {
		return this.properties.keySet()
			.stream()
			.filter(group::isAncestorOf)
			.map((name) -> "'" + name + "'")
			.collect(Collectors.joining(", "));
	}

	/** Returns the names of the groups directly below the prefix. */
	Set<String> groups() {
		return this.groups.stream()
			.filter((group) -> group.getNumberOfElements() == 2)
			.map((group) -> group.getLastElement(Form.UNIFORM))
			.collect(Collectors.toCollection(TreeSet::new));
	}

}
