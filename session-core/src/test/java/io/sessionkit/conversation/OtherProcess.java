package io.sessionkit.conversation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A {@link TalkingProcess} or the like in a JVM of its own, seen from the test that
 * started it and ends it.
 */
public final class OtherProcess implements AutoCloseable {

	/** The beginning of lines that are meant for the test; all others are the log. */
	public static final String MARK = "> ";

	private static final long PATIENCE_SECONDS = 120;

	private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

	private final Process process;

	private final PrintStream orders;

	private final Thread listener;

	private OtherProcess(Process process) {
		this.process = process;
		this.orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
		this.listener = new Thread(this::listen, "what the other process says");
		this.listener.setDaemon(true);
		this.listener.start();
	}

	public static OtherProcess start(SharedStore store) {
		return start(TalkingProcess.class, store.words());
	}

	/**
	 * @param main what it runs; it says that it is ready, and ends with its input
	 * @param words what it is started with
	 */
	public static OtherProcess start(Class<?> main, List<String> words) {
		List<String> command = SharedClasses.command(main);
		command.addAll(words);
		try {
			OtherProcess other = new OtherProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
			other.hear("ready");
			return other;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void listen() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			String line = lines.readLine();
			while (line != null) {
				if (line.startsWith(MARK)) {
					this.heard.add(line.substring(MARK.length()));
				}
				else {
					System.out.println("other process: " + line);
				}
				line = lines.readLine();
			}
		}
		catch (IOException ex) {
			// it was killed
		}
	}

	public void tell(String order) {
		this.orders.println(order);
	}

	public String hear() {
		try {
			String line = this.heard.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
			if (line == null) {
				throw new AssertionError("The other process says nothing. Is it alive? " + this.process.isAlive());
			}
			return line;
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	public void hear(String expected) {
		String line = hear();
		if (!line.equals(expected)) {
			throw new AssertionError("The other process says '" + line + "', not '" + expected + "'.");
		}
	}

	/**
	 * Stops it, wherever it is: none of its threads runs until it is woken.
	 */
	public void freeze() {
		signal("-STOP");
	}

	/**
	 * Lets it run on as if nothing had been.
	 */
	public void wake() {
		signal("-CONT");
	}

	private void signal(String signal) {
		if (!send(signal)) {
			throw new AssertionError("The other process could not be sent " + signal + ".");
		}
	}

	private boolean send(String signal) {
		try {
			return new ProcessBuilder("kill", signal, String.valueOf(this.process.pid())).start().waitFor() == 0;
		}
		catch (IOException | InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	/**
	 * Asks it to end, as the platform does that runs it, and waits for that.
	 */
	public void terminate() {
		signal("-TERM");
		try {
			if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
				throw new AssertionError("The other process does not end.");
			}
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	/**
	 * Ends it at once, wherever it is. One that has ended by itself was not killed, and
	 * what it leaves proves nothing.
	 * @return what it still had said: all of it, so by a signal, since {@link Process}
	 * would close the stream before that is read
	 */
	public List<String> kill() {
		if (!this.process.isAlive()) {
			throw new AssertionError("The other process has ended by itself, with " + this.process.exitValue() + ".");
		}
		end();
		List<String> rest = new ArrayList<>();
		this.heard.drainTo(rest);
		return rest;
	}

	private void end() {
		send("-KILL"); // to one that has ended already it does nothing
		try {
			this.process.waitFor();
			this.listener.join();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@Override
	public void close() {
		end();
	}

}
