package io.sessionkit.compensation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.RewindScenario.Participant;
import io.sessionkit.conversation.Journal;
import io.sessionkit.conversation.JournalingStore;
import io.sessionkit.conversation.JournalingStore.Step;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;

/**
 * The program that {@link OtherProcess} runs for {@link KilledRewindTests}: makes turns
 * with effects, rewinds them, keeps a journal of each step, and says when it is at the
 * one it was told. Ends with its input.
 */
final class RewindProcess {

	private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

	private final Order order;

	private final Journal journal;

	private final Journal effects;

	private int timesLeft;

	private RewindProcess(Path directory, Order order) {
		this.order = order;
		this.journal = journal(directory, order.session());
		this.effects = effects(directory, order.session());
		this.timesLeft = order.times();
	}

	/**
	 * The step at which to stop.
	 *
	 * @param session the id of the session
	 * @param seed of the scenario
	 * @param step the step of the rewind
	 * @param times how many times the step is to be taken
	 * @param stops whether it goes no further by itself
	 */
	record Order(String session, long seed, Step step, int times, boolean stops) {

		static Order of(String line) {
			String[] words = line.split(" ");
			return new Order(words[0], Long.parseLong(words[1]), Step.valueOf(words[2]), Integer.parseInt(words[3]),
					Boolean.parseBoolean(words[4]));
		}

		String line() {
			return this.session + " " + this.seed + " " + this.step + " " + this.times + " " + this.stops;
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

	/** The ids of the compensating calls that have taken an effect back. */
	static Journal effects(Path directory, String session) {
		return new Journal(directory.resolve(session + ".effects"));
	}

	public static void main(String[] words) throws IOException {
		List<String> all = List.of(words);
		System.out.println(OtherProcess.MARK + "ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String line = in.readLine();
		if (line != null) {
			RewindProcess process = new RewindProcess(Path.of(all.get(0)), Order.of(line));
			SessionStore store = new SharedStore(all.subList(1, all.size())).open();
			new Thread(() -> process.run(store), "the rewind").start();
			in.readLine();
		}
		System.exit(0);
	}

	private void run(SessionStore store) {
		try {
			SessionKey key = SessionKey.of(this.order.session());
			RewindScenario scenario = new RewindScenario(this.order.seed());
			RewindScenario.Tools tools = new RewindScenario.Tools((id) -> pass(Step.BEGUN, id), (id) -> {
				this.effects.note(id);
				pass(Step.RAN, id);
			});
			scenario.talk(RewindScenario.takePart(store, tools), key);
			rewind(RewindScenario.takePart(new JournalingStore(store, this::pass), tools), key,
					scenario.numberOfTurns());
			say("over");
		}
		catch (RuntimeException | Error ex) {
			ex.printStackTrace(this.out);
			say("failed " + ex);
		}
	}

	private void rewind(Participant us, SessionKey key, int turns) {
		RewindPlan plan = us.compensations().plan(key, turns);
		RewindReport report = us.compensations().rewind(plan);
		while (report.status() == RewindReport.Status.WAITING) {
			for (ToolApproval call : us.compensations().pending(key)) {
				us.compensations().decide(call, Decision.approve("child"));
			}
			report = us.compensations().rewind(plan);
		}
		if (report.status() != RewindReport.Status.COMPLETED) {
			throw new IllegalStateException("The rewind is " + report.status() + ".");
		}
	}

	/** The steps of a rewind are taken by one thread at a time. */
	private synchronized void pass(Step step, String id) {
		this.journal.note(step + " " + id);
		if (step == this.order.step() && --this.timesLeft == 0) {
			say("at " + step);
			if (this.order.stops()) {
				stop();
			}
		}
	}

	private static void stop() {
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void say(String line) {
		this.out.println(OtherProcess.MARK + line);
	}

}
