package io.sessionkit.samples.chat;

import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.random.RandomGenerator;

import org.springframework.beans.factory.annotation.Value;
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
	OrderTools orderTools(@Value("${demo.look-up:1500ms}") Duration lookUp) {
		return new OrderTools(lookUp);
	}

	@Bean
	RestoringTools restoringTools(OrderTools orders) {
		return new RestoringTools(orders);
	}

}
