package io.sessionkit.autoconfigure.check;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.KnownProperties.Property;
import io.sessionkit.autoconfigure.internal.WrittenTime;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;

/**
 * Checks values as they are written, before they are converted. So a report can quote
 * them, and an empty text can be distinguished from a property that nobody has written,
 * and a number without a unit from one with a unit.
 */
final class WrittenValues {

	private static final Pattern NUMBER = Pattern.compile("[+-]?\\d+");

	private static final Pattern POSITIVE = Pattern.compile("\\+?0*[1-9]\\d*");

	private static final Pattern YAML = Pattern.compile("\\.ya?ml$");

	private static final String PROMPT = SessionKitProperties.PREFIX + ".summarize.prompt";

	/** A name of an entry that needs no brackets. */
	private static final Pattern PLAIN_KEY = Pattern.compile("[a-z0-9][a-z0-9-]*");

	/**
	 * A placeholder that Spring Boot has left as it is, since nobody has set what it
	 * names, or one that Maven has not replaced.
	 */
	private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{|^@[\\w.-]+@$");

	/** The advice for a value that is not of the type of its property. */
	private static final Map<Class<?>, String> FORMS = Map.of(Boolean.class, "Write true or false", Duration.class,
			"Write a time such as 30s, 30m, 30h or 30d", DataSize.class, "Write a size such as 64KB", Integer.class,
			"Write a whole number of at most " + Integer.MAX_VALUE, Long.class, "Write a whole number");

	private final Environment environment;

	private final Binder binder;

	private WrittenValues(Environment environment) {
		this.environment = environment;
		this.binder = Binder.get(environment);
	}

	/**
	 * Refuses empty texts, placeholders without a value, times and sizes without a unit,
	 * times shorter than a second, what is not a switch, a time, a size or a number where
	 * one is expected, and elements of lists and entries of maps that would not be bound.
	 * @throws ConfigurationRefusedException if there is such a value
	 */
	static void refuse(Environment environment) {
		WrittenValues values = new WrittenValues(environment);
		KnownProperties.ALL.all().forEach(values::check);
	}

	private void check(Property property) {
		refuseEmpty(property);
		if (property.isList()) {
			refuseElementsBesideText(property);
			list(property).forEach((element) -> refusePlaceholder(property, element));
		}
		if (property.isMap()) {
			checkEntries(property);
			return;
		}
		String written = written(property);
		if (written != null) {
			refusePlaceholder(property, written);
			checkForm(property, written);
			refuseTooShort(property, written);
		}
	}

	/**
	 * Refuses a placeholder that has got no value: nobody has an authority that is named
	 * so, and a version would be the same in each release. A prompt may say anything.
	 */
	private void refusePlaceholder(Property property, String written) {
		if (!property.name().equals(PROMPT) && PLACEHOLDER.matcher(written.strip()).find()) {
			throw refusal(property, written, ", a placeholder that has no value",
					"Write the value itself, or set what the placeholder names");
		}
	}

	/**
	 * Returns the names of the properties that are written, of those that have one of the
	 * names or are in a group of that name.
	 */
	static List<String> written(Environment environment, List<String> names) {
		WrittenValues values = new WrittenValues(environment);
		return KnownProperties.ALL.of(names).stream().filter(values::isWritten).map(Property::name).toList();
	}

	/**
	 * Returns the names of the properties, of those that have one of the names or are in
	 * a group of that name, that are written in an environment, and not alike in the
	 * other one. What a parent says is not seen by a child with a source of the same
	 * name, and that says nothing else.
	 */
	static List<String> differing(Environment environment, Environment other, List<String> names) {
		WrittenValues values = new WrittenValues(environment);
		WrittenValues others = new WrittenValues(other);
		return KnownProperties.ALL.of(names)
			.stream()
			.filter(values::isWritten)
			.filter((property) -> !Objects.equals(values.whole(property), others.whole(property)))
			.map(Property::name)
			.toList();
	}

	private boolean isWritten(Property property) {
		return whole(property) != null;
	}

	/** Returns all texts of a property; null if it has none. */
	private @Nullable Object whole(Property property) {
		if (property.isList()) {
			List<String> all = list(property);
			return all.isEmpty() ? null : all;
		}
		if (property.isMap()) {
			return this.binder.bind(property.name(), Bindable.mapOf(String.class, String.class)).orElse(null);
		}
		return written(property);
	}

	private List<String> list(Property property) {
		return this.binder.bind(property.name(), Bindable.listOf(String.class)).orElse(List.of());
	}

	/**
	 * Refuses an empty text, such as that of a variable which is set to another that is
	 * not. It would take the place of what the next source says, and leave the property
	 * unset: no tool would need an approval. Of a property that has no default, YAML
	 * without a value is meant, as an empty list is: it unsets what another file says.
	 */
	private void refuseEmpty(Property property) {
		ConfigurationProperty found = found(property);
		if (found != null && isText(property, found) && Objects.toString(written(property), "").isBlank()) {
			throw empty(property);
		}
	}

	private static boolean isText(Property property, ConfigurationProperty found) {
		return found.getValue() instanceof CharSequence text && !property.isMap()
				&& !(text.isEmpty() && canBeUnset(property) && isOfYaml(found.getOrigin()));
	}

	private static boolean canBeUnset(Property property) {
		return property.isList() || property.defaultValue() == null;
	}

	/**
	 * Spring Boot hands an empty list of YAML on as an empty text, as it does no value.
	 */
	private static boolean isOfYaml(@Nullable Origin origin) {
		Origin place = (origin instanceof PropertySourceOrigin of) ? of.getOrigin() : origin;
		return place instanceof TextResourceOrigin text && text.getResource() != null
				&& YAML.matcher(String.valueOf(text.getResource().getFilename())).find();
	}

	private ConfigurationRefusedException empty(Property property) {
		return refusal(property, "", ", an empty text", form(property));
	}

	/**
	 * Refuses elements of a list beside a text of the whole in the same source: Spring
	 * Boot takes the text alone, so a tool among the elements would need no approval.
	 */
	private void refuseElementsBesideText(Property property) {
		ConfigurationProperty text = found(property);
		if (text != null && text.getSource() instanceof IterableConfigurationPropertySource source) {
			elements(source, text.getName()).findFirst().ifPresent((element) -> {
				throw besideText(property, element);
			});
		}
	}

	/**
	 * Returns the elements of a list. The source is asked for each by its index, since
	 * the name that it gives a variable has dots where the property has dashes.
	 */
	private static Stream<ConfigurationPropertyName> elements(IterableConfigurationPropertySource source,
			ConfigurationPropertyName list) {
		return source.stream()
			.filter(ConfigurationPropertyName::isLastElementIndexed)
			.map((name) -> list.append("[" + name.getLastElement(Form.ORIGINAL) + "]"))
			.filter((element) -> source.getConfigurationProperty(element) != null);
	}

	private ConfigurationRefusedException besideText(Property property, ConfigurationPropertyName name) {
		Property element = new Property(name.toString(), String.class, null, null);
		return refusal(element, Objects.toString(written(element), ""),
				", which would have no effect, since the same source has '" + property.name() + "' as a text",
				"Write all values in one of these forms: in '" + property.name()
						+ "', with commas between them, or in '" + property.name() + "[0]' and so on");
	}

	private static String form(Property property) {
		if (property.isList()) {
			return "Write at least one value, or [] in YAML for none";
		}
		if (property.type().isEnum()) {
			return "Write " + either(choices(property.type()));
		}
		return FORMS.getOrDefault(property.boxedType(), "Write a value");
	}

	private static List<String> choices(Class<?> type) {
		return Stream.of(type.getEnumConstants())
			.map((constant) -> constant.toString().toLowerCase(Locale.ROOT).replace('_', '-'))
			.toList();
	}

	private static String either(List<String> forms) {
		int last = forms.size() - 1;
		return String.join(", ", forms.subList(0, last)) + " or " + forms.get(last);
	}

	/**
	 * Checks the times of single tools. Those that are too short are refused when they
	 * are bound, with the name of their tool.
	 */
	private void checkEntries(Property property) {
		this.binder.bind(property.name(), Bindable.mapOf(String.class, String.class))
			.orElse(Map.of())
			.forEach((key, written) -> checkEntry(property, key, written));
	}

	private void checkEntry(Property property, String key, String written) {
		Property entry = entry(property, key);
		if (key.indexOf('.') >= 0 && found(entry) == null) {
			throw nested(property, key, written, entry);
		}
		if (written.isBlank()) {
			throw empty(entry);
		}
		refusePlaceholder(entry, written);
		checkForm(entry, written);
	}

	/**
	 * Creates the exception for an entry with a dot in its name: a dot leads into the
	 * values of the map, which have nothing of that name.
	 */
	private ConfigurationRefusedException nested(Property property, String key, String written, Property entry) {
		return refusal(new Property(property.name() + "." + key, entry.type(), null, entry.defaultValue()), written,
				", which would have no effect, since there is a dot in the name of the entry",
				"Write a name with dots in brackets, as in '" + entry.name() + "', and one with underscores in YAML or"
						+ " in SPRING_APPLICATION_JSON, since the underscores of a variable are dots");
	}

	private void checkForm(Property property, String written) {
		if (property.type() == Duration.class && NUMBER.matcher(written.strip()).matches()) {
			throw withoutUnit(property, written, "milliseconds", List.of("s", "m", "h", "d"));
		}
		if (property.type() == DataSize.class && POSITIVE.matcher(written.strip()).matches()) {
			throw withoutUnit(property, written, "bytes", List.of("B", "KB", "MB"));
		}
		refuseOtherForm(property, written);
	}

	/**
	 * Refuses what cannot be converted. Spring Boot reports values of other types, such
	 * as those of an enumeration, with the values that are possible.
	 */
	private void refuseOtherForm(Property property, String written) {
		Class<?> type = property.boxedType();
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

	private ConfigurationRefusedException withoutUnit(Property property, String written, String meaning,
			List<String> units) {
		String number = POSITIVE.matcher(written.strip()).matches() ? written.strip() : "30";
		return refusal(property, written, ", a number without a unit, which would mean " + meaning,
				"Write a unit, such as " + either(units.stream().map((unit) -> number + unit).toList()));
	}

	private void refuseTooShort(Property property, String written) {
		if (property.type() == Duration.class && isTooShort(property)) {
			throw refusal(property, written, ", which is less than a second",
					"Write one second or more, such as 30s, 30m, 30h or 30d");
		}
	}

	private boolean isTooShort(Property property) {
		return this.binder.bind(property.name(), Duration.class)
			.map((time) -> time.compareTo(WrittenTime.SHORTEST) < 0)
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
		ConfigurationProperty found = found(property);
		Origin origin = (found != null) ? found.getOrigin() : null;
		return (origin != null) ? " (" + origin + ")" : "";
	}

	/**
	 * Returns what counts of all that the sources say of a property. Elements of a list
	 * count instead of what the sources after theirs say of the whole.
	 */
	private @Nullable ConfigurationProperty found(Property property) {
		ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property.name(), '.');
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty found = source.getConfigurationProperty(name);
			if (found != null
					|| (property.isList() && source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT)) {
				return found;
			}
		}
		return null;
	}

}
