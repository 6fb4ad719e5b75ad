package io.sessionkit.autoconfigure.observation;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.micrometer.common.KeyValue;
import io.sessionkit.observation.TurnOutcome;
import io.sessionkit.observation.TurnStage;

/**
 * The names of observations and of their keys. The values of all keys are from lists that
 * are fixed when the application is built.
 */
final class ObservationNames {

	static final String SUMMARY = "sessionkit.summary";

	/** True if the call streams its answer. */
	static final String MODE = "mode";

	static final String OUTCOME = "outcome";

	/** The phase of hooks. */
	static final String PHASE = "phase";

	/** The outcome of a call that failed before its turn was opened. */
	static final String NOT_OPENED = "not_opened";

	private static final Map<TurnStage, String> NAMES = each(TurnStage.class, ObservationNames::name);

	private static final Map<TurnStage, String> SPANS = each(TurnStage.class,
			(stage) -> "sessionkit " + (stage.isHooks() ? "hooks" : value(stage)));

	private static final Map<TurnStage, KeyValue> PHASES = each(TurnStage.class,
			(stage) -> KeyValue.of(PHASE, value(stage)));

	private static final Map<TurnOutcome, KeyValue> OUTCOMES = each(TurnOutcome.class,
			(outcome) -> KeyValue.of(OUTCOME, value(outcome)));

	private ObservationNames() {
	}

	private static <E extends Enum<E>, T> Map<E, T> each(Class<E> type, Function<E, T> value) {
		Map<E, T> values = new EnumMap<>(type);
		for (E constant : type.getEnumConstants()) {
			values.put(constant, value.apply(constant));
		}
		return values;
	}

	private static String name(TurnStage stage) {
		return switch (stage) {
			case TURN -> "sessionkit.turn";
			case OPEN -> "sessionkit.turn.open";
			case BEFORE_TURN, BEFORE_MODEL, AFTER_MODEL, BEFORE_SAVE -> "sessionkit.turn.hooks";
			case ROUND -> "sessionkit.turn.round";
			case COMMIT -> "sessionkit.turn.commit";
		};
	}

	/** Returns the name of the observation of a stage. */
	static String of(TurnStage stage) {
		return Objects.requireNonNull(NAMES.get(stage));
	}

	/** Returns the name of the span of a stage. */
	static String span(TurnStage stage) {
		return Objects.requireNonNull(SPANS.get(stage));
	}

	static KeyValue phase(TurnStage stage) {
		return Objects.requireNonNull(PHASES.get(stage));
	}

	static KeyValue outcome(TurnOutcome outcome) {
		return Objects.requireNonNull(OUTCOMES.get(outcome));
	}

	static String mode(boolean streams) {
		return streams ? "stream" : "call";
	}

	static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT);
	}

}
