package io.sessionkit.internal.call;

import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;

/**
 * Opens the turn of a call, and stores it. A call without such an advisor has no session.
 */
public interface TurnAdvisor extends CallAdvisor, StreamAdvisor {

}
