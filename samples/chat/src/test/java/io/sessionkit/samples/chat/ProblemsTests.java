package io.sessionkit.samples.chat;

import io.sessionkit.CommitFailedException;
import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionNotFoundException;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

import static org.assertj.core.api.Assertions.assertThat;

class ProblemsTests {

	@Test
	void saysAConflictInTheWordsOfThePage() {
		ProblemDetail problem = Problems.of(new SessionConflictException("The reply is in this exception.", null));

		assertThat(problem.getStatus()).isEqualTo(HttpStatus.CONFLICT.value());
		assertThat(problem.getDetail()).contains("Ask again").doesNotContain("exception");
	}

	@Test
	void saysThatAnAnswerWasNotStored() {
		ProblemDetail problem = Problems.of(new CommitFailedException("The reply is in this exception.", null, null));

		assertThat(problem.getStatus()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE.value());
		assertThat(problem.getDetail()).contains("could not be stored").doesNotContain("exception");
	}

	@Test
	void passesOnWhatSessionKitSaysOfAnId() {
		ProblemDetail problem = Problems.of(new InvalidSessionKeyException("The id must not be blank."));

		assertThat(problem.getStatus()).isEqualTo(HttpStatus.BAD_REQUEST.value());
		assertThat(problem.getDetail()).isEqualTo("The id must not be blank.");
	}

	@Test
	void saysThatAThreadIsNotThere() {
		assertThat(Problems.of(new SessionNotFoundException("There is no thread.")).getStatus())
			.isEqualTo(HttpStatus.NOT_FOUND.value());
	}

	@Test
	void namesOnlyTheKindOfWhatElseWentWrong() {
		ProblemDetail problem = Problems
			.of(new IllegalStateException("outer", new IllegalArgumentException("Incorrect key: 4711")));

		assertThat(problem.getStatus()).isEqualTo(HttpStatus.BAD_GATEWAY.value());
		assertThat(problem.getDetail()).contains("IllegalArgumentException").doesNotContain("4711");
	}

}
