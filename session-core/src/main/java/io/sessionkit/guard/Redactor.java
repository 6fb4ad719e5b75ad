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
import io.sessionkit.hook.TurnPart;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Keeps e-mail addresses, numbers of payment cards, IP addresses and what an application
 * describes out of what is sent, handed out and stored.
 *
 * <pre>{@code
 * Redactor.builder().emails(Action.REDACT).cards(Action.MASK).ipAddresses(Action.BLOCK).build();
 * }</pre>
 *
 * It looks at the input; at each request, where history from before its time and the
 * results of tools get to the model, and not at system text, which is the application's
 * own; at replies; and at what is kept of the turn. Arguments of tool calls reach the
 * tool as the model wrote them, and are changed in what is sent again and stored. In JSON
 * a match is replaced within its string, and a number that matches becomes a string. Any
 * other text is searched as it is written and as it is read: escapes with backslashes and
 * percent signs are undone, invisible and control characters are left out, digits of any
 * script and wide forms are plain. Entities of HTML, percent signs for other than visible
 * ASCII, and encodings such as base64 are not undone. Media and metadata stay as they
 * are.
 * <p>
 * Of matches that overlap the one that starts first is taken, of those the longest, of
 * those the one that was configured first; what blocks is looked for before that, and on
 * its own. What blocks is refused in the input, in replies, in the arguments that a tool
 * would get, and in results of tools of the turn. In the history, where it can only be
 * from before the redactor was there, it is redacted: a thread is not refused for ever.
 * <p>
 * Streams wait; see {@link SessionHook#checksReplies}. An answer that no model gave, from
 * a cache or from a tool that returns to the caller directly, is redacted where it is
 * stored and not for that caller, unless it is blocked; and listeners hear of tool calls
 * and results what the tool got and gave. Immutable.
 */
public final class Redactor implements SessionHook {

	/**
	 * What becomes of a match.
	 */
	public enum Action {

		/**
		 * A placeholder takes its place: {@code [email]}, {@code [card]}, {@code [ip]}.
		 */
		REDACT,

		/**
		 * All letters and digits but the last four become stars, and all of them if there
		 * are fewer than eight. Of an e-mail address the first letter and the domain
		 * stay. A match of a pattern that is within four letters or digits behind at
		 * least four stars is what a mask has left, and stays.
		 */
		MASK,

		/** The turn is refused; the reason names the detector and not the text. */
		BLOCK

	}

	private final Redaction redaction;

	private Redactor(List<Rule> rules) {
		this.redaction = new Redaction(rules);
	}

	/**
	 * A redactor that redacts e-mail addresses, card numbers and IP addresses.
	 * @return the redactor
	 */
	public static Redactor standard() {
		return builder().emails(Action.REDACT).cards(Action.REDACT).ipAddresses(Action.REDACT).build();
	}

	/**
	 * A builder: nothing is looked for unless it is named.
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
	 * Redacts all that is stored, and refuses what blocks in a reply that no model gave,
	 * from a cache or from a tool directly; everything else was checked before.
	 */
	@Override
	public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		return changed(part.messages(), (part.reply() != null) ? List.of(part.reply()) : List.of());
	}

	/**
	 * Redacts what was stored before the redactor was there, and what a summarizer makes
	 * up.
	 */
	@Override
	public HookResult<List<Message>> beforeSummary(List<Message> messages) {
		return changed(messages, List.of());
	}

	@Override
	public boolean checksReplies() {
		return true;
	}

	/**
	 * @param checked the messages in which nothing may be that blocks
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
		 * Looks for e-mail addresses; not by default.
		 * @param action what becomes of them
		 * @return this builder
		 */
		public Builder emails(Action action) {
			return add("email", new EmailDetector(), action);
		}

		/**
		 * Looks for numbers of payment cards: 13 to 19 digits with a right check digit,
		 * single spaces or hyphens between them, or points, underscores and slashes where
		 * the groups are as long as on a card; not by default. About one in ten other
		 * numbers of that length has a right check digit too.
		 * @param action what becomes of them
		 * @return this builder
		 */
		public Builder cards(Action action) {
			return add("card", new CardDetector(), action);
		}

		/**
		 * Looks for IPv4 and IPv6 addresses; not by default.
		 * @param action what becomes of them
		 * @return this builder
		 */
		public Builder ipAddresses(Action action) {
			add("ip", IpDetector.V4, action);
			this.rules.add(new Rule("ip", IpDetector.V6, action));
			return this;
		}

		/**
		 * Looks for what a pattern describes. It is the pattern's own matter how long
		 * that takes: one that backtracks without end does so here too. A match of no
		 * characters counts for nothing.
		 * @param name what it is called in {@code [name]} and in reasons
		 * @param pattern the pattern; it sees one text at a time, in JSON one string or
		 * number
		 * @param action what becomes of the matches
		 * @return this builder
		 * @throws IllegalArgumentException if the name is no word or is there already
		 */
		public Builder pattern(String name, Pattern pattern, Action action) {
			if (!NAME.matcher(name).matches()) {
				throw new IllegalArgumentException("The name of a pattern must be a letter followed by letters, digits,"
						+ " '-' and '_': '" + name + "'.");
			}
			return add(name, new PatternDetector(pattern), action);
		}

		private Builder add(String name, Detector detector, Action action) {
			if (this.rules.stream().anyMatch((rule) -> rule.name().equals(name))) {
				throw new IllegalArgumentException(
						"'" + name + "' is looked for already. Name it once, with one action.");
			}
			this.rules.add(new Rule(name, detector, action));
			return this;
		}

		/**
		 * The redactor.
		 * @return a new redactor
		 * @throws IllegalStateException if it would look for nothing
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
