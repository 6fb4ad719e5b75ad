package io.sessionkit.autoconfigure.check;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * Refuses Spring AI 2.1 and newer. Its messages consist of parts, and only some of them
 * can be stored by this version: the others would be lost silently. If SessionKit is
 * disabled nothing is refused, since nothing is stored.
 * <p>
 * A condition runs the check first, before a class is used that may have changed. An
 * application that was processed ahead of time no longer has conditions, so the check is
 * also a bean.
 */
final class SpringAiCheck implements BeanFactoryPostProcessor {

	private static final String MESSAGE = "org.springframework.ai.chat.messages.Message";

	private static final String ABSTRACT_MESSAGE = "org.springframework.ai.chat.messages.AbstractMessage";

	/**
	 * The artifacts whose messages and calls SessionKit uses, each with one of its types.
	 */
	private static final Map<String, String> ARTIFACTS = new TreeMap<>(
			Map.of("spring-ai-model", MESSAGE, "spring-ai-client-chat", "org.springframework.ai.chat.client.ChatClient",
					"spring-ai-commons", "org.springframework.ai.content.Media"));

	private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})(\\D.*)?");

	private final Environment environment;

	SpringAiCheck(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		if (OnSwitchCondition.isOn(this.environment, SessionKitProperties.ENABLED)) {
			run(beans.getBeanClassLoader());
		}
	}

	/**
	 * Checks the classpath.
	 * @throws ConfigurationRefusedException if it has a Spring AI that is not supported
	 */
	static void run(@Nullable ClassLoader loader) {
		ARTIFACTS.forEach((artifact, witness) -> {
			Class<?> type = find(witness, loader);
			String version = (type != null) ? version(type) : null;
			if (version != null && isTooNew(version)) {
				throw refused(artifact + " " + version);
			}
		});
		if (hasParts(find(MESSAGE, loader)) || hasParts(find(ABSTRACT_MESSAGE, loader))) {
			throw refused("a spring-ai-model whose jar does not name its version, with message parts as of 2.1");
		}
	}

	private static ConfigurationRefusedException refused(String found) {
		return new ConfigurationRefusedException(
				"This version of SessionKit does not support Spring AI 2.1 or newer, and the class path has " + found
						+ ". Messages of Spring AI 2.1 consist of parts, and SessionKit would lose some of them when"
						+ " it stores a message, such as the reasoning of a model.",
				"Use Spring AI 2.0.x: set the version of spring-ai-bom to 2.0.1, and check that no other dependency"
						+ " brings a newer one. To start without SessionKit, set '" + SessionKitProperties.ENABLED
						+ "' to false.");
	}

	private static @Nullable Class<?> find(String name, @Nullable ClassLoader loader) {
		try {
			return Class.forName(name, false, loader);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return null;
		}
	}

	/**
	 * Returns the version in the manifest. If the classes were packed into an
	 * application's jar, the manifest may name the version of the application instead, so
	 * the title must be one of Spring AI.
	 */
	private static @Nullable String version(Class<?> type) {
		String title = type.getPackage().getImplementationTitle();
		return (title != null && title.startsWith("spring-ai")) ? type.getPackage().getImplementationVersion() : null;
	}

	private static boolean isTooNew(String version) {
		Matcher matcher = VERSION.matcher(version);
		if (!matcher.matches()) {
			return false;
		}
		int major = Integer.parseInt(matcher.group(1));
		int minor = Integer.parseInt(matcher.group(2));
		return major > 2 || (major == 2 && minor > 0);
	}

	private static boolean hasParts(@Nullable Class<?> message) {
		try {
			return message != null && Arrays.stream(message.getMethods())
				.map(Method::toGenericString)
				.anyMatch((method) -> method.contains(".MessagePart"));
		}
		catch (LinkageError ex) {
			return false;
		}
	}

}
