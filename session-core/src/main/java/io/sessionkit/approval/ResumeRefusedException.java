package io.sessionkit.approval;

import java.util.List;

import io.sessionkit.SessionException;

/**
 * A turn that waits for approvals cannot be continued by this call: its tools are not the
 * ones that were approved. Nothing was run.
 */
public final class ResumeRefusedException extends SessionException {

	private final List<String> changes;

	public ResumeRefusedException(String message, List<String> changes) {
		super(message, null);
		this.changes = List.copyOf(changes);
	}

	/**
	 * What is different.
	 * @return one sentence for each difference
	 */
	public List<String> changes() {
		return this.changes;
	}

}
