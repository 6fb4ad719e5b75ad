package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Adds a text to the system text of each request that is filled in from the session's
 * state, what was written in the same turn included.
 *
 * <pre>{@code
 * StatePrompt.of("The user's name is {name}. Answer in {language:English}.")
 * }</pre>
 *
 * {@code {attribute}} stands for a value and {@code {attribute:default}} for one that may
 * be absent; the default is written as it is. The name has letters, digits, {@code _},
 * {@code -} and {@code .}; a brace of the text itself is doubled.
 * <p>
 * Values are data. Numbers and booleans are written as they are. Texts, dates and other
 * single values are written as JSON strings in double quotes, with quotes, backslashes,
 * {@code <}, {@code >}, control and other invisible characters escaped, so that no value
 * can leave its quotes, and are cut after {@value #MAX_TEXT} characters. Lists, maps and
 * bytes are refused. A model may still believe what stands in quotes: do not ask it to
 * act on it.
 * <p>
 * The text goes behind the system text, after a blank line, or first if there is none. It
 * is never stored, and made anew for each model call. Safe for use by many threads.
 */
public final class StatePrompt implements SessionHook {

	/** How many characters of a text are written; what is cut ends with an ellipsis. */
	public static final int MAX_TEXT = 1000;

	private final StateTemplate template;

	private StatePrompt(StateTemplate template) {
		this.template = template;
	}

	/**
	 * A prompt.
	 * @param template the text with its placeholders
	 * @return the hook
	 * @throws IllegalArgumentException if the text is blank, or a brace in it is no
	 * placeholder
	 */
	public static StatePrompt of(String template) {
		return new StatePrompt(StateTemplate.parse(template));
	}

	/**
	 * Adds the text.
	 * @throws IllegalStateException if an attribute is absent that has no default, or is
	 * none that can be written
	 */
	@Override
	public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
		String text = this.template.render(context);
		List<Message> added = new ArrayList<>(request.messages());
		int system = request.system().size();
		if (system == 0) {
			added.add(0, new SystemMessage(text));
		}
		else {
			added.set(system - 1, behind(added.get(system - 1), text));
		}
		return HookResult.replace(added);
	}

	private static Message behind(Message system, String text) {
		String before = system.getText();
		return SystemMessage.builder()
			.text((before == null || before.isBlank()) ? text : before + "\n\n" + text)
			.metadata(new HashMap<>(system.getMetadata()))
			.build();
	}

}
