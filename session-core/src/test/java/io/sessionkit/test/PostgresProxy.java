package io.sessionkit.test;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Stands between a driver and a PostgreSQL server and counts: the messages that the
 * driver may wait for an answer to (Sync and Query), how often it spoke again after an
 * answer, and the bytes that each of them sends.
 */
public final class PostgresProxy implements AutoCloseable {

	private final ServerSocket listener;

	private final String host;

	private final int port;

	private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

	private final AtomicLong roundTrips = new AtomicLong();

	private final AtomicLong waits = new AtomicLong();

	private final AtomicBoolean answered = new AtomicBoolean();

	private final AtomicLong bytesRead = new AtomicLong();

	private final AtomicLong bytesWritten = new AtomicLong();

	private volatile Duration latency = Duration.ZERO;

	/**
	 * Listens on a free port of the loopback interface.
	 * @param host where the server is
	 * @param port where the server is
	 */
	public PostgresProxy(String host, int port) throws IOException {
		this.host = host;
		this.port = port;
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start("accept", this::accept);
	}

	/**
	 * Returns the host that the driver connects to.
	 * @return the host
	 */
	public String host() {
		return this.listener.getInetAddress().getHostAddress();
	}

	/**
	 * Returns the port that the driver connects to.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * The messages since {@link #reset} that the driver may wait for an answer to.
	 * @return their number
	 */
	public long roundTrips() {
		return this.roundTrips.get();
	}

	/**
	 * Returns the bytes that the server has sent since {@link #reset}.
	 * @return bytes
	 */
	public long bytesRead() {
		return this.bytesRead.get();
	}

	/**
	 * Returns the bytes that the driver has sent since {@link #reset}.
	 * @return bytes
	 */
	public long bytesWritten() {
		return this.bytesWritten.get();
	}

	/**
	 * Returns how many times the driver waited before it sent more. Messages that are
	 * sent together count once, if the answers take long enough.
	 * @return how often
	 */
	public long waits() {
		return this.waits.get();
	}

	/**
	 * Sets the time that answers take from now on.
	 * @param latency the time
	 */
	public void latency(Duration latency) {
		this.latency = latency;
	}

	/**
	 * Counts from zero again.
	 */
	public void reset() {
		this.roundTrips.set(0);
		this.waits.set(0);
		this.answered.set(true);
		this.bytesRead.set(0);
		this.bytesWritten.set(0);
	}

	private void accept() throws IOException {
		while (true) {
			Socket client = this.listener.accept();
			Socket server = new Socket(this.host, this.port);
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			this.sockets.add(client);
			this.sockets.add(server);
			start("to-server", () -> toServer(client, server));
			start("to-client", () -> toClient(server, client));
		}
	}

	// A start-up message has a length only; all others have a type before it.
	private void toServer(Socket from, Socket to) throws IOException {
		DataInputStream in = new DataInputStream(from.getInputStream());
		DataOutputStream out = new DataOutputStream(to.getOutputStream());
		copyBody(in, out, in.readInt());
		while (true) {
			int type = in.readByte();
			if (this.answered.getAndSet(false)) {
				this.waits.incrementAndGet();
			}
			if (type == 'S' || type == 'Q') {
				this.roundTrips.incrementAndGet();
			}
			int length = in.readInt();
			this.bytesWritten.addAndGet(1L + length);
			out.writeByte(type);
			copyBody(in, out, length);
		}
	}

	private static void copyBody(DataInputStream in, DataOutputStream out, int length) throws IOException {
		byte[] body = new byte[length - 4];
		in.readFully(body);
		out.writeInt(length);
		out.write(body);
		out.flush();
	}

	private void toClient(Socket from, Socket to) throws IOException {
		InputStream in = from.getInputStream();
		OutputStream out = to.getOutputStream();
		byte[] buffer = new byte[8192];
		for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
			this.bytesRead.addAndGet(read);
			// an answer is late once, however long it is
			if (!this.answered.get()) {
				LockSupport.parkNanos(this.latency.toNanos());
				this.answered.set(true);
			}
			out.write(buffer, 0, read);
		}
	}

	private void start(String name, Traffic traffic) {
		Thread thread = new Thread(() -> {
			try {
				traffic.run();
			}
			catch (IOException ex) {
				// one side has hung up
			}
		}, "postgres-proxy-" + name);
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

}
