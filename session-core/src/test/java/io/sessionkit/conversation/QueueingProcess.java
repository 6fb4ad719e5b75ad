package io.sessionkit.conversation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.WorkingModel;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * The program that {@link OtherProcess} runs: calls that stand in line on one session, as
 * its input says.
 */
final class QueueingProcess {

	/** So long that a busy machine alone does not cost a call its place. */
	static final Duration LEASE = Duration.ofSeconds(6);

	static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final int LONGEST_CALL_MILLIS = 20;

	private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

	private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

	private final SessionStore store;

	private volatile boolean ends;

	private QueueingProcess(SharedStore shared) {
		this.store = shared.open();
	}

	public static void main(String[] words) throws IOException {
		QueueingProcess process = new QueueingProcess(new SharedStore(List.of(words)));
		process.chat(process.store, (prompt) -> answer(prompt), Concurrency.SERIALIZE)
			.prompt()
			.user("warm")
			.advisors(SessionAdvisor.session("warm"))
			.call()
			.content();
		process.say("ready");
		process.run();
		System.exit(0);
	}

	private void run() throws IOException {
		List<Thread> callers = new ArrayList<>();
		String line = this.in.readLine();
		while (line != null) {
			String[] order = line.split(" ");
			switch (order[0]) {
				case "callers" ->
					callers.addAll(callers(SessionKey.of(order[1]), order[2], Integer.parseInt(order[3]), false));
				case "steerers" ->
					callers.addAll(callers(SessionKey.of(order[1]), order[2], Integer.parseInt(order[3]), true));
				case "hold" -> hold(SessionKey.of(order[1]), order[2]);
				case "end" -> end(callers);
				default -> throw new IllegalArgumentException(line);
			}
			line = this.in.readLine();
		}
	}

	/**
	 * Each asks something new as soon as it has its answer. Those that steer ask what
	 * takes up to three model calls.
	 */
	private List<Thread> callers(SessionKey key, String name, int number, boolean steers) {
		ChatClient chat = steers ? steering() : chat(this.store, (prompt) -> {
			takeTime();
			return answer(prompt);
		}, Concurrency.SERIALIZE);
		List<Thread> callers = new ArrayList<>();
		for (int i = 1; i <= number; i++) {
			String caller = name + "-" + i;
			Thread thread = new Thread(() -> {
				for (int question = 1; !this.ends; question++) {
					String rounds = steers ? ":" + ThreadLocalRandom.current().nextInt(3) : "";
					say(ask(chat, key, caller + "-" + question + rounds));
				}
			});
			callers.add(thread);
			thread.start();
		}
		return callers;
	}

	private ChatClient steering() {
		WorkingModel model = new WorkingModel("look");
		model.before((prompt) -> takeTime());
		return chat(this.store, model, Concurrency.STEER).mutate()
			.defaultTools(FunctionToolCallback.builder("look", (Object nothing) -> {
				takeTime();
				return "seen";
			}).description("looks").inputType(Object.class).build())
			.build();
	}

	private static void takeTime() {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextLong(LONGEST_CALL_MILLIS)));
	}

	private void end(List<Thread> callers) {
		this.ends = true;
		for (Thread caller : callers) {
			try {
				caller.join();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
		say("ended");
	}

	/** The model says that it was called, and answers when the next line comes. */
	private void hold(SessionKey key, String question) {
		ChatClient chat = chat(this.store, (prompt) -> {
			say("called");
			try {
				this.in.readLine();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			return answer(prompt);
		}, Concurrency.SERIALIZE);
		say(ask(chat, key, question));
	}

	private static String ask(ChatClient chat, SessionKey key, String question) {
		long start = System.nanoTime();
		try {
			ChatResponse response = chat.prompt()
				.user(question)
				.advisors(SessionAdvisor.session(key).andThen(SessionAdvisor.idempotencyKey(question)))
				.call()
				.chatResponse();
			TurnResult turn = SessionAdvisor.turn(response).orElseThrow();
			return "answered " + question + " " + turn.turn().number() + " "
					+ TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " " + System.currentTimeMillis();
		}
		catch (RuntimeException ex) {
			System.err.println(question + " has failed: " + ex + Arrays.toString(ex.getSuppressed()));
			return "failed " + question + " " + ex.getClass().getSimpleName();
		}
	}

	private ChatClient chat(SessionStore store, ChatModel model, Concurrency concurrency) {
		Conversations conversations = Conversations.builder(store).lease(LEASE).build();
		return ChatClient.builder(model)
			.defaultAdvisors(
					SessionAdvisor.builder(conversations).concurrency(concurrency).concurrencyTimeout(TIMEOUT).build())
			.build();
	}

	static ChatResponse answer(Prompt prompt) {
		String question = prompt.getInstructions().get(prompt.getInstructions().size() - 1).getText();
		return new ChatResponse(List.of(new Generation(new AssistantMessage("a of " + question))));
	}

	private synchronized void say(String line) {
		this.out.println(OtherProcess.MARK + line);
	}

}
