package io.sessionkit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and a server on this machine, and cuts each connection after a
 * random number of bytes in one of the two directions: the byte before is handed on, and
 * none after it.
 */
public final class CuttingProxy implements AutoCloseable {

	private final ServerSocket listener;

	private final String host;

	private final int port;

	private final Random random;

	private final int mostBytes;

	private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

	private final AtomicLong cuts = new AtomicLong();

	private volatile boolean cutting = true;

	/**
	 * A proxy on a free port of the loopback address.
	 * @param host where the server listens
	 * @param port where the server listens
	 * @param seed what the places of the cuts are drawn from
	 * @param mostBytes after how many bytes in its direction a connection is cut at last
	 * @throws IOException if there is no free port
	 */
	public CuttingProxy(String host, int port, long seed, int mostBytes) throws IOException {
		this.host = host;
		this.port = port;
		this.random = new Random(seed);
		this.mostBytes = mostBytes;
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
	 * Returns the number of connections that were cut.
	 * @return their number
	 */
	public long cuts() {
		return this.cuts.get();
	}

	/**
	 * Cuts nothing from now on.
	 */
	public void stopCutting() {
		this.cutting = false;
	}

	private void accept() throws IOException {
		while (true) {
			Socket client = this.listener.accept();
			Socket server = connect(client);
			if (server == null) {
				continue;
			}
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			this.sockets.add(client);
			this.sockets.add(server);
			boolean toServer = this.random.nextBoolean();
			int bytes = this.random.nextInt(this.mostBytes);
			start("to-server", () -> copy(client, server, toServer ? bytes : Long.MAX_VALUE));
			start("to-client", () -> copy(server, client, toServer ? Long.MAX_VALUE : bytes));
		}
	}

	private @Nullable Socket connect(Socket client) throws IOException {
		try {
			return new Socket(this.host, this.port);
		}
		catch (IOException ex) {
			// the server is away, and so is the proxy then
			client.close();
			return null;
		}
	}

	private void copy(Socket from, Socket to, long most) throws IOException {
		InputStream in = from.getInputStream();
		OutputStream out = to.getOutputStream();
		byte[] buffer = new byte[8192];
		long left = most;
		try {
			for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
				boolean cut = this.cutting && read > left;
				out.write(buffer, 0, cut ? (int) left : read);
				if (cut) {
					this.cuts.incrementAndGet();
					return;
				}
				left = Math.max(0, left - read);
			}
		}
		finally {
			from.close();
			to.close();
			this.sockets.remove(from);
			this.sockets.remove(to);
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
		}, "cutting-proxy-" + name);
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
