package io.sessionkit.autoconfigure.advisor;

import java.util.Arrays;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Finds the model bean that is named by a property, or the only or primary one.
 */
final class SoleModel {

	private SoleModel() {
	}

	/**
	 * Returns the model.
	 * @param name the name of the bean; null for the only or primary one
	 * @param property the property that names it
	 * @param purpose what it is for, as the beginning of a sentence
	 * @param off what to set in order to need none
	 * @throws ConfigurationRefusedException if there is no such model, or if none is
	 * named and there are several of which none is primary
	 */
	static ChatModel of(@Nullable String name, String property, String purpose, String off, ListableBeanFactory beans) {
		String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, ChatModel.class);
		if (name != null) {
			if (!Arrays.asList(names).contains(name)) {
				throw ConfigurationRefusedException.of(property, name,
						"There is no ChatModel bean of that name. " + ((names.length > 0)
								? "Write one of " + String.join(", ", names) + "." : "There is none at all."));
			}
			return beans.getBean(name, ChatModel.class);
		}
		ChatModel model = beans.getBeanProvider(ChatModel.class).getIfUnique();
		if (model == null) {
			throw new ConfigurationRefusedException(
					purpose + ", but there is "
							+ ((names.length == 0) ? "no ChatModel bean." : "more than one ChatModel bean."),
					(names.length == 0) ? "Add the starter of a chat model, or set " + off + "."
							: "Set '" + property + "' to one of " + String.join(", ", names) + ".");
		}
		return model;
	}

}
