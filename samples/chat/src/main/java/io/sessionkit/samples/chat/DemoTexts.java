package io.sessionkit.samples.chat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import org.springframework.core.io.ClassPathResource;

/**
 * The longer replies of {@link DemoReply}.
 */
final class DemoTexts {

	static final String HOW_IT_WORKS = """
			The controller names the session. That is all:

			```java
			chat.prompt()
			    .user(text)
			    .advisors(SessionAdvisor.session(thread))
			    .stream();
			```

			SessionKit loads the **history** of the thread, sends it in front of your question, and stores the whole \
			turn when it ends: question, tool calls and answer.""";

	static final String STORY = """
			There was once a lighthouse keeper who could not remember yesterday. Every morning she lit the lamp, and \
			every morning she asked the sea who she was.

			The sea did not say. But on the table lay a book, and in it, in her own hand, stood all that the ships had \
			asked and all that she had answered. So she read it, page by page, before the first ship came.

			“Good morning, Ada,” called the captain. “Do you still have the rope that I left here?” She turned a page. \
			“Behind the door,” she said, “where you put it on Tuesday.”

			The captain thought that she had a wonderful memory. She had none at all. She had a book, and she never \
			tore out half a page.""";

	static final String UNDERSTOOD = """
			I am a small offline demo with a few rules, not a language model, so I did not understand that. Try one of \
			these:

			- “My name is Ada”, and later “What is my name?”
			- “What time is it?” or “Roll two dice”, which call tools
			- “Cancel order 4711”, which a person has to approve, and can take back
			- “Check orders 1, 2 and 3”, which takes long enough to say something meanwhile
			- “What did I roll?”, “What did I say first?” or “How many messages are there?”
			- “How does this work?” or “Tell me a story”
			- “Show me Markdown” or “Write 35 kB”, to see how the page shows it
			- “Please fail”, to see a turn that went wrong

			With the profile `openai` a real model answers here.""";

	/** All that GitHub's Markdown has, after a part with the thoughts of the model. */
	static final String MARKDOWN = resource("/demo/markdown.md");

	private static final int LONG = 35_000;

	private DemoTexts() {
	}

	/**
	 * Returns the same document again and again, 35 kB of it.
	 */
	static String longMarkdown() {
		String document = MARKDOWN.substring(MARKDOWN.indexOf("</think>") + "</think>".length()).strip() + "\n\n";
		return document.repeat(LONG / document.length() + 1).substring(0, LONG);
	}

	private static String resource(String path) {
		try {
			return new ClassPathResource(path, DemoTexts.class).getContentAsString(StandardCharsets.UTF_8).strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
