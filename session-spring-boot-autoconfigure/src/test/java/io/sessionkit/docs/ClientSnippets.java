package io.sessionkit.docs;

import io.micrometer.observation.ObservationRegistry;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientBuilderConfigurer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The code of {@code docs/configuration.md}.
 */
final class ClientSnippets {

	private ClientSnippets() {
	}

	// tag::models
	@Configuration(proxyBeanMethods = false)
	static class Clients {

		@Bean
		ChatClient quick(@Qualifier("openAiChatModel") ChatModel model, ChatClientBuilderConfigurer configurer,
				ObjectProvider<ObservationRegistry> observations, ToolCallingAdvisor.Builder<?> tools) {
			ObservationRegistry registry = observations.getIfUnique(() -> ObservationRegistry.NOOP);
			return configurer.configure(ChatClient.builder(model, registry, null, null, tools)).build();
		}

		@Bean
		ChatClient thorough(@Qualifier("anthropicChatModel") ChatModel model, ChatClientBuilderConfigurer configurer,
				ObjectProvider<ObservationRegistry> observations, ToolCallingAdvisor.Builder<?> tools) {
			ObservationRegistry registry = observations.getIfUnique(() -> ObservationRegistry.NOOP);
			return configurer.configure(ChatClient.builder(model, registry, null, null, tools)).build();
		}

	}
	// end::models

}
