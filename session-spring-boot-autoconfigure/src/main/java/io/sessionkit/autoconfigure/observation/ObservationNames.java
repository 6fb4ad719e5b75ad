package io.sessionkit.autoconfigure.observation;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.micrometer.common.KeyValue;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.CallStage;

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
	static final String NOT_OPENED = "not-opened";

	private static final Map<CallStage, String> NAMES = each(CallStage.class, ObservationNames::name);

	private static final Map<CallStage, String> SPANS = each(CallStage.class,
			(stage) -> "sessionkit " + (stage.isHooks() ? "hooks" : value(stage)));

	private static final Map<CallStage, KeyValue> PHASES = each(CallStage.class,
			(stage) -> KeyValue.of(PHASE, value(stage)));

	private static final Map<CallOutcome, KeyValue> OUTCOMES = each(CallOutcome.class,
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

	private static String name(CallStage stage) {
		return switch (stage) {
			case CALL -> "sessionkit.call";
			case OPEN -> "sessionkit.call.open";
			case BEFORE_TURN, BEFORE_MODEL, AFTER_MODEL, BEFORE_SAVE -> "sessionkit.call.hooks";
			case ROUND -> "sessionkit.call.round";
			case COMMIT -> "sessionkit.call.commit";
		};
	}

	/** Returns the name of the observation of a stage. */
	static String of(CallStage stage) {
		return Objects.requireNonNull(NAMES.get(stage));
	}

	/** Returns the name of the span of a stage. */
	static String span(CallStage stage) {
		return Objects.requireNonNull(SPANS.get(stage));
	}

	static KeyValue phase(CallStage stage) {
		return Objects.requireNonNull(PHASES.get(stage));
	}

	static KeyValue outcome(CallOutcome outcome) {
		return Objects.requireNonNull(OUTCOMES.get(outcome));
	}

	static String mode(boolean streams) {
		return streams ? "stream" : "call";
	}

	static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
