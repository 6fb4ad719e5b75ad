package io.sessionkit.internal.row;

/**
 * The numbers that ids of turns name. An id that begins with a number and a hyphen names
 * the turn of this number: a store finds it there, and keeps other ids only.
 */
public final class TurnIds {

	/** More digits no number of a turn has, and a double is exact. */
	private static final int MOST_DIGITS = 15;

	private TurnIds() {
	}

	/**
	 * Returns the number that an id names, which need not be that of its turn.
	 * @param id the id of a turn, of any form
	 * @return the number, at most 15 digits without sign and leading zero; 0 if it names
	 * none
	 */
	public static long place(String id) {
		int hyphen = id.indexOf('-');
		if (hyphen < 1 || hyphen > MOST_DIGITS || id.charAt(0) == '0') {
			return 0;
		}
		long place = 0;
		for (int i = 0; i < hyphen; i++) {
			int digit = id.charAt(i) - '0';
			if (digit < 0 || digit > 9) {
				return 0;
			}
			place = 10 * place + digit;
		}
		return place;
	}

}
