package io.sessionkit.autoconfigure.access;

import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.AtStart;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;

import org.springframework.beans.factory.ObjectProvider;

/**
 * Checks that no bean of the application reaches the sessions of everybody where sessions
 * belong to callers.
 */
final class AccessCheck extends AtStart {

	private final SessionAccess access;

	private final ObjectProvider<Conversations> conversations;

	private final ObjectProvider<SessionStore> stores;

	AccessCheck(SessionAccess access, ObjectProvider<Conversations> conversations,
			ObjectProvider<SessionStore> stores) {
		this.access = access;
		this.conversations = conversations;
		this.stores = stores;
	}

	@Override
	protected void run() {
		if (this.access.isUnlimited()) {
			return;
		}
		if (this.conversations.stream().anyMatch((each) -> each.access().isUnlimited())) {
			throw refused("A Conversations bean", "Build it on the SessionStore bean, or with .access(sessionAccess)");
		}
		if (this.stores.stream().anyMatch((each) -> SessionAccess.around(each).isUnlimited())) {
			throw refused("A SessionStore bean",
					"It was created too early for the check to be put around it: let no post processor depend on it");
		}
	}

	private static ConfigurationRefusedException refused(String what, String action) {
		return new ConfigurationRefusedException(
				what + " reaches the sessions of everybody, and sessions belong to their callers.",
				action + ", or set '" + SessionKitProperties.OWNER + "' to none.");
	}

}
