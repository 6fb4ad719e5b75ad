package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.internal.round.InputCheck;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Runs the hooks of a turn on what its caller says, if it has hooks.
 *
 * @param turn the turn as its hooks see it
 */
record InputChecks(SessionKey key, HookRun hooks, TurnAttributes attributes, TurnContext turn, MessageCodec codec) {

	/**
	 * Messages that may become part of the turn. Nothing of what the hooks have decided
	 * and written counts before they do.
	 *
	 * @param input the messages and the decisions on them; no hook has to be asked about
	 * them any more
	 * @param attributes the attributes as the hooks have left them
	 */
	record Checked(JoiningInput input, TurnAttributes attributes) {

		List<Message> messages() {
			return this.input.messages();
		}

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
	 * Runs the hooks on messages that callers have queued while the turn waited, as far
	 * as they were not asked before. All of them become part of the turn, or it does not
	 * continue.
	 * @return the messages that follow the next tool results, as the hooks have left them
	 * @throws SessionRefusedException if a hook refuses them; that decides nothing on the
	 * turn. What a hook throws is thrown as it is
	 * @throws IllegalStateException if a hook answers them
	 */
	List<JoiningInput> queued(List<JoiningInput> queued) {
		return joined(queued, (each, apart) -> checked(each, apart, this.turn.joined(apart)));
	}

	/**
	 * Runs the same hooks on queued messages of a turn that is to end with them. Those
	 * that a hook refuses or answers are left out; the turn cannot wait for others.
	 * @return the messages that follow the tool results, as the hooks have left them.
	 * What a hook throws is thrown as it is
	 */
	List<JoiningInput> acceptable(List<JoiningInput> queued) {
		return joined(queued, this::acceptable);
	}

	private List<JoiningInput> joined(List<JoiningInput> queued,
			BiFunction<JoiningInput, TurnAttributes, @Nullable Checked> check) {
		List<Checked> passed = new ArrayList<>();
		TurnAttributes before = this.attributes;
		for (JoiningInput each : queued) {
			Checked checked = check.apply(each, before.apart());
			if (checked != null) {
				before = checked.attributes();
				passed.add(checked);
			}
		}
		passed.forEach(this::adopt);
		return passed.stream().map(Checked::input).toList();
	}

	private @Nullable Checked acceptable(JoiningInput joining, TurnAttributes apart) {
		HookRun unasked = this.hooks.unasked(joining.asked(), this.turn.joined(apart));
		try {
			HookRun.Passed<List<Message>> passed = unasked.beforeMore(joining.messages());
			return (passed.answer() == null) ? checked(joining, apart, unasked, passed) : null;
		}
		catch (SessionRefusedException ex) {
			if (unasked.refusal() == null) {
				// that of a call which the hook has made: the hook has failed
				throw ex;
			}
			return null;
		}
	}

	/**
	 * Runs the hooks on messages that may join the turn, as far as they were not asked
	 * before.
	 * @param before the attributes as the messages before these leave them
	 * @return the messages, which join the turn once they are {@link #adopt adopted}
	 * @throws SessionRefusedException if a hook refuses them; that decides nothing on the
	 * turn. What a hook throws is thrown as it is
	 * @throws IllegalStateException if a hook answers them
	 */
	Checked checked(JoiningInput joining, TurnAttributes before) {
		TurnAttributes apart = before.apart();
		return checked(joining, apart, this.turn.offered(apart));
	}

	private Checked checked(JoiningInput joining, TurnAttributes apart, HookedTurn asking) {
		HookRun unasked = this.hooks.unasked(joining.asked(), asking);
		return checked(joining, apart, unasked, unasked.beforeMore(joining.messages()));
	}

	private Checked checked(JoiningInput joining, TurnAttributes apart, HookRun asked,
			HookRun.Passed<List<Message>> passed) {
		return new Checked(joining.checked(passed(passed), this.hooks.ofAllCalls(), asked.verdicts()), apart);
	}

	/** Adds what hooks have decided and written for messages that join the turn. */
	void adopt(Checked joined) {
		this.attributes.apply(joined.attributes().change());
		if (!this.hooks.isEmpty()) {
			this.hooks.adopt(joined.input().verdicts());
		}
	}

	/**
	 * Runs the hooks on messages of this call that may join another turn. Hooks that
	 * write an attribute are to be asked again, since they have seen the attributes as
	 * they are now.
	 * @return what may be stored of the messages until then; null if a hook answers them
	 * @throws SessionRefusedException if a hook refuses them; what a hook throws is
	 * thrown as it is
	 */
	@Nullable JoiningInput joining(List<Message> input) {
		HookRun all = this.hooks.unasked(List.of(), this.turn.offered(this.attributes));
		List<String> asked = new ArrayList<>();
		HookRun.Passed<List<Message>> passed = all.beforeJoining(input, (hook) -> {
			if (!this.attributes.wasWritten()) {
				asked.add(hook);
			}
		});
		return (passed.answer() != null) ? null : new JoiningInput(passed(passed), asked, all.verdicts());
	}

	private List<Message> passed(HookRun.Passed<List<Message>> passed) {
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
