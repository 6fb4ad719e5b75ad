package io.sessionkit.approval;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.conversation.Journal;
import io.sessionkit.conversation.JournalingStore;
import io.sessionkit.conversation.JournalingStore.Step;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The program that {@link OtherProcess} runs for {@link KilledApprovalTests}: asks,
 * decides and goes on until the turn is over, keeps a journal of each step, and says when
 * it is at the one it was told. For {@link ResumeRaceTests} and
 * {@link StoppedApprovalTests} it only goes on. Ends with its input.
 */
final class ApprovalProcess {

	/** All turns of a process that is stopped are open at once. */
	static final Duration LEASE_OF_MANY = Duration.ofSeconds(5);

	/** Where nobody waits for the end of a lease. */
	static final Duration LONG_LEASE = Duration.ofSeconds(30);

	private static final int MOST_CALLS = 20;

	private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

	private final Path directory;

	private final SharedStore shared;

	/** Opens for all that have stopped until then. */
	private final CountDownLatch go = new CountDownLatch(1);

	private @Nullable SessionStore store;

	private ApprovalProcess(Path directory, SharedStore shared) {
		this.directory = directory;
		this.shared = shared;
	}

	/**
	 * The step at which to stop.
	 *
	 * @param session the id of the session
	 * @param seed of the scenario and the decisions
	 * @param step the step
	 * @param times how many times the step is to be taken
	 * @param stops whether it goes no further by itself
	 */
	record Order(String session, long seed, Step step, int times, boolean stops) {

		static Order of(String[] words) {
			return new Order(words[1], Long.parseLong(words[2]), Step.valueOf(words[3]), Integer.parseInt(words[4]),
					Boolean.parseBoolean(words[5]));
		}

		String line() {
			return "run " + this.session + " " + this.seed + " " + this.step + " " + this.times + " " + this.stops;
		}

	}

	static List<String> words(Path directory, SharedStore shared) {
		List<String> words = new ArrayList<>(List.of(directory.toString()));
		words.addAll(shared.words());
		return words;
	}

	static Journal journal(Path directory, String session) {
		return new Journal(directory.resolve(session + ".journal"));
	}

	static Journal effects(Path directory, String session) {
		return new Journal(directory.resolve(session + ".effects"));
	}

	public static void main(String[] words) throws IOException {
		List<String> all = List.of(words);
		ApprovalProcess process = new ApprovalProcess(Path.of(all.get(0)), new SharedStore(all.subList(1, all.size())));
		process.say("ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String line = in.readLine();
		while (line != null) {
			String[] order = line.split(" ");
			process.begin(order);
			line = in.readLine();
		}
		System.exit(0);
	}

	private void begin(String[] order) {
		Runnable work = switch (order[0]) {
			case "resume" -> () -> resume(order[1]);
			case "stop" -> () -> resumeAndStop(order[1], Step.valueOf(order[2]));
			case "go" -> this.go::countDown;
			default -> () -> run(Order.of(order));
		};
		new Thread(work, "the turn").start();
	}

	/** Not before it is needed: the file of a database can have one owner. */
	private synchronized SessionStore store() {
		this.store = (this.store != null) ? this.store : this.shared.open();
		return this.store;
	}

	/**
	 * Goes on with a turn of {@link ApprovalScenario#ofOneCall()} and says what came of
	 * it.
	 */
	private void resume(String session) {
		Journal effects = effects(this.directory, session);
		try (Participant us = ApprovalScenario.ofOneCall().leasedFor(LONG_LEASE).takePart(store(), (id) -> {
		}, effects::note)) {
			say(us.resumed(SessionKey.of(session)));
		}
	}

	/**
	 * The same, but for a stop at a step, where it says that it is there and waits until
	 * it is told to go.
	 */
	private void resumeAndStop(String session, Step stop) {
		Journal effects = effects(this.directory, session);
		BiConsumer<Step, String> steps = (step, id) -> {
			if (step == stop && !id.equals("-")) {
				say("at " + step + " " + session);
				await(this.go);
			}
		};
		SessionStore journaling = new JournalingStore(store(), steps);
		try (Participant us = ApprovalScenario.ofOneCall()
			.leasedFor(LEASE_OF_MANY)
			.takePart(journaling, (id) -> steps.accept(Step.BEGUN, id), (id) -> {
				effects.note(id);
				steps.accept(Step.RAN, id);
			})) {
			say("over " + session + " " + us.resumed(SessionKey.of(session)));
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void run(Order order) {
		try {
			new Run(order).toTheEnd();
			say("over");
		}
		catch (TurnInProgressException ex) {
			say("over: the machine was too slow to renew the lease");
		}
		catch (RuntimeException | Error ex) {
			ex.printStackTrace(this.out);
			say("failed " + ex);
		}
	}

	private synchronized void say(String line) {
		this.out.println(OtherProcess.MARK + line);
	}

	/**
	 * One turn.
	 */
	private final class Run {

		private final Order order;

		private final SessionKey key;

		private final Random random;

		private final Journal journal;

		private int timesLeft;

		private Run(Order order) {
			this.order = order;
			this.key = SessionKey.of(order.session());
			this.random = new Random(order.seed());
			this.journal = journal(ApprovalProcess.this.directory, order.session());
			this.timesLeft = order.times();
		}

		private void toTheEnd() {
			ApprovalScenario scenario = ApprovalScenario.of(this.order.seed());
			Journal effects = effects(ApprovalProcess.this.directory, this.order.session());
			SessionStore store = new JournalingStore(store(), this::pass);
			Participant us = scenario.takePart(store, (id) -> pass(Step.BEGUN, id), (id) -> {
				effects.note(id);
				pass(Step.RAN, id);
			});
			scenario.replies().forEach((calls) -> us.model().calls(calls.toArray(ToolCall[]::new)));
			us.model().says("done");
			ChatResponse last = response(us, us.chat().prompt().user("question"));
			for (int calls = 0; isOpen(last); calls++) {
				if (calls > MOST_CALLS) {
					throw new IllegalStateException("The turn does not end.");
				}
				decideSome(us);
				last = response(us, us.chat().prompt());
			}
		}

		private @Nullable ChatResponse response(Participant us, ChatClientRequestSpec spec) {
			return us.setup().response(spec.advisors(SessionAdvisor.session(this.key)));
		}

		private boolean isOpen(@Nullable ChatResponse response) {
			return SessionAdvisor.turn(response).orElseThrow().turn().status() != TurnStatus.COMPLETED;
		}

		private void decideSome(Participant us) {
			for (ToolApproval call : us.approvals().pending(this.key)) {
				int choice = this.random.nextInt(8);
				switch (choice) {
					case 0 -> {
					}
					case 1 -> us.approvals().decide(call, Decision.reject("child"));
					case 2 ->
						us.approvals().decide(call, Decision.approve("child").always(StandingDecision.Scope.TOOL));
					default -> us.approvals().approve(call, "child");
				}
			}
		}

		/** The tools of a turn run one after another, so one thread at a time is here. */
		private synchronized void pass(Step step, String id) {
			this.journal.note(step + " " + id);
			if (step == this.order.step() && --this.timesLeft == 0) {
				say("at " + step);
				if (this.order.stops()) {
					stop();
				}
			}
		}

		private void stop() {
			await(new CountDownLatch(1));
		}

	}

}
