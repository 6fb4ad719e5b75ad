package io.sessionkit.faults;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;

import static org.awaitility.Awaitility.await;

/**
 * A server of a test's own, with a directory of its own, that can be killed and started
 * again on what it has left there.
 */
interface Server extends AutoCloseable {

	/**
	 * Where it listens on the loopback address, after each start.
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

	static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	static void awaitListening(int port) {
		await().atMost(Duration.ofSeconds(60)).until(() -> {
			try (Socket socket = new Socket()) {
				socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 500);
				return true;
			}
			catch (IOException ex) {
				return false;
			}
		});
	}

	static void awaitEnd(ProcessHandle process) {
		await().atMost(Duration.ofSeconds(60)).until(() -> !process.isAlive());
	}

}
