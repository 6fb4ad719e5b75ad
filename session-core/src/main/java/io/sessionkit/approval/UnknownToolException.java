package io.sessionkit.approval;

import java.util.Collection;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;

import io.sessionkit.SessionException;

/**
 * Thrown if a property, such as {@code sessionkit.approval.tools}, names tools that do
 * not exist, and a tool with a similar name does: it would run without an approval, or
 * without its time limit. Nothing was run. Also thrown if a model calls a tool that its
 * call does not offer, in a reply whose calls are checked: none of the reply was run.
 */
public final class UnknownToolException extends SessionException {

	private final SortedSet<String> names;

	/**
	 * Creates the exception.
	 * @param message a description of the similar tools and what to do
	 * @param names the names that no tool has
	 */
	public UnknownToolException(String message, Collection<String> names) {
		super(message, null);
		this.names = Collections.unmodifiableSortedSet(new TreeSet<>(names));
	}

	@Override
	public String code() {
		return "unknown-tool";
	}

	/**
	 * Returns the names that no tool has. One that a model has written is cut, and shows
	 * control characters as escapes.
	 * @return the names, in alphabetical order
	 */
	public SortedSet<String> names() {
		return this.names;
	}

}
