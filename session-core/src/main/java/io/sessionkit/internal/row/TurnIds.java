package io.sessionkit.internal.row;

/**
 * Ids that begin with the number of their turn, as in {@code 7-c0ffee}. A turn with such
 * an id is found by its number, so a store needs an index only for the other ids: those
 * that applications have chosen, and those of turns that got another number than their
 * writer expected.
 */
public final class TurnIds {

	/** Any number of so many digits is exact in the scripts of Redis too. */
	private static final int MOST_DIGITS = 15;

	private TurnIds() {
	}

	/**
	 * Returns the number that an id begins with.
	 * @return the number; 0 if the id does not begin with a positive number, without
	 * leading zeros, and a hyphen
	 */
	public static long place(String id) {
		int digits = 0;
		while (digits < id.length() && isDigit(id.charAt(digits))) {
			digits++;
		}
		boolean named = digits > 0 && digits <= MOST_DIGITS && digits < id.length() && id.charAt(digits) == '-'
				&& id.charAt(0) != '0';
		return named ? Long.parseLong(id, 0, digits, 10) : 0;
	}

	private static boolean isDigit(char letter) {
		return letter >= '0' && letter <= '9';
	}

}
