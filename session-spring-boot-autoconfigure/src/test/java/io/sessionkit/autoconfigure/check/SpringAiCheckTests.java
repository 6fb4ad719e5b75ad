package io.sessionkit.autoconfigure.check;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.jar.Attributes.Name;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.tool.ToolGuardAutoConfiguration;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.content.Media;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Opcodes;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class SpringAiCheckTests {

	@TempDir
	private Path directory;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class,
				MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
				SessionAdvisorAutoConfiguration.class, ToolGuardAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(strings = { "2.1.0", "2.1.0-M1", "2.1.0-SNAPSHOT", "2.1", "2.2.3", "2.10.0", "3.0.0", "10.0.0" })
	void newerSpringAiIsRefusedWithItsVersion(String version) throws IOException {
		try (URLClassLoader loader = loader(Message.class, "spring-ai-model", version)) {
			FailureAnalysis analysis = StartFailure.analysis(this.runner.withClassLoader(loader));
			assertThat(analysis.getDescription()).contains("spring-ai-model " + version)
				.contains("does not support Spring AI 2.1 or newer")
				.contains("parts");
			assertThat(analysis.getAction()).contains("spring-ai-bom to 2.0.1")
				.contains("'sessionkit.enabled' to false");
		}
	}

	@Test
	void oneNewerArtifactIsEnough() throws IOException {
		for (Map.Entry<String, Class<?>> artifact : Map
			.<String, Class<?>>of("spring-ai-client-chat", ChatClient.class, "spring-ai-commons", Media.class)
			.entrySet()) {
			try (URLClassLoader loader = loader(artifact.getValue(), artifact.getKey(), "2.1.0")) {
				assertThat(StartFailure.analysis(this.runner.withClassLoader(loader)).getDescription())
					.contains(artifact.getKey() + " 2.1.0");
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "spring-ai-model, 2.0.1", "spring-ai-model, 2.0.3", "spring-ai-model, 2.0.10-SNAPSHOT",
			"spring-ai-model, 2.0", "spring-ai-model, local", "shop, 3.2.0" })
	void supportedAndUnknownVersionsStart(String title, String version) throws IOException {
		try (URLClassLoader loader = loader(Message.class, title, version)) {
			this.runner.withClassLoader(loader)
				.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(SessionStore.class));
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { Message.class, AbstractMessage.class })
	void newerSpringAiWithoutAVersionIsKnownByItsParts(Class<?> message) throws IOException {
		String part = "org.springframework.ai.chat.messages.MessagePart";
		try (URLClassLoader loader = loader(
				Map.of(part, type(part, null), message.getName(), type(message.getName(), part)), null, null)) {
			assertThat(StartFailure.analysis(this.runner.withClassLoader(loader)).getDescription())
				.contains("does not name its version")
				.contains("message parts");
		}
	}

	@Test
	void newerSpringAiStartsWhereSessionKitIsSwitchedOff() throws IOException {
		try (URLClassLoader loader = loader(Message.class, "spring-ai-model", "2.1.0")) {
			this.runner.withClassLoader(loader)
				.withPropertyValues("sessionkit.enabled=false")
				.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(SessionStore.class));
		}
	}

	/** An application that was processed ahead of time has no conditions. */
	@Test
	void newerSpringAiIsRefusedWithoutConditions() throws IOException {
		try (URLClassLoader loader = loader(Message.class, "spring-ai-model", "2.1.0")) {
			DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
			beans.setBeanClassLoader(loader);
			MockEnvironment environment = new MockEnvironment();
			assertThatExceptionOfType(ConfigurationRefusedException.class)
				.isThrownBy(() -> new SpringAiCheck(environment).postProcessBeanFactory(beans))
				.withMessageContaining("2.1.0");
			environment.setProperty("sessionkit.enabled", "off");
			assertThatNoException().isThrownBy(() -> new SpringAiCheck(environment).postProcessBeanFactory(beans));
		}
		this.runner.run((context) -> assertThat(context).hasSingleBean(SpringAiCheck.class));
	}

	private URLClassLoader loader(Class<?> type, String title, String version) throws IOException {
		try (InputStream file = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
			return loader(Map.of(type.getName(), Objects.requireNonNull(file).readAllBytes()), title, version);
		}
	}

	private URLClassLoader loader(Map<String, byte[]> classes, String title, String version) throws IOException {
		Manifest manifest = new Manifest();
		manifest.getMainAttributes().put(Name.MANIFEST_VERSION, "1.0");
		if (version != null) {
			manifest.getMainAttributes().put(Name.IMPLEMENTATION_TITLE, title);
			manifest.getMainAttributes().put(Name.IMPLEMENTATION_VERSION, version);
		}
		Path jar = Files.createTempFile(this.directory, "spring-ai", ".jar");
		try (OutputStream file = Files.newOutputStream(jar);
				JarOutputStream entries = new JarOutputStream(file, manifest)) {
			for (Map.Entry<String, byte[]> each : classes.entrySet()) {
				entries.putNextEntry(new JarEntry(ClassUtils.convertClassNameToResourcePath(each.getKey()) + ".class"));
				entries.write(each.getValue());
			}
		}
		return new ChildFirst(jar, classes.keySet());
	}

	/** An interface with a method that returns a list of the other type. */
	private static byte[] type(String name, String part) {
		ClassWriter type = new ClassWriter(0);
		type.visit(Opcodes.V17, Opcodes.ACC_PUBLIC | Opcodes.ACC_INTERFACE | Opcodes.ACC_ABSTRACT, internal(name), null,
				"java/lang/Object", null);
		if (part != null) {
			type.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, "parts", "()Ljava/util/List;",
					"()Ljava/util/List<L" + internal(part) + ";>;", null)
				.visitEnd();
		}
		type.visitEnd();
		return type.toByteArray();
	}

	private static String internal(String name) {
		return name.replace('.', '/');
	}

	/**
	 * Finds the named classes in the jar, and all others where the test has them.
	 */
	private static final class ChildFirst extends URLClassLoader {

		private final Set<String> own;

		ChildFirst(Path jar, Set<String> own) throws MalformedURLException {
			super(new URL[] { jar.toUri().toURL() }, SpringAiCheckTests.class.getClassLoader());
			this.own = new HashSet<>(own);
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			synchronized (getClassLoadingLock(name)) {
				if (!this.own.contains(name)) {
					return super.loadClass(name, resolve);
				}
				Class<?> loaded = findLoadedClass(name);
				return (loaded != null) ? loaded : findClass(name);
			}
		}

	}

}
