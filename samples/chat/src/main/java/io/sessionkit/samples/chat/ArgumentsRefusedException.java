package io.sessionkit.samples.chat;

import java.util.List;
import java.util.stream.Collectors;

import io.sessionkit.SessionException;
import io.sessionkit.approval.ApprovalStatus;

/**
 * Thrown if the arguments that a person has written do not fit the tool. Nothing was
 * decided.
 */
final class ArgumentsRefusedException extends SessionException {

	private final transient List<ArgumentFault> faults;

	private final ApprovalStatus status;

	ArgumentsRefusedException(List<ArgumentFault> faults, ApprovalStatus status) {
		super(faults.stream().map(ArgumentFault::sentence).collect(Collectors.joining(" ")), null);
		this.faults = List.copyOf(faults);
		this.status = status;
	}

	List<ArgumentFault> faults() {
		return this.faults;
	}

	ApprovalStatus status() {
		return this.status;
	}

}
