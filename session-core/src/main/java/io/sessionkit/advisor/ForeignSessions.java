package io.sessionkit.advisor;

import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.advisor.api.Advisor;

/**
 * Knows the session advisors of Spring AI 2.1 and of the community's Spring AI Session by
 * the names of their classes, since neither library has to be there. Whether they are
 * {@code MemoryAdvisor}s is for those libraries to decide.
 */
final class ForeignSessions {

	private static final Set<String> ADVISORS = Set.of("SessionMemoryAdvisor", "SessionTurnAdvisor");

	/** Neither library has promised where its advisors are. */
	private static final List<String> PACKAGES = List.of("org.springframework.ai.", "org.springaicommunity.");

	private ForeignSessions() {
	}

	/**
	 * The first session advisor of another library.
	 * @return null if there is none
	 */
	static @Nullable Advisor find(List<? extends Advisor> advisors) {
		return advisors.stream().filter(ForeignSessions::isForeign).findFirst().orElse(null);
	}

	/**
	 * What a call is refused with.
	 * @param foreign the advisor of the other library
	 * @param described its name and order
	 * @param ours name and order of ours
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
