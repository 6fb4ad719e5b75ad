package io.sessionkit.internal.turn;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionRefusedException;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.Rounds;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The checks that hooks make on what the caller of a turn says: before the model is
 * called, and beside its first call. Safe for use by many threads.
 */
public final class InputChecks {

	private final SessionKey key;

	private final HookRun hooks;

	private final Rounds rounds;

	private final MessageCodec codec;

	/** The check by guards that run beside the model; null if there is none. */
	private volatile @Nullable InputCheck besideModel;

	InputChecks(SessionKey key, HookRun hooks, Rounds rounds, MessageCodec codec) {
		this.key = key;
		this.hooks = hooks;
		this.rounds = rounds;
		this.codec = codec;
	}

	/**
	 * Runs the hooks on the input with which a turn begins.
	 * @throws SessionRefusedException if a hook refuses it; what a hook throws is thrown
	 * as it is
	 */
	HookRun.Passed<List<Message>> begin(List<Message> input) {
		HookRun.Passed<List<Message>> passed = this.hooks.beforeTurn(input);
		if (passed.replaced()) {
			checkStorable(passed.value());
		}
		if (this.hooks.checksBesideModel()) {
			this.besideModel = new InputCheck(() -> this.hooks.besideModel(passed.value()));
		}
		return passed;
	}

	/**
	 * Records the answer of a hook that replaces that of the model.
	 */
	ChatResponse answer(String text) {
		pass();
		return this.rounds.answer(text);
	}

	/**
	 * Runs the hooks on messages that the caller has queued while the turn waited, and
	 * has them follow the next tool results.
	 * @throws SessionRefusedException if a hook refuses them; nothing has changed
	 * @throws IllegalStateException if a hook answers them
	 */
	void queue(List<Message> queued) {
		this.rounds.queue((queued.isEmpty() || this.hooks.isEmpty()) ? queued : passed(queued));
	}

	private List<Message> passed(List<Message> queued) {
		HookRun.Passed<List<Message>> passed = this.hooks.beforeMore(queued);
		if (passed.answer() != null) {
			throw new IllegalStateException("A hook answered a message that was queued on session " + this.key
					+ " while its turn waited; the tool results before it need the model. Refuse it instead.");
		}
		checkStorable(passed.value());
		return passed.value();
	}

	/**
	 * Checks that messages can be stored.
	 * @throws io.sessionkit.UnstorableMessageException if one cannot
	 */
	void checkStorable(List<Message> messages) {
		messages.forEach((message) -> this.codec.encode(this.key, message));
	}

	/**
	 * Returns whether guards that run beside the model have not let the input pass yet.
	 * No answer may be handed on before {@link #pass}.
	 * @return false if there are no such guards, or if all have let the input pass
	 */
	public boolean arePending() {
		InputCheck check = this.besideModel;
		return check != null && !check.isPassed();
	}

	/**
	 * Returns whether such a guard has refused the input or thrown. The model must not be
	 * called again in that case: {@link #pass} throws.
	 * @return false until the guards have finished
	 */
	public boolean haveRefused() {
		InputCheck check = this.besideModel;
		return check != null && check.isRefused();
	}

	/**
	 * Waits until those guards have let the input pass, and runs them on this thread if
	 * no other thread has. Does nothing if there are none, or if all have let it pass.
	 * @throws SessionRefusedException if one refuses; what a guard throws is thrown as it
	 * is
	 */
	public void pass() {
		InputCheck check = this.besideModel;
		if (check != null && !check.isPassed()) {
			check.pass();
		}
	}

	/**
	 * Records the answer of the model to an input that did not pass. Only its cost is
	 * kept.
	 * @param response the last response of the model; null if there is none
	 */
	public void unused(@Nullable ChatResponse response) {
		if (response != null) {
			this.rounds.unused(response);
		}
	}

}
