package io.sessionkit.samples.chat;

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

	static final String MARKDOWN = """
			<think>The user wants to see how Markdown looks. A table, some lists and code are enough.</think>
			## What a session keeps

			A *session* keeps what was **said**, not ~~guessed~~: messages, `tool calls` and results. The \
			[reference of Spring AI](https://docs.spring.io/spring-ai/reference/) says what a message is.

			| Store | Turns stay | After a restart |
			|:--|--:|:--:|
			| in memory | 100 | no |
			| H2, in a file | 10,000 | yes |
			| PostgreSQL | 1,000,000 | yes |

			1. Add the starter
			   - with Maven
			   - or with Gradle:
			     ```kotlin
			     implementation("io.sessionkit:session-spring-boot-starter")
			     ```
			2. Name the session of a call
			3. Ask

			```java
			@RestController
			class Chat {

			    // One line names the session.
			    String ask(String text, String thread) {
			        return this.client.prompt(text).advisors(SessionAdvisor.session(thread)).call().content();
			    }

			}
			```

			> What is stored can be read again.
			> What is not stored never was.

			- [x] store
			- [ ] forget

			---

			### In other directions

			هذه جملة بالعربية، وتُقرأ من اليمين إلى اليسار.""";

	/** So long that a page that draws all of it for each word would stand still. */
	static final String LONG = (MARKDOWN.substring(MARKDOWN.indexOf("## ")) + "\n\n").repeat(30).strip();

	static final String UNDERSTOOD = """
			I am a small offline demo with a few rules, not a language model, so I did not understand that. Try one of \
			these:

			- “My name is Ada”, and later “What is my name?”
			- “What time is it?” or “Roll two dice”, which call tools
			- “Cancel order 4711”, which a person has to approve
			- “What did I roll?”, “What did I say first?” or “How many messages are there?”
			- “How does this work?” or “Tell me a story”
			- “Please fail”, to see a turn that went wrong

			With the profile `openai` a real model answers here.""";

	private DemoTexts() {
	}

}
