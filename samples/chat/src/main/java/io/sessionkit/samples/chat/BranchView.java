package io.sessionkit.samples.chat;

import io.sessionkit.Session;
import io.sessionkit.conversation.Branch;
import org.jspecify.annotations.Nullable;

/**
 * A branch as the page shows it.
 *
 * @param turns the number of its turns, from the beginning
 * @param active whether it is the one that is shown
 * @param of the branch from which it parts; null for the first
 * @param after the last turn that it has in common with that one; 0 for none
 */
record BranchView(String name, long turns, boolean active, @Nullable String of, long after) {

	static BranchView of(Branch branch, long turns, @Nullable String of, long after) {
		boolean isFirst = branch.name().equals(Session.MAIN);
		return new BranchView(branch.name(), turns, branch.active(), isFirst ? null : (of != null) ? of : Session.MAIN,
				isFirst ? 0 : after);
	}

}
