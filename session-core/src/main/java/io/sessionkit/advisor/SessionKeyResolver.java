package io.sessionkit.advisor;

import java.util.Optional;

import io.sessionkit.SessionKey;

import org.springframework.ai.chat.client.ChatClientRequest;

/**
 * Says which session a call belongs to that does not name one itself, for example from
 * the signed-in user. Asked on the thread that makes the call, in a stream on the one
 * that subscribes, once for each call; safe for use by many threads.
 */
@FunctionalInterface
public interface SessionKeyResolver {

	/**
	 * The session of a call.
	 * @param request the call
	 * @return its session, or empty for a call without one
	 */
	Optional<SessionKey> resolve(ChatClientRequest request);

}
