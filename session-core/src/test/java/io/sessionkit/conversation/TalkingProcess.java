package io.sessionkit.conversation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.context.Summarize;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The program that {@link OtherProcess} runs: takes part in threads as its input says,
 * line by line, and ends with its input.
 */
final class TalkingProcess {

	/** So long that storing it takes most of the time of a turn. */
	static final String LONG_ANSWER = "a".repeat(200_000);

	private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

	private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final SessionStore store;

	private final ChatClient chat;

	private TalkingProcess(SharedStore shared) {
		this.store = shared.open();
		SessionAdvisor advisor = SessionAdvisor.of(Conversations.builder(this.store).build());
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(advisor)
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
	}

	public static void main(String[] words) throws IOException {
		TalkingProcess process = new TalkingProcess(new SharedStore(List.of(words)));
		process.say("ready");
		process.run();
		System.exit(0);
	}

	private void run() throws IOException {
		String line = this.in.readLine();
		while (line != null) {
			String[] order = line.split(" ");
			SessionKey key = SessionKey.of(order[1]);
			switch (order[0]) {
				case "ask" -> askWhenTold(key, order[2]);
				case "hurry" -> hurry(key, order[2], Integer.parseInt(order[3]));
				case "burst" -> burst(key);
				case "summarize" -> summarize(key, Summarize.Mode.valueOf(order[2]), order[3]);
				default -> throw new IllegalArgumentException(line);
			}
			line = this.in.readLine();
		}
	}

	/**
	 * The model says what it was sent, and answers when the next line comes.
	 */
	private void askWhenTold(SessionKey key, String question) {
		this.model.step((prompt) -> {
			say("called " + String.join("|", Lines.of(prompt.getInstructions())));
			awaitLine();
			return Flux.just(answer("answer-to-" + question));
		});
		say(ask(key, question));
	}

	/**
	 * Asks until so many turns are stored, each time something new, as fast as it can.
	 */
	private void hurry(SessionKey key, String name, int turns) {
		int stored = 0;
		for (int attempt = 1; stored < turns; attempt++) {
			this.model.says("answer");
			String question = name + attempt;
			if (ask(key, question).equals("stored")) {
				say("stored " + question);
				stored++;
			}
		}
	}

	/**
	 * Asks until it is killed, or nobody listens.
	 */
	private void burst(SessionKey key) {
		for (int turn = 1; !this.out.checkError(); turn++) {
			this.model.calls(SessionAdvisorTests.call("c" + turn, "t", "x")).says(LONG_ANSWER);
			say(ask(key, "q" + turn));
		}
	}

	/**
	 * Asks where a summary is due. The summarizer says that it is asked, and waits for
	 * good.
	 */
	private void summarize(SessionKey key, Summarize.Mode mode, String question) {
		ScriptedChatModel summarizer = new ScriptedChatModel().step((prompt) -> Flux.defer(() -> {
			say("summarizing");
			return Flux.never();
		}));
		Summarize rule = Summarize.by(summarizer)
			.mode(mode)
			.triggerMessages(1)
			.keepTurns(1)
			.timeout(Duration.ofHours(1))
			.build();
		this.model.says("answer-to-" + question);
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.builder(this.store).summarize(rule).build()))
			.build()
			.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(key))
			.call()
			.content();
		say("stored");
	}

	private String ask(SessionKey key, String question) {
		try {
			this.chat.prompt().user(question).advisors(SessionAdvisor.session(key)).call().content();
			return "stored";
		}
		catch (SessionConflictException ex) {
			ChatResponse reply = ex.reply();
			return "conflict " + ((reply != null) ? reply.getResult().getOutput().getText() : "without a reply");
		}
	}

	private ChatResponse answer(String text) {
		return this.model.chunk(text, List.of(), true);
	}

	private void awaitLine() {
		try {
			this.in.readLine();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void say(String line) {
		this.out.println(OtherProcess.MARK + line);
	}

}
