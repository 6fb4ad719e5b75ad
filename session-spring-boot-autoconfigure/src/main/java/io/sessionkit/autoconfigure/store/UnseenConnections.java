package io.sessionkit.autoconfigure.store;

import java.util.List;

import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.internal.AtStart;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Refuses an application whose sessions would be kept in memory, without being asked for
 * that, although it has a database or Redis, or says where they are.
 */
final class UnseenConnections extends AtStart {

	private final ConfigurableListableBeanFactory beans;

	private final StoreProperties properties;

	private final Environment environment;

	UnseenConnections(ConfigurableListableBeanFactory beans, StoreProperties properties, Environment environment) {
		this.beans = beans;
		this.properties = properties;
		this.environment = environment;
	}

	@Override
	protected void run() {
		if (this.properties.type() == null) {
			StoreChoice choice = StoreChoice.anew(this.beans);
			choice.refuseUnseen();
			choice.refuseUnconnected(this::isWritten);
		}
	}

	private boolean isWritten(String property) {
		return Binder.get(this.environment)
			.bind(property, Bindable.listOf(String.class))
			.orElse(List.of())
			.stream()
			.anyMatch((value) -> !value.isBlank());
	}

}
