package io.sessionkit.autoconfigure.observation;

import java.util.Locale;

import io.sessionkit.observation.TurnStage;

/**
 * The names of observations and of their keys. The values of all keys are from lists that
 * are fixed when the application is built.
 */
final class ObservationNames {

	static final String SUMMARY = "sessionkit.summary";

	/** Whether the call streams its answer. */
	static final String MODE = "mode";

	static final String OUTCOME = "outcome";

	/** The phase of hooks. */
	static final String PHASE = "phase";

	/** The outcome of a call that failed before its turn was opened. */
	static final String NOT_OPENED = "not_opened";

	private ObservationNames() {
	}

	static String of(TurnStage stage) {
		return switch (stage) {
			case TURN -> "sessionkit.turn";
			case OPEN -> "sessionkit.turn.open";
			case BEFORE_TURN, BEFORE_MODEL, AFTER_MODEL, BEFORE_SAVE -> "sessionkit.turn.hooks";
			case ROUND -> "sessionkit.turn.round";
			case COMMIT -> "sessionkit.turn.commit";
		};
	}

	static String mode(boolean streams) {
		return streams ? "stream" : "call";
	}

	static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT);
	}

}
