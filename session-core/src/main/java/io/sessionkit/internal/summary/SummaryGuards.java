package io.sessionkit.internal.summary;

import java.util.List;
import java.util.Objects;

import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SummaryContext;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.Invisible;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.message.Copies;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Runs the hooks on what a summarizer reads and writes, and on titles. A hook that
 * refuses or throws ends the attempt. Safe for use by many threads if the hooks are.
 */
public final class SummaryGuards {

	private final List<SessionHook> hooks;

	public SummaryGuards(List<SessionHook> hooks) {
		this.hooks = hooks;
	}

	/**
	 * Runs the hooks on messages that a model is to read.
	 * @throws SummaryCalls.FailedException if a hook refuses or throws
	 */
	public List<Message> checked(SummaryContext context, List<Message> messages) throws SummaryCalls.FailedException {
		List<Message> now = messages;
		for (SessionHook hook : this.hooks) {
			now = checkedBy(hook, context, now);
		}
		return now;
	}

	/**
	 * Runs the hooks on a summary, or on a title that a model has made.
	 * @throws SummaryCalls.FailedException if a hook refuses or throws, or if they leave
	 * no text of it
	 */
	public String checked(SummaryContext context, String summary) throws SummaryCalls.FailedException {
		List<Message> checked = checked(context, List.of(new AssistantMessage(summary)));
		String text = (checked.size() == 1) ? checked.get(0).getText() : null;
		if (text == null || Invisible.isBlank(text)) {
			throw new SummaryCalls.FailedException("a hook left no text");
		}
		return text;
	}

	private static List<Message> checkedBy(SessionHook hook, SummaryContext context, List<Message> messages)
			throws SummaryCalls.FailedException {
		Copies copies = new Copies();
		HookResult<List<Message>> result = ask(hook, context, copies.give(messages));
		if (result instanceof HookResult.Replace<List<Message>> replace) {
			if (replace.value().stream().anyMatch(Objects::isNull)) {
				throw new SummaryCalls.FailedException("hook '" + hook.name() + "' returned a list with null in it");
			}
			return copies.take(replace.value());
		}
		if (result instanceof HookResult.Keep) {
			return messages;
		}
		throw new SummaryCalls.FailedException("hook '" + hook.name() + "' "
				+ ((result instanceof HookResult.Refuse) ? "refused" : "neither kept nor replaced"));
	}

	private static HookResult<List<Message>> ask(SessionHook hook, SummaryContext context, List<Message> messages)
			throws SummaryCalls.FailedException {
		try (TurnBinding none = TurnBinding.none()) {
			return hook.beforeSummary(context, messages);
		}
		catch (Throwable ex) {
			Interrupts.keep(ex);
			throw new SummaryCalls.FailedException("hook '" + hook.name() + "' threw " + ex.getClass().getName());
		}
	}

}
