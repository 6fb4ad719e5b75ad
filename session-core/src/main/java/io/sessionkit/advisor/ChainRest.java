package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Function;

import org.springframework.ai.chat.client.advisor.api.Advisor;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisorChain;

/**
 * Copies the rest of a chain. Spring AI uses each advisor of a chain once, so a call
 * would use up the advisor inside the tool loop. With the copy that advisor stays in the
 * original chain, and refuses another use of the same call.
 */
final class ChainRest {

	private ChainRest() {
	}

	/**
	 * Returns a copy of what a chain has behind an advisor. Advisors of equal order stay
	 * in their order, which Spring AI's own copy reverses.
	 * @param advisor an advisor of the chain
	 * @param all all advisors of the chain, the outermost first
	 * @param copy copies what the chain has behind one of them
	 * @throws IllegalStateException if the chain does not have the advisor, because
	 * another one wraps it: what is behind it is then unknown
	 */
	static <A extends Advisor> BaseAdvisorChain behind(A advisor, List<A> all,
			Function<A, ? extends AdvisorChain> copy) {
		int at = all.indexOf(advisor);
		if (at < 0) {
			throw new IllegalStateException("The advisor " + advisor.getName()
					+ " is not in the chain that calls it, so another one wraps it. Register the SessionAdvisor itself:"
					+ " .advisors(sessionAdvisor) or .defaultAdvisors(sessionAdvisor).");
		}
		// nothing is behind the last one, so this copy has the settings of the chain
		// alone
		BaseAdvisorChain settings = (BaseAdvisorChain) copy.apply(all.get(all.size() - 1));
		List<Advisor> rest = new ArrayList<>(new LinkedHashSet<>(all.subList(at + 1, all.size())));
		Collections.reverse(rest);
		return settings.mutate().pushAll(rest).build();
	}

}
