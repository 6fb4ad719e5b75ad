package io.sessionkit.internal.round;

import java.util.List;

import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.Overridden;

import org.springframework.aop.framework.AopProxyUtils;

/**
 * Hooks that may change what is stored of a turn.
 */
public final class SavingHooks {

	private static final ClassValue<Boolean> SAVING = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return Overridden.isIn(type, SessionHook.class, "beforeSave", HookContext.class, TurnPart.class);
		}

	};

	private SavingHooks() {
	}

	/**
	 * Returns whether one of the hooks may change what is stored: it overrides
	 * {@link SessionHook#beforeSave}. A proxy overrides all methods, so the hook behind
	 * it counts, unless that may be another one in each call.
	 */
	public static boolean areAmong(List<SessionHook> hooks) {
		return hooks.stream().anyMatch(SavingHooks::isSaving);
	}

	private static boolean isSaving(Object hook) {
		Object target = AopProxyUtils.getSingletonTarget(hook);
		return (target != null) ? isSaving(target) : SAVING.get(hook.getClass());
	}

}
