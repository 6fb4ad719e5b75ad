package io.sessionkit.store.jdbc;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a driver and a MariaDB server and counts the commands that are answered,
 * and the bytes that the server sends.
 */
final class MariaDbProxy implements AutoCloseable {

	/** Commands without an answer: quit, close a statement. */
	private static final int QUIT = 0x01;

	private static final int CLOSE = 0x19;

	private final ServerSocket listener;

	private final String host;

	private final int port;

	private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

	private final AtomicLong roundTrips = new AtomicLong();

	private final AtomicLong bytesRead = new AtomicLong();

	MariaDbProxy(String host, int port) throws IOException {
		this.host = host;
		this.port = port;
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start("accept", this::accept);
	}

	String host() {
		return this.listener.getInetAddress().getHostAddress();
	}

	int port() {
		return this.listener.getLocalPort();
	}

	long roundTrips() {
		return this.roundTrips.get();
	}

	long bytesRead() {
		return this.bytesRead.get();
	}

	void reset() {
		this.roundTrips.set(0);
		this.bytesRead.set(0);
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

	// A packet is three bytes of length, the lowest first, one of its number, and a body.
	// Number 0 begins a command; what the driver says while it logs in has others.
	private void toServer(Socket from, Socket to) throws IOException {
		DataInputStream in = new DataInputStream(from.getInputStream());
		DataOutputStream out = new DataOutputStream(to.getOutputStream());
		byte[] head = new byte[4];
		while (true) {
			in.readFully(head);
			byte[] body = new byte[(head[0] & 0xff) | (head[1] & 0xff) << 8 | (head[2] & 0xff) << 16];
			in.readFully(body);
			if (head[3] == 0 && body.length > 0 && body[0] != QUIT && body[0] != CLOSE) {
				this.roundTrips.incrementAndGet();
			}
			out.write(head);
			out.write(body);
			out.flush();
		}
	}

	private void toClient(Socket from, Socket to) throws IOException {
		InputStream in = from.getInputStream();
		OutputStream out = to.getOutputStream();
		byte[] buffer = new byte[8192];
		for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
			this.bytesRead.addAndGet(read);
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
		}, "mariadb-proxy-" + name);
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
