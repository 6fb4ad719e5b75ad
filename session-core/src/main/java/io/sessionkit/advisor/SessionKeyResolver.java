package io.sessionkit.advisor;

import java.util.Optional;

import io.sessionkit.SessionKey;

import org.springframework.ai.chat.client.ChatClientRequest;

/**
 * Finds the session of a call that does not name one itself, for example from the
 * signed-in user. It is called once for each such call, on the thread that makes the call
 * or, for a stream, on the thread that subscribes. What it returns is not checked: an
 * owner in it need not be the caller. An implementation must be safe for use by many
 * threads.
 */
@FunctionalInterface
public interface SessionKeyResolver {

	/**
	 * Returns the session of a call.
	 * @param request the call
	 * @return its session, or empty for a call without one
	 */
	Optional<SessionKey> resolve(ChatClientRequest request);

}
