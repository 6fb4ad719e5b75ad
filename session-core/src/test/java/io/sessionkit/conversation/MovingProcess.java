package io.sessionkit.conversation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;

/**
 * The program that {@link OtherProcess} runs: takes one step after the other on a thread,
 * and says so after each, until it is killed.
 */
final class MovingProcess {

	private static final int WARM_UP = 30;

	private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations conversations;

	private final ChatClient chat;

	private MovingProcess(SessionStore store) {
		this.conversations = Conversations.of(store);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
	}

	public static void main(String[] words) throws IOException {
		MovingProcess process = new MovingProcess(new SharedStore(List.of(words)).open());
		process.run(SessionKey.of("warm", UUID.randomUUID().toString()), 1, WARM_UP, false);
		process.say("ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String[] order = in.readLine().split(" ");
		try {
			process.run(SessionKey.of("killed", order[0]), Long.parseLong(order[1]), Integer.MAX_VALUE, true);
		}
		catch (RuntimeException | Error ex) {
			process.say("failed with " + ex);
			throw ex;
		}
	}

	private void say(String line) {
		this.out.println(OtherProcess.MARK + line);
	}

	private void run(SessionKey key, long seed, int most, boolean says) {
		Random random = new Random(seed);
		TimeModel planned = new TimeModel();
		Conversation thread = this.conversations.get(key);
		for (int i = 0; i < most; i++) {
			KilledStep step = KilledStep.next(random, planned, i);
			switch (step.kind()) {
				case ASK -> call(key, step, (advisors) -> {
				});
				case EDIT -> call(key, step, SessionAdvisor.editing(step.turn()));
				case REGENERATE -> call(key, step, SessionAdvisor.regenerating(step.turn()));
				case UNDO -> thread.undo((int) step.turn());
				case REDO -> thread.redo((int) step.turn());
			}
			if (says) {
				say("done " + i);
			}
		}
	}

	private void call(SessionKey key, KilledStep step, Consumer<AdvisorSpec> place) {
		this.model.says(step.answer());
		ChatClient.ChatClientRequestSpec spec = this.chat.prompt().advisors(SessionAdvisor.session(key).andThen(place));
		((step.text() != null) ? spec.user(step.text()) : spec).call().content();
	}

}
