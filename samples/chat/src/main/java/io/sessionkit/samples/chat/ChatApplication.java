package io.sessionkit.samples.chat;

import java.time.Clock;
import java.time.ZoneId;
import java.util.random.RandomGenerator;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/**
 * Starts the chat.
 */
@SpringBootApplication(proxyBeanMethods = false)
public class ChatApplication {

	public static void main(String[] args) {
		SpringApplication.run(ChatApplication.class, args);
	}

	@Bean
	ChatTools chatTools() {
		return new ChatTools(Clock.system(ZoneId.systemDefault()), RandomGenerator.getDefault());
	}

	@Bean
	OrderTools orderTools() {
		return new OrderTools();
	}

}
