package io.sessionkit.advisor;

import io.sessionkit.internal.call.SessionParameters;

/**
 * Names that only the advisors know, for tests of other packages.
 */
public final class AdvisorNames {

	public static final int TURN_ORDER = SessionParameters.TURN_ORDER;

	public static final String MERGE = SessionParameters.MERGE;

	private AdvisorNames() {
	}

}
