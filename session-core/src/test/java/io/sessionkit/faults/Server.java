package io.sessionkit.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import static org.awaitility.Awaitility.await;

/**
 * A server of a test's own, with a directory of its own, that can be killed and started
 * again on what it has left there.
 */
interface Server extends AutoCloseable {

	/**
	 * Returns the port that it listens on, on the loopback address, after each start.
	 */
	int port();

	/**
	 * Ends it at once, wherever it is.
	 */
	void kill() throws IOException;

	/**
	 * Starts it, and waits until it answers.
	 */
	void start() throws IOException;

	@Override
	void close() throws IOException;

	/**
	 * A port that the system gives nobody who connects: else one who connects again and
	 * again while the server is away would take it.
	 */
	static int freePort() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(15_000, 32_000);
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// it is not free
			}
		}
	}

	static void awaitEnd(ProcessHandle process) {
		await().atMost(Duration.ofSeconds(60)).until(() -> !process.isAlive());
	}

}
