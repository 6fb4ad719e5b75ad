package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.ContinuationProperties;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.stream.TurnContinuation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Finds the bean that supplies the calls by which turns continue.
 */
final class SoleContinuation {

	private static final Log logger = LogFactory.getLog(SoleContinuation.class);

	private SoleContinuation() {
	}

	/**
	 * Returns the bean.
	 * @throws ConfigurationRefusedException if there is none, or more than one
	 */
	static TurnContinuation of(ListableBeanFactory beans) {
		TurnContinuation continuation = beans.getBeanProvider(TurnContinuation.class).getIfUnique();
		if (continuation != null) {
			return continuation;
		}
		String[] names = beans.getBeanNamesForType(TurnContinuation.class);
		if (names.length == 0) {
			throw ConfigurationRefusedException.of(ContinuationProperties.ENABLED, true,
					"There is no TurnContinuation bean that supplies the calls. Add one, such as"
							+ " (turn) -> chat.prompt().tools(tools); or set '" + ContinuationProperties.RUN
							+ "' to false in a process that only decides.");
		}
		throw ConfigurationRefusedException.of(ContinuationProperties.ENABLED, true,
				"There is more than one TurnContinuation bean: " + String.join(", ", names)
						+ ". Keep one, which chooses the client by turn.calls(), or make it @Primary.");
	}

	/**
	 * Warns of a bean that nothing calls.
	 */
	static final class Check extends AtStart {

		private final ListableBeanFactory beans;

		private final ContinuationProperties properties;

		Check(ListableBeanFactory beans, ContinuationProperties properties) {
			this.beans = beans;
			this.properties = properties;
		}

		@Override
		protected void run() {
			boolean isUsed = this.properties.enabled() && this.properties.run();
			String[] names = isUsed ? new String[0]
					: this.beans.getBeanNamesForType(TurnContinuation.class, true, false);
			if (names.length > 0) {
				logger
					.warn("The TurnContinuation " + names[0] + " is not called, so decided turns wait for a call. Set '"
							+ (this.properties.enabled() ? ContinuationProperties.RUN : ContinuationProperties.ENABLED)
							+ "' to true, or remove the bean.");
			}
		}

	}

}
