package io.sessionkit.internal.turn;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.InputCheck;

import org.springframework.ai.chat.messages.Message;

/**
 * Runs the hooks of a turn on what its caller says, if it has hooks.
 */
record InputChecks(SessionKey key, HookRun hooks, MessageCodec codec) {

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
		return passed;
	}

	/**
	 * Returns the check by guards that run beside the model.
	 * @param input the input as the other hooks have left it
	 */
	InputCheck besideModel(List<Message> input) {
		return this.hooks.checksBesideModel() ? new InputCheck(() -> this.hooks.besideModel(input)) : InputCheck.PASSED;
	}

	/**
	 * Runs the hooks on messages that the caller has queued while the turn waited.
	 * @return the messages that follow the next tool results
	 * @throws SessionRefusedException if a hook refuses them
	 * @throws IllegalStateException if a hook answers them
	 */
	List<Message> queued(List<Message> queued) {
		HookRun.Passed<List<Message>> passed = this.hooks.beforeMore(queued);
		if (passed.answer() != null) {
			throw new IllegalStateException("A hook answered a message that was added to a turn on session " + this.key
					+ "; the tool results before it need the model. Refuse it instead.");
		}
		checkStorable(passed.value());
		return passed.value();
	}

	/**
	 * Runs the hooks on messages of another call that may join the turn.
	 * @return the messages as the hooks have left them
	 * @throws SessionRefusedException if a hook refuses them; that decides nothing on the
	 * turn. What a hook throws is thrown as it is
	 * @throws IllegalStateException if a hook answers them
	 */
	List<Message> joining(List<Message> offered) {
		HookRun apart = this.hooks.apart();
		List<Message> passed = new InputChecks(this.key, apart, this.codec).queued(offered);
		this.hooks.adopt(apart);
		return passed;
	}

	private void checkStorable(List<Message> messages) {
		messages.forEach((message) -> this.codec.encode(this.key, message));
	}

}
