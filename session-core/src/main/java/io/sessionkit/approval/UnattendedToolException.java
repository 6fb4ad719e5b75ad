package io.sessionkit.approval;

import io.sessionkit.SessionException;

/**
 * Thrown if a tool that needs an approval is offered or called where nobody would be
 * asked: without a session, without the session advisor, or behind it. The tool was not
 * run.
 */
public final class UnattendedToolException extends SessionException {

	private final String tool;

	/**
	 * Creates the exception.
	 * @param message a description of where it is offered and what to do
	 * @param tool the name of the tool
	 */
	public UnattendedToolException(String message, String tool) {
		super(message, null);
		this.tool = tool;
	}

	@Override
	public String code() {
		return "unattended-tool";
	}

	/**
	 * Returns the name of the tool.
	 * @return the name
	 */
	public String tool() {
		return this.tool;
	}

}
