package io.sessionkit.hook;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * What a hook wants to be done with what it was given: one of {@link #keep},
 * {@link #replace}, {@link #answer} and {@link #refuse}. {@link SessionHook} says which
 * of them its methods may return.
 *
 * @param <T> what the hook was given
 */
public sealed interface HookResult<T> {

	/**
	 * It stays as it is.
	 * @param <T> what the hook was given
	 * @return the result
	 */
	@SuppressWarnings("unchecked") // it holds no value
	static <T> HookResult<T> keep() {
		return (HookResult<T>) Keep.INSTANCE;
	}

	/**
	 * It stays as it is, and a note on it is kept with the turn, as a
	 * {@link io.sessionkit.Verdict} with the outcome {@code PASSED}: the score of a
	 * moderation, say. A note that is left in each round is one verdict as long as it
	 * says the same. Outside of a turn a note is lost.
	 * @param note the note, in words that quote nothing of what was checked: it is stored
	 * @param <T> what the hook was given
	 * @return the result
	 * @throws IllegalArgumentException if the note is blank
	 */
	static <T> HookResult<T> keep(String note) {
		if (note.isBlank()) {
			throw new IllegalArgumentException("A note must not be blank. Use keep() for none.");
		}
		return new Keep<>(note);
	}

	/**
	 * Something else takes its place. An equal value is as good as {@link #keep}.
	 * @param value the other; a copy is taken
	 * @param <T> what the hook was given
	 * @return the result
	 */
	static <T> HookResult<T> replace(T value) {
		return new Replace<>(value);
	}

	/**
	 * This text is the reply, and the model is not called. The input is kept.
	 * @param text the reply
	 * @return the result
	 * @throws IllegalArgumentException if the text is blank
	 */
	static HookResult<List<Message>> answer(String text) {
		return new Answer(text);
	}

	/**
	 * The call ends with a {@link io.sessionkit.SessionRefusedException}.
	 * @param reason why, in words that may be shown and that quote nothing of what was
	 * refused: it is kept with the turn
	 * @param <T> what the hook was given
	 * @return the result
	 * @throws IllegalArgumentException if the reason is blank
	 */
	static <T> HookResult<T> refuse(String reason) {
		return new Refuse<>(reason);
	}

	/**
	 * It stays as it is.
	 *
	 * @param note what is noted on it; null for nothing
	 * @param <T> what the hook was given
	 */
	record Keep<T>(@Nullable String note) implements HookResult<T> {

		private static final Keep<?> INSTANCE = new Keep<>(null);

	}

	/**
	 * Something else takes its place.
	 *
	 * @param value the other
	 * @param <T> what the hook was given
	 */
	record Replace<T>(T value) implements HookResult<T> {

		public Replace {
			if (value == null) {
				throw new IllegalArgumentException("The value of replace must not be null. Use keep() for no change.");
			}
		}

	}

	/**
	 * The reply, without the model.
	 *
	 * @param text the reply
	 */
	record Answer(String text) implements HookResult<List<Message>> {

		public Answer {
			if (text == null || text.isBlank()) {
				throw new IllegalArgumentException("An answer must not be blank. Use refuse(reason) to give none.");
			}
		}

	}

	/**
	 * No.
	 *
	 * @param reason why
	 * @param <T> what the hook was given
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
