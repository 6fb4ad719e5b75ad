package io.sessionkit.samples.chat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.access.CallerRefusedException;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.DeciderRequiredException;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.DecisionRefusedException.Reason;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.stream.CallEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

import static org.assertj.core.api.Assertions.assertThat;

class ProblemsTests {

	@Test
	void saysAConflictInTheWordsOfThePage() {
		ProblemDetail problem = Problems.of(new SessionConflictException("The reply is in this exception.", null));

		assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.CONFLICT);
		assertThat(problem.getStatus()).isEqualTo(HttpStatus.CONFLICT.value());
		assertThat(problem.getDetail()).contains("Ask again").doesNotContain("exception");
	}

	@Test
	void saysThatAnAnswerWasNotStored() {
		ProblemDetail problem = Problems.of(new CommitFailedException("The reply is in this exception.", null, null));

		assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.UNSTORED);
		assertThat(problem.getStatus()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE.value());
		assertThat(problem.getDetail()).contains("could not be stored").doesNotContain("exception");
	}

	@Test
	void saysThatAnIdIsNotValid() {
		ProblemDetail problem = Problems.of(new InvalidSessionKeyException("The id must not be blank."));

		assertThat(problem.getStatus()).isEqualTo(HttpStatus.BAD_REQUEST.value());
		assertThat(problem.getDetail()).isEqualTo("The id of the thread is not a valid one.");
	}

	@Test
	void saysThatAThreadIsNotThere() {
		assertThat(Problems.of(new SessionNotFoundException("There is no thread.")).getStatus())
			.isEqualTo(HttpStatus.NOT_FOUND.value());
	}

	@Test
	void saysThatAMessageHasToWaitForADecision() {
		ProblemDetail problem = Problems.of(new TurnOpenException("Decide them, or set a property.", 3));

		assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.WAITS);
		assertThat(problem.getStatus()).isEqualTo(HttpStatus.CONFLICT.value());
		assertThat(problem.getDetail()).contains("waits for a decision").doesNotContain("property");
	}

	@Test
	void saysThatATurnGoesOnElsewhere() {
		ProblemDetail problem = Problems.of(new TurnInProgressException("Another call works on it."));

		assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.RUNS);
		assertThat(problem.getStatus()).isEqualTo(HttpStatus.CONFLICT.value());
		assertThat(problem.getDetail()).startsWith("Another window");
	}

	@Test
	void saysWhyATurnCannotGoOn() {
		ProblemDetail problem = Problems.of(new ResumeRefusedException("The tools are others.", List.of()));

		assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.REFUSED);
		assertThat(problem.getStatus()).isEqualTo(HttpStatus.CONFLICT.value());
		assertThat(problem.getDetail()).contains("not those that were approved");
	}

	/** Whoever copies this shows it to users. */
	@Test
	void passesOnNoTextOfAnException() {
		String secret = "Session ada/t1 of 'ada': set sessionkit.owner=none.";
		List<SessionException> all = List.of(new InvalidSessionKeyException(secret),
				new CallerRequiredException(secret), new CallerRefusedException(secret),
				new DeciderRequiredException(secret), new SessionNotFoundException(secret),
				new DecisionRefusedException(secret, Reason.ARGUMENTS, ApprovalStatus.PROPOSED, null),
				new DecisionRefusedException(secret, Reason.UNKNOWN_CALL, null, null),
				new SessionConflictException(secret, null), new TurnOpenException(secret, 3),
				new TurnInProgressException(secret), new ResumeRefusedException(secret, List.of()),
				new SessionException(secret, null) {
				});

		assertThat(all).allSatisfy((ex) -> {
			assertThat(Problems.of(ex).getDetail()).isNotBlank().doesNotContain("ada", "sessionkit");
			assertThat(Problems.ofMove(ex).getDetail()).isNotBlank().doesNotContain("ada", "sessionkit");
		});
		assertThat(Problems.wrongValue(new IllegalArgumentException(secret), "Wrong.").getDetail())
			.doesNotContain("ada");
	}

	@ParameterizedTest
	@EnumSource
	void saysOfEachRefusedChangeWhatToDo(ChangeRefusedException.Reason reason) {
		ChangeRefusedException ex = new ChangeRefusedException("Session ada/t1 of 'ada'", reason);

		for (ProblemDetail problem : List.of(Problems.of(ex), Problems.ofMove(ex))) {
			assertThat(problem.getDetail()).isNotBlank().doesNotContain("ada");
			assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.REFUSED);
		}
		assertThat(Problems.ofMove(ex).getStatus()).isEqualTo(reason.isUnknown() ? 404 : 409);
	}

	@Test
	void saysWhoHasDecided() {
		assertThat(Problems
			.of(new DecisionRefusedException("For developers.", Reason.DECIDED, ApprovalStatus.REJECTED, "Ada"))
			.getDetail()).isEqualTo("This call was decided by Ada already.");
		assertThat(Problems
			.of(new DecisionRefusedException("For developers.", Reason.EXPIRED, ApprovalStatus.EXPIRED, null))
			.getDetail()).contains("in time");
		assertThat(Problems
			.of(new DecisionRefusedException("For developers.", Reason.ARGUMENTS, ApprovalStatus.PROPOSED, null))
			.getDetail()).contains("these arguments");
	}

	@Test
	void namesOnlyTheKindOfWhatElseWentWrong() {
		ProblemDetail problem = Problems.of(new UncheckedIOException(new IOException("Incorrect key: 4711")));

		assertThat(problem.getStatus()).isEqualTo(HttpStatus.BAD_GATEWAY.value());
		assertThat(problem.getDetail()).doesNotContain("4711");
		assertThat(problem.getProperties()).containsExactly(Map.entry("kind", Problems.Kind.MODEL));
	}

	/** A model is asked in a turn, and may fail with anything. */
	@Test
	void saysThatATurnIsNotAskedAgainAndBlamesTheModelForItsOwnFailures() {
		assertThat(List.of(
				Problems.of(new ChangeRefusedException("Its rewind has not ended: 4711",
						ChangeRefusedException.Reason.REWIND_UNFINISHED)),
				Problems.of(new CallEvent.Failed(null, null, "change-refused", false))))
			.allSatisfy((problem) -> {
				assertThat(problem.getProperties()).containsEntry("kind", Problems.Kind.REFUSED);
				assertThat(problem.getDetail()).contains("are being taken back").doesNotContain("4711");
			});
		assertThat(Problems.of(new CallEvent.Failed("1-a", TurnStatus.FAILED, "error", false)).getProperties())
			.containsEntry("kind", Problems.Kind.MODEL);
	}

	/** An event of a stream has the code alone. */
	@ParameterizedTest
	@CsvSource({ "conflict, CONFLICT", "turn-open, WAITS", "turn-in-progress, RUNS", "idempotency-key, REPEATED",
			"refused, REFUSED", "hook-failed, REFUSED", "session-lost, DELETED", "not-stored, UNSTORED",
			"store-unavailable, UNSTORED", "unreadable-payload, UNSTORED", "unsupported-version, UNSTORED",
			"unknown-tool, UNSTORED", "session-error, UNSTORED", "unfinished-reply, MODEL", "error, MODEL" })
	void saysTheSameOfAFailureThatAStreamTells(String code, Problems.Kind kind) {
		ProblemDetail problem = Problems.of(new CallEvent.Failed("1-a", TurnStatus.FAILED, code, false));

		assertThat(problem.getProperties()).containsExactly(Map.entry("kind", kind));
		assertThat(problem.getDetail()).isNotBlank().doesNotContain("Exception");
	}

}
