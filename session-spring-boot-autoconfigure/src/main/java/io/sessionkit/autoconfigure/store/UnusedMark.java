package io.sessionkit.autoconfigure.store;

import java.util.List;

import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.internal.AtStart;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Warns of a DataSource that is marked for sessions although the properties name another
 * store: those of a profile may have been meant for another application or machine.
 */
final class UnusedMark extends AtStart {

	private static final Log logger = LogFactory.getLog(UnusedMark.class);

	private final ConfigurableListableBeanFactory beans;

	private final StoreProperties properties;

	UnusedMark(ConfigurableListableBeanFactory beans, StoreProperties properties) {
		this.beans = beans;
		this.properties = properties;
	}

	@Override
	protected void run() {
		StoreType type = this.properties.type();
		if (type == null || type == StoreType.JDBC) {
			return;
		}
		List<String> marked = StoreChoice.anew(this.beans).marked();
		if (!marked.isEmpty()) {
			logger.warn("The DataSource " + marked + " is marked @" + SessionKitDataSource.class.getSimpleName()
					+ ", but '" + StoreProperties.STORE_TYPE + "' is " + type.quoted()
					+ ", so no sessions are kept in it.");
		}
	}

}
