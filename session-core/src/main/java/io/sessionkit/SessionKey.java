package io.sessionkit;

import io.sessionkit.internal.Names;

/**
 * The name of one session: its owner and its id. Two keys name the same session only if
 * both parts are equal character by character: case, accents, Unicode form and trailing
 * spaces all matter, whatever the collation of the database is.
 *
 * @param owner the owner of the session; empty if the application has no owners,
 * otherwise under the rules of {@code id}
 * @param id 1 to {@value #MAX_LENGTH} characters (UTF-16 units), not blank, without
 * control characters (so no line breaks), line and paragraph separators, marks that turn
 * the direction of the text after them (U+202A to U+202E, U+2066 to U+2069), and lone
 * surrogates
 */
public record SessionKey(String owner, String id) {

	/**
	 * The maximum length of an owner and of an id, in UTF-16 units.
	 */
	public static final int MAX_LENGTH = 255;

	public SessionKey {
		if (owner == null) {
			throw new InvalidSessionKeyException("The owner of a session must not be null. Use \"\" for none.");
		}
		if (id == null) {
			throw new InvalidSessionKeyException(
					"The id of a session must not be null. Write 1 to " + MAX_LENGTH + " characters.");
		}
		if (!owner.isEmpty()) {
			checkOwner(owner);
		}
		check("id", id);
	}

	/**
	 * Returns the key of the session that has this id and no owner.
	 * @param id the session's id
	 * @return the key with an empty owner
	 * @throws InvalidSessionKeyException if the id breaks a rule
	 */
	public static SessionKey of(String id) {
		return new SessionKey("", id);
	}

	/**
	 * Returns the key of the session that has this id and this owner.
	 * @param owner the owner, or an empty string for none
	 * @param id the session's id
	 * @return the key
	 * @throws InvalidSessionKeyException if the owner or the id breaks a rule
	 */
	public static SessionKey of(String owner, String id) {
		return new SessionKey(owner, id);
	}

	/**
	 * Returns the key of a child session: it has the same owner, and the id of this
	 * session, a slash and the name as its id. A name cannot lead out of this session, so
	 * it may come from a model.
	 * @param name the name of the child, under the rules of {@code id} and without a
	 * slash
	 * @return the key
	 * @throws InvalidSessionKeyException if the name breaks a rule, or the id of the
	 * child would be longer than {@value #MAX_LENGTH} characters
	 */
	public SessionKey child(String name) {
		checkChild(name);
		int length = this.id.length() + 1 + name.length();
		if (length > MAX_LENGTH) {
			throw new InvalidSessionKeyException("The id of a child session may have at most " + MAX_LENGTH
					+ " characters; that of this child of session " + this + " would have " + length
					+ ". Choose a shorter name.");
		}
		return new SessionKey(this.owner, this.id + "/" + name);
	}

	/**
	 * Returns the id and, if there is one, the owner, each quoted.
	 */
	@Override
	public String toString() {
		return this.owner.isEmpty() ? "'" + this.id + "'" : "'" + this.id + "' of '" + this.owner + "'";
	}

	/**
	 * Checks the name of an owner.
	 * @param owner the name; not empty
	 * @throws InvalidSessionKeyException if it breaks a rule
	 */
	public static void checkOwner(String owner) {
		check("owner", owner);
	}

	/**
	 * Checks the name of a child, as far as it can be checked without its parent.
	 * @param name the name
	 * @throws InvalidSessionKeyException if it breaks a rule
	 */
	public static void checkChild(String name) {
		check("name of a child", name);
		if (name.indexOf('/') >= 0) {
			throw new InvalidSessionKeyException("The name of a child of a session must not contain a slash, which"
					+ " separates it from the id of its parent.");
		}
	}

	private static void check(String part, String value) {
		if (value.isBlank()) {
			throw new InvalidSessionKeyException(
					"The " + part + " of a session must not be blank. Write 1 to " + MAX_LENGTH + " characters.");
		}
		if (value.length() > MAX_LENGTH) {
			throw new InvalidSessionKeyException("The " + part + " of a session may have at most " + MAX_LENGTH
					+ " characters; this one has " + value.length() + ".");
		}
		String flaw = Names.flaw(value);
		if (flaw != null) {
			throw new InvalidSessionKeyException("The " + part + " of a session " + flaw + ".");
		}
	}

}
