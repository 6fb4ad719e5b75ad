package io.sessionkit.hook;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The decision of a hook about the value that it was given: one of {@link #keep},
 * {@link #replace}, {@link #answer} and {@link #refuse}. Each method of
 * {@link SessionHook} says which of them it may return.
 *
 * @param <T> the type of the value that the hook was given
 */
public sealed interface HookResult<T> {

	/**
	 * Leaves the value as it is.
	 * @param <T> the type of the value that the hook was given
	 * @return the result
	 */
	@SuppressWarnings("unchecked") // it holds no value
	static <T> HookResult<T> keep() {
		return (HookResult<T>) Keep.INSTANCE;
	}

	/**
	 * Leaves the value as it is and keeps a note on it with the turn, as a
	 * {@link io.sessionkit.Verdict} of the kind {@code PASSED}. Such a note may be the
	 * score of a moderation, for example. The same note in several rounds is kept as one
	 * verdict. Outside of a turn a note is lost.
	 * @param note the note, which is stored: it must not quote the checked text
	 * @param <T> the type of the value that the hook was given
	 * @return the result
	 * @throws IllegalArgumentException if the note is null or blank
	 */
	static <T> HookResult<T> keep(String note) {
		if (note == null || note.isBlank()) {
			throw new IllegalArgumentException("A note must not be null or blank. Use keep() for none.");
		}
		return new Keep<>(note);
	}

	/**
	 * Replaces the value. Replacing it by an equal value is the same as {@link #keep}.
	 * @param value the new value; a copy is taken
	 * @param <T> the type of the value that the hook was given
	 * @return the result
	 */
	static <T> HookResult<T> replace(T value) {
		return new Replace<>(value);
	}

	/**
	 * Replies with a text without calling the model. The input is kept.
	 * @param text the text of the reply
	 * @return the result
	 * @throws IllegalArgumentException if the text is blank
	 */
	static HookResult<List<Message>> answer(String text) {
		return new Answer(text);
	}

	/**
	 * Ends the call with a {@link SessionRefusedException}.
	 * @param reason the reason, which is kept with the turn and may be shown: it must not
	 * quote the refused text
	 * @param <T> the type of the value that the hook was given
	 * @return the result
	 * @throws IllegalArgumentException if the reason is blank
	 */
	static <T> HookResult<T> refuse(String reason) {
		return new Refuse<>(reason);
	}

	/**
	 * The result that leaves the value as it is.
	 *
	 * @param note the note on the value; null for none
	 * @param <T> the type of the value that the hook was given
	 */
	record Keep<T>(@Nullable String note) implements HookResult<T> {

		private static final Keep<?> INSTANCE = new Keep<>(null);

	}

	/**
	 * The result that replaces the value.
	 *
	 * @param value the new value
	 * @param <T> the type of the value that the hook was given
	 */
	record Replace<T>(T value) implements HookResult<T> {

		public Replace {
			if (value == null) {
				throw new IllegalArgumentException("The value of replace must not be null. Use keep() for no change.");
			}
		}

	}

	/**
	 * The result that replies without calling the model.
	 *
	 * @param text the text of the reply
	 */
	record Answer(String text) implements HookResult<List<Message>> {

		public Answer {
			if (text == null || text.isBlank()) {
				throw new IllegalArgumentException("An answer must not be blank. Use refuse(reason) to give none.");
			}
		}

	}

	/**
	 * The result that ends the call with a refusal.
	 *
	 * @param reason the reason
	 * @param <T> the type of the value that the hook was given
	 */
	record Refuse<T>(String reason) implements HookResult<T> {

		public Refuse {
			if (reason == null || reason.isBlank()) {
				throw new IllegalArgumentException(
						"The reason of a refusal must not be blank. Say why in a few words.");
			}
		}

	}

}
