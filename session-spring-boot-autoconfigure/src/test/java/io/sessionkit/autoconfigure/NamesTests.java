package io.sessionkit.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Names that an application, Spring AI and other libraries share with us begin as ours
 * do.
 */
class NamesTests {

	private static final List<Class<?>> AUTO_CONFIGURATIONS = ImportCandidates.load(AutoConfiguration.class, null)
		.getCandidates()
		.stream()
		.filter((name) -> name.startsWith("io.sessionkit."))
		.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, null))
		.toList();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AUTO_CONFIGURATIONS.toArray(Class<?>[]::new)));

	@Test
	void allBeanMethodsAreNamedAfterSessionKit() {
		Map<String, String> beans = new TreeMap<>();
		AUTO_CONFIGURATIONS.stream()
			.flatMap(NamesTests::withAllOfIt)
			.flatMap((type) -> Arrays.stream(type.getDeclaredMethods()))
			.filter((method) -> method.isAnnotationPresent(Bean.class))
			.forEach((method) -> {
				String[] names = AnnotatedElementUtils.getMergedAnnotation(method, Bean.class).name();
				List.of((names.length > 0) ? names : new String[] { method.getName() })
					.forEach((name) -> beans.put(name, method.toString()));
			});
		assertThat(beans).hasSizeGreaterThan(40)
			.allSatisfy((name, method) -> assertThat(name).as(method).startsWith("sessionKit"));
	}

	/** The configurations in it and those that it imports too. */
	private static Stream<Class<?>> withAllOfIt(Class<?> type) {
		Import imported = type.getAnnotation(Import.class);
		Stream<Class<?>> parts = Stream.concat(Arrays.stream(type.getDeclaredClasses()),
				(imported != null) ? Arrays.stream(imported.value()) : Stream.empty());
		return Stream.concat(Stream.of(type), parts.flatMap(NamesTests::withAllOfIt));
	}

	@Test
	void allBeansOfAnApplicationAreNamedAfterSessionKit() {
		this.runner.withPropertyValues("sessionkit.store.type=memory").run((context) -> {
			ConfigurableListableBeanFactory beans = context.getBeanFactory();
			assertThat(beans.getBeanDefinitionNames()).filteredOn((name) -> {
				Class<?> type = beans.getType(name);
				return type != null && type.getName().startsWith("io.sessionkit.");
			})
				.hasSizeGreaterThan(10)
				// configurations and properties are named by their class
				.allMatch((name) -> name.startsWith("sessionKit") || name.contains("io.sessionkit."));
		});
	}

	@Test
	void applicationMayHaveBeansOfPlainNames() {
		ApplicationContextRunner named = this.runner;
		for (String name : List.of("conversations", "approvals", "sessionStore", "sessionAdvisor", "sessionContext",
				"sessionPurge", "sessionService", "sessionRepository", "sessionStoreOptions", "sessionMessageCodec",
				"sessionAdvisorCustomizer", "sessionSchemaInitializer")) {
			named = named.withBean(name, StringBuilder.class, () -> new StringBuilder(name));
		}
		for (String store : List.of("memory", "jdbc")) {
			named
				.withBean("dataSource", DataSource.class,
						() -> new DriverManagerDataSource("jdbc:h2:mem:names;DB_CLOSE_DELAY=-1"))
				.withPropertyValues("sessionkit.store.type=" + store, "sessionkit.store.jdbc.initialize-schema=always")
				.run((context) -> assertThat(context).hasNotFailed()
					.hasSingleBean(SessionStore.class)
					.hasSingleBean(Conversations.class)
					.hasSingleBean(Approvals.class)
					.hasSingleBean(SessionAdvisor.class));
		}
	}

	@Test
	void allAdvisorsAreNamedAfterSessionKit() {
		this.runner.run((context) -> {
			Chain chain = new Chain();
			ChatModel model = (prompt) -> new ChatResponse(List.of(new Generation(new AssistantMessage("a"))));
			ChatClient.builder(model)
				.defaultAdvisors(context.getBean(SessionAdvisor.class))
				.defaultAdvisors(chain)
				.build()
				.prompt()
				.user("q")
				.call()
				.content();
			assertThat(chain.advisors)
				.filteredOn((advisor) -> advisor.getClass().getName().startsWith("io.sessionkit."))
				.filteredOn((advisor) -> advisor != chain)
				.extracting(Advisor::getName)
				.containsExactlyInAnyOrder("SessionKitAdvisor", "SessionKitRoundAdvisor", "SessionKitModelAdvisor");
		});
	}

	/**
	 * Looks at the advisors of the call that it is in.
	 */
	private static final class Chain implements CallAdvisor {

		private List<? extends Advisor> advisors = List.of();

		@Override
		public String getName() {
			return "chain";
		}

		@Override
		public int getOrder() {
			return Integer.MIN_VALUE;
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			this.advisors = chain.getCallAdvisors();
			return chain.nextCall(request);
		}

	}

}
