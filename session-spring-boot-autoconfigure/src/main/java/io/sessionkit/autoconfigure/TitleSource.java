package io.sessionkit.autoconfigure;

/**
 * The makers of the titles of sessions.
 */
public enum TitleSource {

	/** The application. */
	NONE,

	/** The first words of the first question. */
	FIRST_WORDS,

	/** A model. */
	MODEL

}
