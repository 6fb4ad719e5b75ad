package io.sessionkit.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Titles of sessions that have none when their first turn has become history.
 *
 * @param by What makes the title: none, first-words (of the first question) or model
 * (which is called after the first turn, as a rule once for each session).
 * @param model Name of the ChatModel bean that makes titles, with by=model. Unset: the
 * only or primary ChatModel bean.
 */
public record TitleProperties(@DefaultValue("none") TitleSource by, @Nullable String model) {

	public static final String BY = SessionKitProperties.PREFIX + ".titles.by";

	public static final String MODEL = SessionKitProperties.PREFIX + ".titles.model";

	public TitleProperties {
		if (model != null && by != TitleSource.MODEL) {
			throw ConfigurationRefusedException.of(MODEL, model,
					"No model makes titles. Set '" + BY + "' to model, or leave it out.");
		}
	}

}
