package io.sessionkit.guard;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

import io.sessionkit.guard.Redaction.Rule;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SummaryContext;
import io.sessionkit.hook.TurnPart;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Keeps e-mail addresses, payment card numbers, IP addresses and the matches of an
 * application's patterns out of everything that is sent, returned to callers and stored.
 *
 * <pre>{@code
 * Redactor.builder().emails(Action.REDACT).cards(Action.MASK).ipAddresses(Action.BLOCK).build();
 * }</pre>
 *
 * It checks the input, also that which is queued for a turn or offered to one, before it
 * is stored; each request, which may bring tool results and history that was stored
 * without a redactor to the model; replies; and the messages of the turn that are stored.
 * It does not check system text, which is the application's own. Arguments of tool calls
 * reach the tool as the model wrote them, and are changed when they are sent again and
 * when they are stored. In JSON a match is replaced within its string, and a number that
 * matches becomes a string. Any other text is searched both as written and as decoded.
 * Decoding undoes escapes with backslashes and percent signs, omits invisible and control
 * characters, and replaces digits of any script and wide forms by the plain ones. HTML
 * entities, percent signs for anything but visible ASCII, escapes within escapes with
 * percent signs, and encodings such as base64 are not decoded. Media and metadata stay as
 * they are.
 * <p>
 * Of overlapping matches the one that starts first is used; of those the longest; of
 * those the one that was configured first. Detectors that block are checked before that,
 * and separately. A match that blocks is refused in the input, in replies, in the
 * arguments that a tool would get, and in the tool results of the turn. In the history,
 * where a match can only be from a time without the redactor, it is redacted instead, so
 * that the session is not refused forever.
 * <p>
 * Streams wait; see {@link SessionHook#checksReplies}. An answer that no model gave, from
 * a cache or from a tool that returns to the caller directly, is redacted in the store
 * but not for that caller, unless it is blocked. So the kept events of a stream do not
 * have it. Listeners receive tool calls and results as the tool received and returned
 * them. A redactor of one call alone ({@code SessionAdvisor.hook}) does not check a
 * message of that call before it is offered to a running turn; those of all calls do.
 * Immutable.
 */
public final class Redactor implements SessionHook {

	/**
	 * The action on a match.
	 */
	public enum Action {

		/**
		 * Replaces the match by a placeholder: {@code [email]}, {@code [card]}, {@code
		 * [ip]}.
		 */
		REDACT,

		/**
		 * Replaces all letters and digits but the last four by stars, or all of them if
		 * there are fewer than eight. Of an e-mail address the first letter, if it is not
		 * the only one, and the domain stay. A match of a pattern stays if it lies within
		 * four letters or digits behind at least four stars, since a mask has left it.
		 */
		MASK,

		/**
		 * Refuses the turn. The reason names the detector and does not quote the text.
		 */
		BLOCK

	}

	private final Redaction redaction;

	private Redactor(List<Rule> rules) {
		this.redaction = new Redaction(rules);
	}

	/**
	 * Creates a redactor that redacts e-mail addresses, card numbers and IP addresses.
	 * @return the redactor
	 */
	public static Redactor standard() {
		return builder().emails(Action.REDACT).cards(Action.REDACT).ipAddresses(Action.REDACT).build();
	}

	/**
	 * Creates a builder. The redactor looks only for what is added to it.
	 * @return the builder
	 */
	public static Builder builder() {
		return new Builder();
	}

	@Override
	public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
		return changed(input, input);
	}

	@Override
	public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
		return changed(request.messages(),
				request.turn().stream().filter(ToolResponseMessage.class::isInstance).toList());
	}

	@Override
	public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
		Optional<String> blocking = blocking(List.of(reply));
		if (blocking.isPresent()) {
			return refuse(blocking.get());
		}
		AssistantMessage changed = MessageTexts.said(reply, this.redaction::text);
		return (changed != reply) ? HookResult.replace(changed) : HookResult.keep();
	}

	/**
	 * Redacts everything that is stored, and refuses a reply that no model gave, from a
	 * cache or directly from a tool, if it has a match that blocks. Everything else was
	 * checked before.
	 */
	@Override
	public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		return changed(part.messages(), (part.reply() != null) ? List.of(part.reply()) : List.of());
	}

	/**
	 * Redacts messages that were stored without the redactor, and text that a summarizer
	 * makes up.
	 */
	@Override
	public HookResult<List<Message>> beforeSummary(SummaryContext context, List<Message> messages) {
		return changed(messages, List.of());
	}

	@Override
	public boolean checksReplies() {
		return true;
	}

	/**
	 * Redacts messages, or refuses if a checked message has a match that blocks.
	 * @param checked the messages that are checked for matches that block
	 */
	private HookResult<List<Message>> changed(List<Message> messages, List<Message> checked) {
		Optional<String> blocking = blocking(checked);
		if (blocking.isPresent()) {
			return refuse(blocking.get());
		}
		List<Message> changed = new ArrayList<>(messages.size());
		boolean same = true;
		for (Message message : messages) {
			Message now = MessageTexts.map(message, this.redaction::text, this.redaction::data);
			same = same && now == message;
			changed.add(now);
		}
		return same ? HookResult.keep() : HookResult.replace(changed);
	}

	private Optional<String> blocking(List<? extends Message> messages) {
		List<String> texts = messages.stream().flatMap((message) -> MessageTexts.of(message).stream()).toList();
		return this.redaction.blocking(texts);
	}

	private static <T> HookResult<T> refuse(String detector) {
		return HookResult.refuse("The detector '" + detector + "' has found something that is blocked.");
	}

	/**
	 * Builds a {@link Redactor}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_-]*");

		private final List<Rule> rules = new ArrayList<>();

		private Builder() {
		}

		/**
		 * Adds e-mail addresses. They are not redacted by default.
		 * @param action the action on a match
		 * @return this builder
		 */
		public Builder emails(Action action) {
			return add("email", new EmailDetector(), action);
		}

		/**
		 * Adds payment card numbers: 13 to 19 digits with a valid check digit. Single
		 * spaces or hyphens may separate the digits, or points, underscores and slashes
		 * if the groups are as long as on a card. Card numbers are not redacted by
		 * default. About one in ten other numbers of that length has a valid check digit
		 * too.
		 * @param action the action on a match
		 * @return this builder
		 */
		public Builder cards(Action action) {
			return add("card", new CardDetector(), action);
		}

		/**
		 * Adds IPv4 and IPv6 addresses. They are not redacted by default.
		 * @param action the action on a match
		 * @return this builder
		 */
		public Builder ipAddresses(Action action) {
			add("ip", IpDetector.V4, action);
			this.rules.add(new Rule("ip", IpDetector.V6, action));
			return this;
		}

		/**
		 * Adds the matches of a pattern. The time that a search takes depends on the
		 * pattern: one that backtracks without end does so here too. So does the stack
		 * that it needs: a repeated group with alternatives, such as {@code (a|b)*},
		 * takes more with each repetition. A text for which there is not enough is not
		 * let through: the hook fails with an {@link IllegalStateException} that names
		 * the detector. Empty matches are ignored.
		 * @param name the name of the detector in {@code [name]} and in reasons
		 * @param pattern the pattern; it sees one text at a time, in JSON one string or
		 * number
		 * @param action the action on a match
		 * @return this builder
		 * @throws IllegalArgumentException if the name is not a word or is already in use
		 */
		public Builder pattern(String name, Pattern pattern, Action action) {
			if (!NAME.matcher(name).matches()) {
				throw new IllegalArgumentException("The name of a pattern must be a letter followed by letters, digits,"
						+ " '-' and '_': '" + name + "'.");
			}
			return add(name, new PatternDetector(name, pattern), action);
		}

		private Builder add(String name, Detector detector, Action action) {
			if (this.rules.stream().anyMatch((rule) -> rule.name().equals(name))) {
				throw new IllegalArgumentException("'" + name + "' was added already. Add it once, with one action.");
			}
			this.rules.add(new Rule(name, detector, action));
			return this;
		}

		/**
		 * Builds the redactor.
		 * @return a new redactor
		 * @throws IllegalStateException if nothing was added
		 */
		public Redactor build() {
			if (this.rules.isEmpty()) {
				throw new IllegalStateException(
						"A redactor that looks for nothing. Add emails(..), cards(..), ipAddresses(..) or pattern(..).");
			}
			return new Redactor(this.rules);
		}

	}

}
