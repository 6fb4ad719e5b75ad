package io.sessionkit.samples.chat;

import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.random.RandomGenerator;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Starts the chat. Spring Security is there with the profile "users" only, see
 * {@link Users}.
 */
@SpringBootApplication(proxyBeanMethods = false,
		exclude = { SecurityAutoConfiguration.class, SecurityFilterAutoConfiguration.class,
				ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
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
