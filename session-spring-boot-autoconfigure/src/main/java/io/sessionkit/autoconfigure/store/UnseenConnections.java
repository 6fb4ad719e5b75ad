package io.sessionkit.autoconfigure.store;

import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.check.AtStart;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Refuses an application whose sessions would be kept in memory, without being asked for
 * that, although it has a database or Redis.
 */
final class UnseenConnections extends AtStart {

	private final ConfigurableListableBeanFactory beans;

	private final StoreProperties properties;

	UnseenConnections(ConfigurableListableBeanFactory beans, StoreProperties properties) {
		this.beans = beans;
		this.properties = properties;
	}

	@Override
	protected void run() {
		if (this.properties.type() == null) {
			StoreChoice.anew(this.beans).refuseUnseen();
		}
	}

}
