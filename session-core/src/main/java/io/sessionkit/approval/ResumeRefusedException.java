package io.sessionkit.approval;

import java.util.List;

import io.sessionkit.SessionException;

/**
 * Thrown if this call cannot continue a turn that waits for approvals, because its tools,
 * or the application's version marker, are not those that the approvals were requested
 * for. Nothing was run. A message of this call, if it has one, is kept with the turn: do
 * not send it again.
 */
public final class ResumeRefusedException extends SessionException {

	private final List<String> changes;

	/**
	 * Creates the exception.
	 * @param message a description of what is different and what to do
	 * @param changes one sentence for each difference
	 */
	public ResumeRefusedException(String message, List<String> changes) {
		super(message, null);
		this.changes = List.copyOf(changes);
	}

	@Override
	public String code() {
		return "resume-refused";
	}

	/**
	 * Returns the differences.
	 * @return one sentence for each difference
	 */
	public List<String> changes() {
		return this.changes;
	}

}
