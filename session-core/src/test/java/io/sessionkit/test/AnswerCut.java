package io.sessionkit.test;

import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Cuts a connection after so many bytes of what a server answers, counted over all
 * {@link TcpProxy}s that share it. Safe for use by many threads.
 */
public final class AnswerCut {

	private long every;

	private long left;

	private int times;

	private long passed;

	private final SortedSet<Long> ends = new TreeSet<>();

	/**
	 * The fate of bytes that have arrived from the server.
	 *
	 * @param bytes how many of them the client gets
	 * @param cut whether the connection is cut then
	 */
	record Passed(int bytes, boolean cut) {
	}

	/**
	 * Cuts one connection.
	 * @param bytes how many bytes of answers the client still gets
	 */
	public void after(long bytes) {
		after(bytes, 1);
	}

	/**
	 * Cuts several connections, one after another.
	 * @param bytes how many bytes of answers the client gets before each cut
	 * @param cuts how many connections are cut
	 */
	public synchronized void after(long bytes, int cuts) {
		this.every = bytes;
		this.left = bytes;
		this.times = cuts;
		this.passed = 0;
		this.ends.clear();
	}

	/**
	 * Cuts nothing more.
	 * @return how many cuts were left
	 */
	public synchronized int off() {
		int unused = this.times;
		this.times = 0;
		return unused;
	}

	/**
	 * Returns the bytes that clients got since {@link #after}.
	 * @return the number of bytes
	 */
	public synchronized long passed() {
		return this.passed;
	}

	/**
	 * Returns the ends of the pieces that have arrived since {@link #after}: an answer,
	 * or a part of one.
	 * @return so many bytes have passed then
	 */
	public synchronized SortedSet<Long> ends() {
		return new TreeSet<>(this.ends);
	}

	synchronized Passed pass(int bytes) {
		if (this.times == 0 || bytes < this.left) {
			this.left -= bytes;
			this.passed += bytes;
			if (this.times > 0) {
				this.ends.add(this.passed);
			}
			return new Passed(bytes, false);
		}
		int last = (int) this.left;
		this.passed += last;
		this.left = this.every;
		this.times--;
		return new Passed(last, true);
	}

}
