package io.sessionkit;

/**
 * Thrown if the session has an open turn, and the requested operation would lose it: tool
 * calls wait in it, its process works on it and stores it step by step, or it broke off.
 * Nothing was changed.
 */
public final class TurnOpenException extends SessionException {

	private final long turn;

	/**
	 * Creates the exception.
	 * @param message a description of what was requested and what to do
	 * @param turn the number of the open turn
	 */
	public TurnOpenException(String message, long turn) {
		super(message, null);
		this.turn = turn;
	}

	@Override
	public String code() {
		return "turn-open";
	}

	/**
	 * Returns the number of the open turn.
	 * @return the number of the turn
	 */
	public long turn() {
		return this.turn;
	}

}
