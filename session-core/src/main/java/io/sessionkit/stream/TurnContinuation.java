package io.sessionkit.stream;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;

/**
 * Supplies the call by which a server continues a turn whose tool calls are decided. It
 * is a bean of the application:
 *
 * <pre>{@code
 * &#64;Bean
 * TurnContinuation continuation(ChatClient chat, OrderTools tools) {
 *     return (turn) -> chat.prompt().tools(tools);
 * }
 * }</pre>
 *
 * It is called on threads of {@link TurnContinuations}, by several at once, in the name
 * of the owner of the session.
 */
@FunctionalInterface
public interface TurnContinuation {

	/**
	 * Returns the call that continues a turn: with the tools, options and system text
	 * with which the turn was begun, and without a message and a session, which
	 * SessionKit adds. The client must have the session advisor. If this method throws,
	 * the turn is tried again later.
	 * @param turn the turn
	 * @return the call, not executed yet
	 */
	ChatClientRequestSpec call(DecidedTurn turn);

}
