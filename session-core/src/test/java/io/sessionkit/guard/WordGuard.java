package io.sessionkit.guard;

import java.util.regex.Pattern;

import io.sessionkit.extension.AccountNumbers;
import io.sessionkit.hook.SessionHook;

/**
 * Guards that let a word neither in nor out.
 */
public enum WordGuard {

	/** The one that ships. */
	SHIPPED {

		@Override
		public SessionHook refusing(String word) {
			return StopWords.of(word);
		}

		@Override
		SessionHook replacing(String word, String text) {
			return StopWords.of(word).answerWith(text);
		}

		@Override
		String escaped(String word) {
			return "\\\\x%02x%s".formatted((int) word.charAt(0), word.substring(1));
		}

	},

	/** One that is written as the documentation says. */
	OWN {

		@Override
		public SessionHook refusing(String word) {
			return AccountNumbers.refuse(pattern(word));
		}

		@Override
		SessionHook replacing(String word, String text) {
			return AccountNumbers.answer(pattern(word), text);
		}

		@Override
		String escaped(String word) {
			return "\\u%04x%s".formatted((int) word.charAt(0), word.substring(1));
		}

	};

	/** Refuses input and replies. */
	public abstract SessionHook refusing(String word);

	/** Replaces replies. */
	abstract SessionHook replacing(String word, String text);

	/** The word in JSON, written in a way that the guard knows. */
	abstract String escaped(String word);

	private static Pattern pattern(String word) {
		return Pattern.compile("\\b" + word + "\\b", Pattern.CASE_INSENSITIVE);
	}

}
