package io.sessionkit.autoconfigure.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.autoconfigure.ApprovalProperties;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.KnownProperties.Property;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.PropertySourceInfo;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.StringUtils;

/**
 * Finds names that begin like those of SessionKit but are not the name of a property:
 * such a setting would silently have no effect. Values of such names may be secrets of
 * another product, so they are never shown.
 */
final class UnknownNames {

	private static final String VARIABLE_PREFIX = SessionKitProperties.PREFIX + "_";

	/**
	 * The variables that Kubernetes sets for each service of a namespace, whatever the
	 * name of the service, which is the first group.
	 */
	private static final Pattern SERVICE_LINK = Pattern
		.compile("(.*?)_(SERVICE_HOST|SERVICE_PORT(_\\w+)?|PORT(_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)");

	private final List<String> ignored;

	private final List<Unknown> refused = new ArrayList<>();

	private final Set<String> foreign = new TreeSet<>();

	/** What the variables that count begin with, with an underscore; often empty. */
	private String environmentPrefix = "";

	/**
	 * An unknown name as it is written, its place, and the text that says what to write
	 * instead.
	 */
	private record Unknown(String name, String place, String cure) {
	}

	private UnknownNames(ConfigurableEnvironment environment) {
		this.ignored = Binder.get(environment)
			.bind(SessionKitProperties.IGNORED_NAMES, Bindable.listOf(String.class))
			.orElse(List.of());
	}

