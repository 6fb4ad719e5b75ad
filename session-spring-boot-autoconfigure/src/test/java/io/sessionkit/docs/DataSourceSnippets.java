package io.sessionkit.docs;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.store.SessionKitDataSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/**
 * The code of {@code docs/configuration.md}.
 */
public final class DataSourceSnippets {

	private DataSourceSnippets() {
	}

	// tag::marked
	@Configuration(proxyBeanMethods = false)
	static class DataSources {

		@Bean
		@Primary
		@ConfigurationProperties("app.orders")
		DataSource orders() {
			return DataSourceBuilder.create().build();
		}

		@Bean(defaultCandidate = false)
		@SessionKitDataSource
		@ConfigurationProperties("app.sessions")
		DataSource sessions() {
			return DataSourceBuilder.create().build();
		}

	}
	// end::marked

	@Configuration(proxyBeanMethods = false)
	static class SessionTransactions {

		// tag::manager
		@Bean(defaultCandidate = false)
		DataSourceTransactionManager sessionTransactions(@Qualifier("sessions") DataSource sessions) {
			return new DataSourceTransactionManager(sessions);
		}
		// end::manager

	}

	// tag::beside-r2dbc
	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(DataSourceProperties.class)
	public static class BesideR2dbc {

		@Bean
		DataSource dataSource(DataSourceProperties properties) {
			return properties.initializeDataSourceBuilder().build();
		}

	}
	// end::beside-r2dbc

}
