package io.sessionkit.hook;

import java.util.List;

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
	 * Something else takes its place. An equal value is as good as {@link #keep}.
	 * @param value the other; a copy is taken
	 * @param <T> what the hook was given
	 * @return the result
	 */
	static <T> HookResult<T> replace(T value) {
		return new Replace<>(value);
	}

	/**
	 * This text is the reply, and the model is not called.
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
	 * @param <T> what the hook was given
	 */
	record Keep<T>() implements HookResult<T> {

		private static final Keep<?> INSTANCE = new Keep<>();

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
