package io.sessionkit.hook;

import org.springframework.ai.chat.messages.AssistantMessage;

/**
 * Finds out whether a class of hooks checks replies. If that cannot be determined, the
 * class is assumed to check them.
 */
final class ReplyMethods {

	private static final ClassValue<Boolean> OVERRIDDEN = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return isOverridden(type, "afterModel", AssistantMessage.class)
					|| isOverridden(type, "beforeSave", TurnPart.class);
		}

	};

	private ReplyMethods() {
	}

	static boolean areOverriddenBy(Class<?> type) {
		return OVERRIDDEN.get(type);
	}

	private static boolean isOverridden(Class<?> type, String method, Class<?> given) {
		try {
			return type.getMethod(method, HookContext.class, given).getDeclaringClass() != SessionHook.class;
		}
		catch (ReflectiveOperationException | Error ex) {
			// a native image has no metadata for the class
			return true;
		}
	}

}
