package io.sessionkit.internal.round;

import io.sessionkit.Verdict.Phase;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.Told;
import org.jspecify.annotations.Nullable;

/**
 * A hook and its name. What the hook returns is checked against what it declares about
 * itself.
 */
record NamedHook(String name, SessionHook hook, boolean checksReplies, boolean besideModel, boolean isOfCall) {

	/**
	 * Names a hook.
	 * @param isOfCall whether one call alone has it
	 */
	static NamedHook of(SessionHook hook, boolean isOfCall) {
		String name = hook.name();
		if (name == null || name.isBlank()) {
			throw new IllegalStateException("The name of a hook must not be null or blank. Give one to "
					+ hook.getClass().getName() + ", or leave name() as it is.");
		}
		return new NamedHook(storable(name), hook, hook.checksReplies(), hook.runsBesideModel(), isOfCall);
	}

	void check(@Nullable HookResult<?> result, Phase phase) {
		if (result == null) {
			throw new MisusedException(this, phase, "returned null. Return HookResult.keep() for no change.");
		}
		if (this.besideModel && phase == Phase.BEFORE_TURN
				&& !(result instanceof HookResult.Keep<?> || result instanceof HookResult.Refuse<?>)) {
			throw new MisusedException(this, phase,
					"replaced or answered the input although its runsBesideModel() is true, so that the model has the"
							+ " input already. Keep or refuse it, or return false.");
		}
		boolean onReply = phase == Phase.AFTER_MODEL || phase == Phase.BEFORE_SAVE;
		if (onReply && result instanceof HookResult.Answer) {
			throw new MisusedException(this, phase, "answered, but the model has answered already. Use replace(..).");
		}
		boolean changesReply = result instanceof HookResult.Refuse<?>
				|| (phase == Phase.AFTER_MODEL && result instanceof HookResult.Replace<?>);
		if (onReply && changesReply && !this.checksReplies) {
			throw new MisusedException(this, phase,
					"changed a reply although its checksReplies() is false. Return true, so that streams wait.");
		}
	}

	/**
	 * Returns a text without lone surrogates, which no store could keep. A refusal must
	 * not fail because its reason was cut in the middle of a character.
	 */
	static String storable(String text) {
		return LoneSurrogates.replaced(text);
	}

	static String method(Phase phase) {
		return switch (phase) {
			case BEFORE_TURN -> "beforeTurn";
			case BEFORE_MODEL -> "beforeModel";
			case AFTER_MODEL -> "afterModel";
			case BEFORE_SAVE -> "beforeSave";
		};
	}

	/** Thrown if a hook has returned something that it must not return. */
	static final class MisusedException extends IllegalStateException implements Told {

		MisusedException(NamedHook hook, Phase phase, String fault) {
			super("Hook '" + hook.name() + "' (" + hook.hook().getClass().getName() + ") in " + method(phase) + " "
					+ fault);
		}

	}

}
