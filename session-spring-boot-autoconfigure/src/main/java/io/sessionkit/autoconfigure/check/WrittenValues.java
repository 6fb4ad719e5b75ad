package io.sessionkit.autoconfigure.check;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.check.KnownProperties.Property;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/**
 * Checks values as they are written, before they are converted. So a report can quote
 * them, and a number without a unit, which would mean milliseconds, can be distinguished
 * from one with a unit.
 */
final class WrittenValues {

	private static final Pattern NUMBER = Pattern.compile("[+-]?\\d+");

	private static final Pattern POSITIVE = Pattern.compile("\\+?0*[1-9]\\d*");

	/** A name of an entry that needs no brackets. */
	private static final Pattern PLAIN_KEY = Pattern.compile("[a-z0-9][a-z0-9-]*");

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	/** The advice for a value that is not of the type of its property. */
	private static final Map<Class<?>, String> FORMS = Map.of(Duration.class,
			"Write a time such as 30s, 30m, 30h or 30d", DataSize.class, "Write a size such as 64KB", Integer.class,
			"Write a whole number of at most " + Integer.MAX_VALUE, Long.class, "Write a whole number");

	private final Environment environment;

	private final Binder binder;

	private WrittenValues(Environment environment) {
		this.environment = environment;
		this.binder = Binder.get(environment);
	}

	/**
	 * Refuses switches that are neither on nor off, times without a unit, times shorter
	 * than a second, and what is not a time, a size or a number where one is expected.
	 * @throws ConfigurationRefusedException if there is such a value
	 */
	static void refuse(Environment environment) {
		WrittenValues values = new WrittenValues(environment);
		for (Property property : KnownProperties.ALL.all()) {
			if (property.type() == boolean.class) {
				values.checkSwitch(property);
			}
			else if (property.type() == Duration.class) {
				values.checkTime(property);
			}
			else if (property.entryType() == Duration.class) {
				values.checkTimes(property);
			}
			else {
				values.checkForm(property);
			}
		}
	}

	/**
	 * Returns the names of the properties that are written, of those that have one of the
	 * names or are in a group of that name. A blank value says nothing.
	 */
	static List<String> written(Environment environment, List<String> names) {
		WrittenValues values = new WrittenValues(environment);
		return KnownProperties.ALL.of(names).stream().filter(values::isWritten).map(Property::name).toList();
	}

	private boolean isWritten(Property property) {
		if (property.isList()) {
			return !this.binder.bind(property.name(), Bindable.listOf(String.class)).orElse(List.of()).isEmpty();
		}
		if (property.isMap()) {
			return this.binder.bind(property.name(), Bindable.mapOf(String.class, String.class)).isBound();
		}
		String written = written(property);
		return written != null && !written.isBlank();
	}

	private void checkSwitch(Property property) {
		String written = written(property);
		if (written == null) {
			return;
		}
		try {
			if (this.binder.bind(property.name(), Boolean.class).isBound()) {
				return;
			}
		}
		catch (BindException ex) {
			// refused below, like an empty value
		}
		throw refusal(property, written, "", "Write true or false");
	}

	private void checkTime(Property property) {
		String written = written(property);
		if (written == null || written.isBlank()) {
			return;
		}
		refuseWithoutUnit(property, written);
		refuseOtherForm(property, written);
		if (isTooShort(property)) {
			throw refusal(property, written, ", which is less than a second",
					"Write one second or more, such as 30s, 30m, 30h or 30d");
		}
	}

	/**
	 * Checks the times of single tools. Those that are too short are refused when they
	 * are bound, with the name of their tool.
	 */
	private void checkTimes(Property property) {
		this.binder.bind(property.name(), Bindable.mapOf(String.class, String.class))
			.orElse(Map.of())
			.forEach((key, written) -> checkEntry(entry(property, key), written));
	}

	private void checkEntry(Property entry, String written) {
		refuseWithoutUnit(entry, written);
		if (!written.isBlank()) {
			refuseOtherForm(entry, written);
		}
	}

	private void checkForm(Property property) {
		String written = written(property);
		if (written != null && !written.isBlank()) {
			refuseOtherForm(property, written);
		}
	}

	/**
	 * Refuses what cannot be converted. Spring Boot reports values of other types, such
	 * as those of an enumeration, with the values that are possible.
	 */
	private void refuseOtherForm(Property property, String written) {
		Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(property.type());
		String cure = FORMS.get(type);
		if (cure == null) {
			return;
		}
		try {
			this.binder.bind(property.name(), type);
		}
		catch (BindException ex) {
			throw refusal(property, written, "", cure);
		}
	}

	private static Property entry(Property property, String key) {
		String name = PLAIN_KEY.matcher(key).matches() ? "." + key : "[" + key + "]";
		return new Property(property.name() + name, Duration.class, null, "the time of all tools");
	}

	private void refuseWithoutUnit(Property property, String written) {
		if (NUMBER.matcher(written.strip()).matches()) {
			String number = POSITIVE.matcher(written.strip()).matches() ? written.strip() : "30";
			throw refusal(property, written, ", a number without a unit, which would mean milliseconds",
					"Write a unit, such as " + number + "s, " + number + "m, " + number + "h or " + number + "d");
		}
	}

	private boolean isTooShort(Property property) {
		return this.binder.bind(property.name(), Duration.class)
			.map((time) -> time.compareTo(SHORTEST) < 0)
			.orElse(false);
	}

	private @Nullable String written(Property property) {
		return this.binder.bind(property.name(), String.class).orElse(null);
	}

	private ConfigurationRefusedException refusal(Property property, String written, String reason, String cure) {
		String otherwise = (property.defaultValue() != null) ? ", or leave it out for " + property.defaultValue()
				: (property.type() == Duration.class) ? ", or leave it out for no limit" : ", or leave it out";
		return new ConfigurationRefusedException(
				"The property '" + property.name() + "' is '" + written + "'" + reason + place(property) + ".",
				cure + otherwise + ".");
	}

	private String place(Property property) {
		ConfigurationPropertyName name = ConfigurationPropertyName.of(property.name());
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty found = source.getConfigurationProperty(name);
			if (found != null) {
				Origin origin = found.getOrigin();
				return (origin != null) ? " (" + Objects.toString(origin) + ")" : "";
			}
		}
		return "";
	}

}
