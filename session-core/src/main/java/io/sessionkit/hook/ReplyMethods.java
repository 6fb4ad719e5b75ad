package io.sessionkit.hook;

import io.sessionkit.internal.Overridden;

import org.springframework.ai.chat.messages.AssistantMessage;

/**
 * Finds out whether a class of hooks checks replies. If that cannot be determined, the
 * class is assumed to check them.
 */
final class ReplyMethods {

	private static final ClassValue<Boolean> OVERRIDDEN = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return Overridden.isIn(type, SessionHook.class, "afterModel", HookContext.class, AssistantMessage.class)
					|| Overridden.isIn(type, SessionHook.class, "beforeSave", HookContext.class, TurnPart.class);
		}

	};

	private ReplyMethods() {
	}

	static boolean areOverriddenBy(Class<?> type) {
		return OVERRIDDEN.get(type);
	}

}
