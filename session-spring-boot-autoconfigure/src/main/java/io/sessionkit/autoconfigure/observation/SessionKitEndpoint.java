package io.sessionkit.autoconfigure.observation;

import io.sessionkit.access.SessionAccess;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.SessionStore;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;

/**
 * The same endpoint under the name {@code sessionkit}, for an application in which
 * {@code sessions} are those of Spring Session.
 */
@Endpoint(id = "sessionkit", defaultAccess = Access.READ_ONLY)
final class SessionKitEndpoint extends SessionsEndpoint {

	SessionKitEndpoint(SessionStore store, Approvals approvals, SessionAccess access, boolean showTexts) {
		super(store, approvals, access, showTexts);
	}

}
