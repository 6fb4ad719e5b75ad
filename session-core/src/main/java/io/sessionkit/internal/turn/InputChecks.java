package io.sessionkit.internal.turn;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.Verdict;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.InputCheck;

import org.springframework.ai.chat.messages.Message;

/**
 * Runs the hooks of a turn on what its caller says, if it has hooks.
 *
 * @param own the hooks that the call of the turn alone has
 */
record InputChecks(SessionKey key, HookRun hooks, HookRun own, TurnAttributes attributes, MessageCodec codec) {

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
	 * Runs the hooks on messages that the caller has queued while the turn waited, as far
	 * as they were not asked before.
	 * @return the messages that follow the next tool results
	 * @throws SessionRefusedException if a hook refuses them
	 * @throws IllegalStateException if a hook answers them
	 */
	List<Message> queued(JoiningInput queued) {
		if (!queued.isChecked()) {
			return this.hooks.isEmpty() ? queued.messages() : passed(this.hooks, queued.messages());
		}
		List<Message> passed = passed(this.own, queued.messages());
		adopt(queued);
		adopt(this.own.verdicts());
		return passed;
	}

	/**
	 * Runs the hooks on messages of another call that may join the turn, as far as they
	 * were not asked before.
	 * @return the messages as the hooks have left them
	 * @throws SessionRefusedException if a hook refuses them; that decides nothing on the
	 * turn. What a hook throws is thrown as it is
	 * @throws IllegalStateException if a hook answers them
	 */
	List<Message> offered(JoiningInput offered) {
		HookRun apart = (offered.isChecked() ? this.own : this.hooks).apart();
		List<Message> passed = passed(apart, offered.messages());
		adopt(offered);
		adopt(apart.verdicts());
		return passed;
	}

	/**
	 * Runs the hooks on messages of this call that may join another turn.
	 * @return the messages as the hooks have left them
	 * @throws SessionRefusedException if a hook refuses them; what a hook throws is
	 * thrown as it is
	 * @throws IllegalStateException if a hook answers them
	 */
	List<Message> joining(List<Message> input) {
		return passed(this.hooks, input);
	}

	private void adopt(JoiningInput checked) {
		this.attributes.apply(checked.attributes());
		adopt(checked.verdicts());
	}

	private void adopt(List<Verdict> verdicts) {
		if (!this.hooks.isEmpty()) {
			this.hooks.adopt(verdicts);
		}
	}

	private List<Message> passed(HookRun asked, List<Message> input) {
		HookRun.Passed<List<Message>> passed = asked.beforeMore(input);
		if (passed.answer() != null) {
			throw new IllegalStateException("A hook answered a message that was added to a turn on session " + this.key
					+ "; the tool results before it need the model. Refuse it instead.");
		}
		checkStorable(passed.value());
		return passed.value();
	}

	private void checkStorable(List<Message> messages) {
		messages.forEach((message) -> this.codec.encode(this.key, message));
	}

}
