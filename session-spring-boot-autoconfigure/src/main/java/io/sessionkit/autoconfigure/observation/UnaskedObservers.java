package io.sessionkit.autoconfigure.observation;

import java.util.List;

import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.door.BeanParts;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.observation.CallObserver;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Warns of conversations of the application that do not have the observers: the meters
 * are there, and their calls are in none of them, so an alert would stay silent.
 */
final class UnaskedObservers extends AtStart {

	private static final Log logger = LogFactory.getLog(UnaskedObservers.class);

	/** The conversations of the auto-configuration, which have all observers. */
	private static final String OURS = "sessionKitConversations";

	private final ListableBeanFactory beans;

	/** The observers, without those that are not injected. */
	private final ObjectProvider<CallObserver> observers;

	UnaskedObservers(ListableBeanFactory beans, ObjectProvider<CallObserver> observers) {
		this.beans = beans;
		this.observers = observers;
	}

	@Override
	protected void run() {
		for (String name : names(Conversations.class)) {
			List<String> unasked = name.equals(OURS) ? List.of()
					: unasked(this.beans.getBean(name, Conversations.class));
			if (!unasked.isEmpty()) {
				logger.warn("The Conversations bean '" + name + "' does not have the CallObserver beans " + unasked
						+ ", so they see none of its calls: meters do not count them. Build it with"
						+ " Conversations.builder(..).observers(observers.orderedStream().toList()), where observers is an"
						+ " ObjectProvider<CallObserver>.");
			}
		}
	}

	private List<String> unasked(Conversations conversations) {
		List<CallObserver> missing = this.observers.stream().filter((each) -> !has(conversations, each)).toList();
		return names(CallObserver.class).stream().filter((name) -> missing.contains(this.beans.getBean(name))).toList();
	}

	private static boolean has(Conversations conversations, CallObserver observer) {
		return InnerParts.find(conversations, BeanParts.class).filter((parts) -> parts.has(observer)).isPresent();
	}

	private List<String> names(Class<?> type) {
		return List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, type, true, false));
	}

}