	/**
	 * Refuses unknown names in all property sources that can list their names.
	 * @return the unknown names that probably belong to another product, with their
	 * places
	 * @throws ConfigurationRefusedException if there are other unknown names
	 */
	static Set<String> refuse(ConfigurableEnvironment environment) {
		UnknownNames names = new UnknownNames(environment);
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> listing
					&& !ConfigurationPropertySources.isAttachedConfigurationPropertySource(source)) {
				environmentPrefixes(listing).forEach((prefix) -> names.check(listing, prefix));
			}
		}
		names.report();
		return names.foreign;
	}

	/** Spring Boot takes a variable without the dashes of a name, or with underscores. */
	private static Set<String> environmentPrefixes(PropertySource<?> source) {
		String prefix = (source instanceof PropertySourceInfo info) ? info.getPrefix() : null;
		if (!StringUtils.hasLength(prefix)) {
			return Set.of("");
		}
		String variable = prefix.replace('.', '_').toUpperCase(Locale.ROOT) + "_";
		return new LinkedHashSet<>(List.of(variable.replace("-", ""), variable.replace('-', '_')));
	}

	private void check(EnumerablePropertySource<?> source, String prefix) {
		this.environmentPrefix = prefix;
		check(prefix.isEmpty() ? source : withoutPrefix(source));
	}

	/**
	 * Returns the variables of an application that has a prefix for its environment
	 * ({@code SpringApplication.setEnvironmentPrefix}), without it. Those that have none
	 * may be another application's.
	 */
	private EnumerablePropertySource<?> withoutPrefix(EnumerablePropertySource<?> source) {
		Map<String, Object> variables = new LinkedHashMap<>();
		for (String name : source.getPropertyNames()) {
			if (startsWith(name, this.environmentPrefix)) {
				variables.put(name.substring(this.environmentPrefix.length()),
						Objects.toString(source.getProperty(name), ""));
			}
			else if (startsWith(name, VARIABLE_PREFIX) && !isIgnored(name)) {
				this.foreign.add(name + " (" + place(name, source) + ")");
			}
		}
		return new SystemEnvironmentPropertySource(source.getName(), variables);
	}

	private void check(EnumerablePropertySource<?> source) {
		for (String name : source.getPropertyNames()) {
			if (isIgnored(this.environmentPrefix + name)) {
				continue;
			}
			if (startsWith(name, VARIABLE_PREFIX)) {
				checkVariable(name, source);
			}
			else {
				checkName(name, source);
			}
		}
	}

	private boolean isIgnored(String name) {
		return this.ignored.stream().anyMatch(name::equalsIgnoreCase);
	}

	private static boolean startsWith(String name, String prefix) {
		return name.regionMatches(true, 0, prefix, 0, prefix.length());
	}

	private void checkName(String written, EnumerablePropertySource<?> source) {
		ConfigurationPropertyName name = ConfigurationPropertyName.adapt(written, '.');
		ConfigurationPropertyName prefix = ConfigurationPropertyName.of(SessionKitProperties.PREFIX);
		if (!prefix.equals(name) && !prefix.isAncestorOf(name)) {
			(isOfProcess(source) ? Spelling.sameLetters(written) : Spelling.withAnotherPrefix(written))
				.ifPresent((property) -> refuse(written, source, write(property.name())));
		}
		else if (prefix.equals(name) && isOfProcess(source)) {
			addForeign(written, source);
		}
		else if (KnownProperties.ALL.isGroup(name)) {
			refuseGroup(written, name, source);
		}
		else if (!KnownProperties.ALL.contains(name)) {
			refuseUnlessForeign(written, source,
					(isOfProcess(source) ? Spelling.misspelt(written) : Spelling.nearest(written)).map(Property::name));
		}
	}

	/**
	 * Refuses a value of a group unless it is blank: a YAML key whose entries are all
	 * commented out has an empty value.
	 */
	private void refuseGroup(String written, ConfigurationPropertyName group, EnumerablePropertySource<?> source) {
		if (!Objects.toString(source.getProperty(written), "").isBlank()) {
			refuse(written, source, "It has no value of its own. Write one of " + KnownProperties.ALL.in(group) + ".");
		}
	}

	private void checkVariable(String written, EnumerablePropertySource<?> source) {
		Optional<ConfigurationPropertyName> group = KnownProperties.ALL.groupOfVariable(written);
		if (!(source instanceof SystemEnvironmentPropertySource)) {
			refuse(written, source, cure(Spelling.nearest(written).map(Property::name)));
		}
		else if (group.isPresent()) {
			refuseGroup(written, group.get(), source);
		}
		else if (!KnownProperties.ALL.containsVariable(written)) {
			Matcher link = SERVICE_LINK.matcher(written.toUpperCase(Locale.ROOT));
			if (!link.matches()) {
				refuseUnlessForeign(written, source,
						Spelling.misspelt(written).map((property) -> variable(property.name())));
			}
			else if (isInGroup(written) && !source.containsProperty(link.group(1) + "_SERVICE_HOST")) {
				addForeign(written, source);
			}
		}
	}

	private void addForeign(String name, PropertySource<?> source) {
		this.foreign.add(this.environmentPrefix + name + " (" + place(name, source) + ")");
	}

	/**
	 * Refuses a name, or only logs it: environment variables and system properties of the
	 * same prefix may serve other purposes, so one that resembles none of ours is only
	 * logged.
	 */
	private void refuseUnlessForeign(String name, EnumerablePropertySource<?> source, Optional<String> nearest) {
		if (isOfProcess(source) && nearest.isEmpty() && !isInGroup(name)) {
			addForeign(name, source);
		}
		else {
			refuse(name, source, cure(nearest));
		}
	}

	private static boolean isOfProcess(EnumerablePropertySource<?> source) {
		return source instanceof SystemEnvironmentPropertySource
				|| source.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
	}

	private static boolean isInGroup(String name) {
		String rest = name.substring(VARIABLE_PREFIX.length());
		return KnownProperties.ALL.groups()
			.stream()
			.anyMatch((group) -> startsWith(rest, group + "_") || startsWith(rest, group + "."));
	}

	private String variable(String property) {
		return this.environmentPrefix + property.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
	}

	private static String cure(Optional<String> nearest) {
		return nearest.map(UnknownNames::write).orElse("No property has a similar name.");
	}

	private static String write(String name) {
		String form = name.equals(ApprovalProperties.DECIDERS)
				? " as a list of tool=AUTHORITY, such as cancel_order=ROLE_LEAD" : "";
		return "Write '" + name + "'" + form + ".";
	}

	private void refuse(String name, PropertySource<?> source, String cure) {
		this.refused.add(new Unknown(this.environmentPrefix + name, place(name, source), cure));
	}

	private static String place(String name, PropertySource<?> source) {
		Origin origin = OriginLookup.getOrigin(source, name);
		return (origin != null) ? origin.toString() : "property source \"" + source.getName() + "\"";
	}

	private void report() {
		if (this.refused.isEmpty()) {
			return;
		}
		StringBuilder description = new StringBuilder();
		StringBuilder action = new StringBuilder();
		for (Unknown unknown : this.refused) {
			description.append("The property '")
				.append(unknown.name())
				.append("' is not a SessionKit property (")
				.append(unknown.place())
				.append(").\n");
			action.append("'").append(unknown.name()).append("': ").append(unknown.cure()).append("\n");
		}
		action.append("All properties are in docs/configuration.md. Name what belongs to something else in '")
			.append(SessionKitProperties.IGNORED_NAMES)
			.append("'.");
		throw new ConfigurationRefusedException(description.toString().strip(), action.toString());
	}

}
