package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Adds a text to the system text of each request, with placeholders that are filled in
 * from the session's attributes. Attributes that were written in the same turn are
 * included.
 *
 * <pre>{@code
 * AttributePrompt.of("The user's name is {name}. Answer in {language:English}.")
 * }</pre>
 *
 * {@code {attribute}} stands for a value and {@code {attribute:default}} for a value that
 * may be absent; the default is written as it is. The name consists of letters, digits,
 * {@code _}, {@code -} and {@code .}. To write a brace in the text itself, double it.
 * <p>
 * Values are treated as data. Numbers and booleans are written as they are. Texts, dates
 * and other single values are written as JSON strings in double quotes and are cut after
 * {@value #MAX_TEXT} characters. Quotes, backslashes, {@code <}, {@code >}, control and
 * other invisible characters are escaped, so that no value can leave its quotes. Lists,
 * maps and bytes are refused. A model may still trust text in quotes: do not ask it to
 * act on that text.
 * <p>
 * The text is appended to the system text after a blank line, or becomes the system text
 * if there is none. It is never stored, and is rendered again for each model call. Safe
 * for use by many threads.
 */
public final class AttributePrompt implements SessionHook {

	/**
	 * The largest number of characters of a text that are written. A text that is cut
	 * ends with an ellipsis.
	 */
	public static final int MAX_TEXT = AttributeTemplate.MAX_TEXT;

	private final AttributeTemplate template;

	private AttributePrompt(AttributeTemplate template) {
		this.template = template;
	}

	/**
	 * Creates a prompt from a template.
	 * @param template the text with its placeholders
	 * @return the hook
	 * @throws IllegalArgumentException if the text is blank, or if a brace in it does not
	 * belong to a placeholder
	 */
	public static AttributePrompt of(String template) {
		return new AttributePrompt(AttributeTemplate.parse(template));
	}

	/**
	 * Adds the rendered text to the system text of the request.
	 * @throws IllegalStateException if an attribute without a default is absent, or if
	 * the value of an attribute cannot be written
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
