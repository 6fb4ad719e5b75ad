package io.sessionkit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
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

	/** The number of requests that are kept. */
	private static final int REQUESTS = 20;

	private final ServerSocket listener;

	private final String host;

	private final int port;

	private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean answered = new AtomicBoolean(true);

	private final AtomicLong roundTrips = new AtomicLong();

	private final AtomicLong bytesRead = new AtomicLong();

	private final AtomicLong bytesWritten = new AtomicLong();

	private final AtomicBoolean loseNext = new AtomicBoolean();

	private final AnswerCut cut;

	private final Queue<byte[]> requests = new ConcurrentLinkedQueue<>();

	private volatile byte[] lastAnswer = {};

	/**
	 * A proxy on a free port of the loopback address.
	 * @param host where the server listens
	 * @param port where the server listens
	 * @throws IOException if there is no free port
	 */
	public TcpProxy(String host, int port) throws IOException {
		this(host, port, new AnswerCut());
	}

	/**
	 * A proxy on a free port of the loopback address.
	 * @param host where the server listens
	 * @param port where the server listens
	 * @param cut cuts the connections
	 * @throws IOException if there is no free port
	 */
	public TcpProxy(String host, int port, AnswerCut cut) throws IOException {
		this.host = host;
		this.port = port;
		this.cut = cut;
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start("accept", this::accept);
	}

	/**
	 * Returns the port that the proxy listens on, on the loopback address.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Returns how many times the client sent something and waited for the answer, since
	 * the last reset. What is sent together counts once.
	 * @return the number of round trips
	 */
	public long roundTrips() {
		return this.roundTrips.get();
	}

	/**
	 * Returns the bytes that the server sent since the last reset.
	 * @return the number of bytes
	 */
	public long bytesRead() {
		return this.bytesRead.get();
	}

	/**
	 * Returns the bytes that the client sent since the last reset.
	 * @return the number of bytes
	 */
	public long bytesWritten() {
		return this.bytesWritten.get();
	}

	/**
	 * Sends what the client has sent since the last reset once more, the newest 20
	 * requests, over a connection of its own, as a driver does that has lost the answers.
	 * @return the first bytes of the last answer
	 * @throws IOException if the server does not answer
	 */
	public byte[] repeatRequests() throws IOException {
		byte[] answer = new byte[8192];
		int read = 0;
		try (Socket server = new Socket(this.host, this.port)) {
			for (byte[] request : this.requests) {
				server.getOutputStream().write(request);
				read = server.getInputStream().read(answer);
			}
		}
		return Arrays.copyOf(answer, Math.max(0, read));
	}

	/**
	 * Returns the last answer of the server.
	 * @return the bytes
	 */
	public byte[] lastAnswer() {
		return this.lastAnswer.clone();
	}

	/**
	 * Begins to count anew.
	 */
	public void reset() {
		this.roundTrips.set(0);
		this.answered.set(true);
		this.bytesRead.set(0);
		this.bytesWritten.set(0);
		this.requests.clear();
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

	private AnswerCut.Passed isAsked(byte[] buffer, int bytes) {
		this.requests.add(Arrays.copyOf(buffer, bytes));
		if (this.requests.size() > REQUESTS) {
			this.requests.poll();
		}
		this.bytesWritten.addAndGet(bytes);
		if (this.answered.getAndSet(false)) {
			this.roundTrips.incrementAndGet();
		}
		return new AnswerCut.Passed(bytes, false);
	}

	private AnswerCut.Passed isAnswered(byte[] buffer, int bytes) {
		this.lastAnswer = Arrays.copyOf(buffer, bytes);
		this.bytesRead.addAndGet(bytes);
		this.answered.set(true);
		return this.loseNext.getAndSet(false) ? new AnswerCut.Passed(0, true) : this.cut.pass(bytes);
	}

	private static void copy(Socket from, Socket to, Passage passage) throws IOException {
		InputStream in = from.getInputStream();
		OutputStream out = to.getOutputStream();
		byte[] buffer = new byte[8192];
		try {
			boolean open = true;
			for (int read = in.read(buffer); open && read >= 0; read = open ? in.read(buffer) : 0) {
				AnswerCut.Passed passed = passage.of(buffer, read);
				out.write(buffer, 0, passed.bytes());
				open = !passed.cut();
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

		AnswerCut.Passed of(byte[] buffer, int bytes);

	}

}
