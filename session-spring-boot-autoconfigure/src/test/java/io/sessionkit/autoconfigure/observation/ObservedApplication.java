package io.sessionkit.autoconfigure.observation;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A web application with Actuator, and a client of its endpoints.
 */
final class ObservedApplication implements AutoCloseable {

	private static final JsonMapper json = JsonMapper.builder().build();

	private final ConfigurableApplicationContext context;

	private final HttpClient http = HttpClient.newHttpClient();

	private ObservedApplication(ConfigurableApplicationContext context) {
		this.context = context;
	}

	static ObservedApplication start(String... more) {
		List<String> arguments = new ArrayList<>(List.of("--server.port=0", "--server.address=127.0.0.1",
				"--spring.datasource.generate-unique-name=true", "--spring.liquibase.enabled=false",
				"--spring.flyway.enabled=false", "--spring.main.banner-mode=off",
				"--management.endpoints.web.exposure.include=*", "--management.endpoint.health.show-details=always",
				"--sessionkit.approval.tools=look"));
		arguments.addAll(List.of(more));
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.SERVLET);
		return new ObservedApplication(application.run(arguments.toArray(String[]::new)));
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	ScriptedChatModel model() {
		return bean(ScriptedChatModel.class);
	}

	@Nullable String ask(SessionKey key, @Nullable String question) {
		ChatClient.ChatClientRequestSpec spec = bean(ChatClient.Builder.class).build()
			.prompt()
			.tools(look())
			.advisors(SessionAdvisor.session(key));
		return ((question != null) ? spec.user(question) : spec).call().content();
	}

	private static ToolCallback look() {
		record Arguments(String at) {
		}
		return FunctionToolCallback.builder("look", (Arguments arguments) -> "found")
			.description("looks")
			.inputType(Arguments.class)
			.build();
	}

	HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest
			.newBuilder(URI.create("http://127.0.0.1:" + this.context.getEnvironment().getProperty("local.server.port")
					+ "/actuator" + path))
			.header("Accept", path.equals("/prometheus") ? "text/plain" : "application/json")
			.method(method, HttpRequest.BodyPublishers.noBody())
			.build();
		return this.http.send(request, HttpResponse.BodyHandlers.ofString());
	}

	JsonNode get(String path) throws IOException, InterruptedException {
		return json.readTree(send("GET", path).body());
	}

	List<String> scrape() throws IOException, InterruptedException {
		return send("GET", "/prometheus").body().lines().filter((line) -> line.startsWith("sessionkit_")).toList();
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataRedisAutoConfiguration.class)
	static class Application {

		@Bean
		ScriptedChatModel model() {
			return new ScriptedChatModel();
		}

		@Bean
		SessionHook hook() {
			return new SessionHook() {
			};
		}

	}

}
