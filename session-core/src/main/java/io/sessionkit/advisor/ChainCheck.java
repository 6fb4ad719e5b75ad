package io.sessionkit.advisor;

import java.util.List;

import io.sessionkit.internal.call.SessionParameters;

import org.springframework.ai.chat.client.ChatClientAttributes;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.MemoryAdvisor;
import org.springframework.ai.chat.client.advisor.api.ToolAdvisor;

/**
 * Refuses a call if the order of its advisors could cause a turn to be stored wrongly or
 * a tool to run unseen.
 */
final class ChainCheck {

	private ChainCheck() {
	}

	/**
	 * Checks the advisors of a call that names a session.
	 * @param advisors all advisors, outermost first
	 * @param turnAdvisor SessionKit's advisor outside the tool loop
	 * @param request the call
	 * @throws IllegalStateException if the advisors do not fit together; the message
	 * names them and says what to do
	 */
	static void check(List<? extends Advisor> advisors, Advisor turnAdvisor, ChatClientRequest request) {
		int round = index(advisors, SessionRoundAdvisor.class);
		int model = index(advisors, SessionModelAdvisor.class);
		checkOtherHistory(advisors, turnAdvisor);
		checkOnlyOne(advisors, turnAdvisor);
		checkRegistered(round, model);
		checkToolsInside(advisors, turnAdvisor, request);
		checkToolsOutside(advisors, round);
	}

	private static void checkOtherHistory(List<? extends Advisor> advisors, Advisor turnAdvisor) {
		Advisor foreign = ForeignSessions.find(advisors);
		if (foreign != null) {
			throw new IllegalStateException(ForeignSessions.refusal(foreign, describe(foreign), describe(turnAdvisor)));
		}
		int memory = index(advisors, MemoryAdvisor.class);
		if (memory >= 0) {
			throw new IllegalStateException(
					"A call that names a session must not have another memory: " + describe(advisors.get(memory))
							+ " and " + describe(turnAdvisor) + " would both add history. Remove one of them.");
		}
	}

	/** The same one may be there twice, and acts once. */
	private static void checkOnlyOne(List<? extends Advisor> advisors, Advisor turnAdvisor) {
		for (Advisor advisor : advisors) {
			if (advisor instanceof SessionTurnAdvisor && advisor != turnAdvisor) {
				throw new IllegalStateException("A call that names a session must not have two SessionAdvisors: of "
						+ describe(turnAdvisor) + " and another " + describe(advisor) + " one would act, without the"
						+ " hooks, limits and rules of the other. Keep one. A client with other settings is built from"
						+ " ChatClient.builder(model), not from a builder or client that has the SessionAdvisor bean, as the"
						+ " builder that Spring Boot injects has unless sessionkit.auto-register is false.");
			}
		}
	}

	private static void checkRegistered(int round, int model) {
		if (round < 0 || model < 0) {
			throw new IllegalStateException("The advisor " + ((round < 0) ? "inside the tool loop" : "before the model")
					+ " is missing. Register all three by passing the SessionAdvisor itself:"
					+ " .advisors(sessionAdvisor) or .defaultAdvisors(sessionAdvisor).");
		}
	}

	/**
	 * Checks that the tool advisor, if there has to be one, is inside of the session.
	 */
	private static void checkToolsInside(List<? extends Advisor> advisors, Advisor turnAdvisor,
			ChatClientRequest request) {
		int tool = index(advisors, ToolAdvisor.class);
		if (tool >= 0 && tool < advisors.indexOf(turnAdvisor)) {
			throw new IllegalStateException(outside(describe(advisors.get(tool))));
		}
		if (tool < 0 && (isToolAdvisorExpected(request) || new SessionCall(request).isForeignToolRound())) {
			throw new IllegalStateException(outside("the tool advisor"));
		}
	}

	/**
	 * Checks that the tool advisor is outside of the advisor that sees its tool calls.
	 */
	private static void checkToolsOutside(List<? extends Advisor> advisors, int round) {
		int tool = index(advisors, ToolAdvisor.class);
		if (tool > round) {
			throw new IllegalStateException(
					"The tool advisor " + describe(advisors.get(tool)) + " must have a lower order than "
							+ describe(advisors.get(round)) + ", or its tool calls would not be seen. Set"
							+ " spring.ai.chat.client.tool-calling.advisor-order, or the order of your own, between "
							+ (SessionParameters.TURN_ORDER + 1) + " and " + (SessionParameters.ROUND_ORDER - 1) + ".");
		}
	}

	/**
	 * Returns whether the call should have a tool advisor. The client adds one to each
	 * call unless this is switched off, so one that is not in the rest of the chain
	 * stands outside ours.
	 */
	private static boolean isToolAdvisorExpected(ChatClientRequest request) {
		Object autoRegister = request.context().get(ChatClientAttributes.TOOL_CALLING_ADVISOR_AUTO_REGISTER.getKey());
		return !Boolean.FALSE.equals(autoRegister);
	}

	private static String outside(String toolAdvisor) {
		return "A session needs " + toolAdvisor + " inside of it, but its order is lower than "
				+ SessionParameters.TURN_ORDER + ": each tool round would be stored as a turn of its own. Set"
				+ " spring.ai.chat.client.tool-calling.advisor-order, or the order of your own, between "
				+ (SessionParameters.TURN_ORDER + 1) + " and " + (SessionParameters.ROUND_ORDER - 1) + ".";
	}

	private static int index(List<? extends Advisor> advisors, Class<?> type) {
		for (int i = 0; i < advisors.size(); i++) {
			if (type.isInstance(advisors.get(i))) {
				return i;
			}
		}
		return -1;
	}

	private static String describe(Advisor advisor) {
		return advisor.getName() + " (order " + advisor.getOrder() + ")";
	}

}
