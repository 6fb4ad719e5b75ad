package io.sessionkit.autoconfigure;

/**
 * What makes the titles of sessions.
 */
public enum TitleSource {

	/** The application. */
	NONE,

	/** The first words of the first question. */
	FIRST_WORDS,

	/** A model. */
	MODEL

}
