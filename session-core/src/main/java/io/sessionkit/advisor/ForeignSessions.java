package io.sessionkit.advisor;

import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.advisor.api.Advisor;

/**
 * Recognizes the session advisors of Spring AI 2.1 and of the community's Spring AI
 * Session by their class names, since neither library has to be on the class path. It
 * does not rely on their being {@code MemoryAdvisor}s, which these libraries may change.
 */
final class ForeignSessions {

	private static final Set<String> ADVISORS = Set.of("SessionMemoryAdvisor", "SessionTurnAdvisor");

	/**
	 * The packages of both libraries. Neither library guarantees the exact package of its
	 * advisors.
	 */
	private static final List<String> PACKAGES = List.of("org.springframework.ai.", "org.springaicommunity.");

	private ForeignSessions() {
	}

	/**
	 * Returns the first session advisor of another library.
	 * @return the advisor; null if there is none
	 */
	static @Nullable Advisor find(List<? extends Advisor> advisors) {
		return advisors.stream().filter(ForeignSessions::isForeign).findFirst().orElse(null);
	}

	/**
	 * Returns the message with which a call is refused.
	 * @param foreign the advisor of the other library
	 * @param described its name and order
	 * @param ours the name and order of SessionKit's advisor
	 */
	static String refusal(Advisor foreign, String described, String ours) {
		return "A call that names a session must not have a session advisor of another library: " + described
				+ " of class " + foreign.getClass().getName() + " and " + ours
				+ " would both add history, and would both store the turn. Remove that advisor from the client, or give"
				+ " the call SessionAdvisor.none(). If the client is to keep it and to have no session of SessionKit, set"
				+ " sessionkit.auto-register=false and add the SessionAdvisor bean only to the clients that need it.";
	}

	private static boolean isForeign(Advisor advisor) {
		for (Class<?> type = advisor.getClass(); type != null; type = type.getSuperclass()) {
			String name = type.getName();
			if (ADVISORS.contains(type.getSimpleName()) && PACKAGES.stream().anyMatch(name::startsWith)) {
				return true;
			}
		}
		return false;
	}

}
