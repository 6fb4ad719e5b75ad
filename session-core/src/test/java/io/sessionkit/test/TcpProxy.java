package io.sessionkit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a client and a server on this machine, whatever they speak, and counts
 * how often the client spoke again after an answer, and the bytes that the server sent.
 * It can lose an answer.
 */
public final class TcpProxy implements AutoCloseable {

	private final ServerSocket listener;

	private final String host;

	private final int port;

	private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean answered = new AtomicBoolean(true);

	private final AtomicLong roundTrips = new AtomicLong();

	private final AtomicLong bytesRead = new AtomicLong();

	private final AtomicLong bytesWritten = new AtomicLong();

	private final AtomicBoolean loseNext = new AtomicBoolean();

	/**
	 * A proxy on a free port of the loopback address.
	 * @param host where the server listens
	 * @param port where the server listens
	 * @throws IOException if there is no free port
	 */
	public TcpProxy(String host, int port) throws IOException {
		this.host = host;
		this.port = port;
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start("accept", this::accept);
	}

	/**
	 * Where the proxy listens on the loopback address.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * How often the client sent something and waited for the answer, since the last
	 * reset. What is sent together counts once.
	 * @return the number of round trips
	 */
	public long roundTrips() {
		return this.roundTrips.get();
	}

	/**
	 * What the server sent since the last reset.
	 * @return the number of bytes
	 */
	public long bytesRead() {
		return this.bytesRead.get();
	}

	/**
	 * What the client sent since the last reset.
	 * @return the number of bytes
	 */
	public long bytesWritten() {
		return this.bytesWritten.get();
	}

	/**
	 * Begins to count anew.
	 */
	public void reset() {
		this.roundTrips.set(0);
		this.answered.set(true);
		this.bytesRead.set(0);
		this.bytesWritten.set(0);
	}

	/**
	 * Does not hand on the next answer, and cuts the connection instead.
	 */
	public void loseNextAnswer() {
		this.loseNext.set(true);
	}

	private void accept() throws IOException {
		while (true) {
			Socket client = this.listener.accept();
			Socket server = new Socket(this.host, this.port);
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			this.sockets.add(client);
			this.sockets.add(server);
			start("to-server", () -> copy(client, server, this::isAsked));
			start("to-client", () -> copy(server, client, this::isAnswered));
		}
	}

	private boolean isAsked(int bytes) {
		this.bytesWritten.addAndGet(bytes);
		if (this.answered.getAndSet(false)) {
			this.roundTrips.incrementAndGet();
		}
		return true;
	}

	private boolean isAnswered(int bytes) {
		this.bytesRead.addAndGet(bytes);
		this.answered.set(true);
		return !this.loseNext.getAndSet(false);
	}

	private static void copy(Socket from, Socket to, Passage passage) throws IOException {
		InputStream in = from.getInputStream();
		OutputStream out = to.getOutputStream();
		byte[] buffer = new byte[8192];
		try {
			for (int read = in.read(buffer); read >= 0 && passage.isOpenFor(read); read = in.read(buffer)) {
				out.write(buffer, 0, read);
			}
		}
		finally {
			from.close();
			to.close();
		}
	}

	private static void start(String name, Traffic traffic) {
		Thread thread = new Thread(() -> {
			try {
				traffic.run();
			}
			catch (IOException ex) {
				// one side has hung up
			}
		}, "tcp-proxy-" + name);
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Cuts all connections and takes no new ones.
	 */
	@Override
	public void close() throws IOException {
		this.listener.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

	@FunctionalInterface
	private interface Traffic {

		void run() throws IOException;

	}

	@FunctionalInterface
	private interface Passage {

		boolean isOpenFor(int bytes);

	}

}
