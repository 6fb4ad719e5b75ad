package io.sessionkit.autoconfigure.store;

import java.time.Clock;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.ConditionalOnSwitch;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.MessageTokens;
import io.sessionkit.store.StoreOptions;

import org.springframework.ai.tokenizer.TokenCountEstimator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * {@link AutoConfiguration Auto-configuration} of the codec of stored messages, and of
 * the options that every store is built with.
 */
@AutoConfiguration
@ConditionalOnSwitch(SessionKitProperties.ENABLED)
@EnableConfigurationProperties(SessionKitProperties.class)
public final class MessageCodecAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(MessageCodec.class)
	JsonMessageCodec sessionKitMessageCodec(SessionKitProperties properties) {
		JsonMessageCodec codec = JsonMessageCodec.create();
		return properties.codec().strict() ? codec.strict() : codec;
	}

	/**
	 * Creates the options for SessionKit's own stores and for the stores of an
	 * application.
	 * @param sessionKitClocks the clocks, under a name that no bean has: Spring would
	 * take one of that name from among several
	 */
	@Bean
	@ConditionalOnMissingBean
	StoreOptions sessionKitStoreOptions(MessageCodec codec, ObjectProvider<Clock> sessionKitClocks,
			ObjectProvider<TokenCountEstimator> estimator, SessionKitProperties properties) {
		StoreOptions options = StoreOptions.of(codec)
			.clock(sessionKitClocks.getIfAvailable(Clock::systemUTC))
			.timeToLive(properties.timeToLive())
			.viewCache(properties.store().viewCache());
		TokenCountEstimator counts = estimator.getIfAvailable();
		return options.tokens((counts != null) ? new MessageTokens(counts) : properties.tokenEstimate().tokens());
	}

}
