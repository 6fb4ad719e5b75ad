package io.sessionkit.autoconfigure.tool;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.util.ReflectionUtils;

/**
 * Finds out whether a chat model uses a {@link GuardedToolCallingManager}. Since a model
 * has no accessor for its manager, this class inspects the fields of the model, and those
 * of the models and managers that it wraps.
 */
final class GuardedModel {

	private static final int DEEPEST = 5;

	private GuardedModel() {
	}

	static boolean isGuarded(Object model) {
		return isGuarded(model, 0);
	}

	private static boolean isGuarded(@Nullable Object object, int depth) {
		if (object instanceof GuardedToolCallingManager) {
			return true;
		}
		boolean leads = object instanceof ChatModel || object instanceof ToolCallingManager;
		if (object == null || !leads || depth == DEEPEST) {
			return false;
		}
		for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
			for (Field field : type.getDeclaredFields()) {
				if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()
						&& field.trySetAccessible() && isGuarded(ReflectionUtils.getField(field, object), depth + 1)) {
					return true;
				}
			}
		}
		return false;
	}

}
