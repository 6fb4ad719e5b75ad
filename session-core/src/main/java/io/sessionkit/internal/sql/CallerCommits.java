package io.sessionkit.internal.sql;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Knows of which transactions of callers the commit is made. Until such a transaction is
 * cleaned up, while what was to be done after it is done, its connection is bound as
 * before, and nobody commits what is written on it then. Safe for use by many threads.
 */
final class CallerCommits {

	/** Commits what was written too late for the commit of the caller. */
	private final Runnable commit;

	/** The end of each transaction that was joined, as long as somebody knows that. */
	private final Map<Object, End> ends = Collections.synchronizedMap(new WeakHashMap<>());

	CallerCommits(Runnable commit) {
		this.commit = commit;
	}

	/**
	 * Returns whether the commit of a transaction is made, or its rollback, as far as
	 * that can be known. A transaction that is joined for the first time after its commit
	 * looks like one that has just begun.
	 * @param transaction what stands for the one that is bound
	 */
	boolean isMade(Object transaction) {
		End end = this.ends.get(transaction);
		return end != null && end.made || !TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Notes that a transaction is joined. What is written in it after its commit is
	 * committed with all that is done then.
	 */
	void joined(Object transaction, boolean write) {
		End end = this.ends.computeIfAbsent(transaction, (each) -> begun());
		end.late |= write;
	}

	private void forget(End end) {
		this.ends.values().remove(end);
	}

	private End begun() {
		End end = new End();
		TransactionSynchronizationManager.registerSynchronization(end);
		return end;
	}

	/**
	 * The end of a transaction. Does not know the transaction itself, which would be kept
	 * by that. Is told of it before those who do something then.
	 */
	private final class End implements TransactionSynchronization {

		private volatile boolean made;

		/** Whether something was written of which no commit is known that follows. */
		private boolean late;

		/** Whether it is forgotten after the others have done what they do then. */
		private boolean leaving;

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void beforeCompletion() {
			this.late = false;
			this.leaving = true;
			TransactionSynchronizationManager.registerSynchronization(new Leaving(this));
		}

		@Override
		public void afterCommit() {
			this.made = true;
		}

		@Override
		public void afterCompletion(int status) {
			this.made = true;
			if (status == STATUS_COMMITTED && this.late) {
				CallerCommits.this.commit.run();
			}
			if (!this.leaving) {
				// joined too late to be told of what comes before the commit
				forget(this);
			}
		}

	}

	/**
	 * Forgets the end of a transaction after the others have done what they do then: what
	 * stands for it may stand for the next one, if the caller has bound it. Not earlier,
	 * since Spring takes what another begins meanwhile for a part of it.
	 */
	private final class Leaving implements TransactionSynchronization {

		private final End end;

		Leaving(End end) {
			this.end = end;
		}

		@Override
		public void afterCompletion(int status) {
			forget(this.end);
		}

	}

}
