package io.sessionkit.samples.chat;

import java.time.Duration;

import io.sessionkit.SessionException;
import io.sessionkit.SessionSettings.RetentionSettings;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Sets what a thread keeps. Turns that exceed it are deleted after the next one.
 */
@RestController
final class RetentionController {

	private final Conversations conversations;

	RetentionController(Conversations conversations) {
		this.conversations = conversations;
	}

	@PutMapping("/api/threads/{id}/retention")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void keep(@PathVariable String id, @RequestBody Kept kept) {
		RetentionSettings wanted = kept.checked();
		this.conversations.get(id).settings((settings) -> settings.retention((own) -> wanted));
	}

	@ExceptionHandler
	ProblemDetail session(SessionException ex) {
		return Problems.ofMove(ex);
	}

	/**
	 * Answers illegal arguments of SessionKit, which come from the request here.
	 */
	@ExceptionHandler
	ProblemDetail value(IllegalArgumentException ex) {
		return Problems.wrongValue(ex, "A thread keeps at least one turn. Write a larger number of turns.");
	}

	/**
	 * @param turns the largest number of turns, of the age that is configured
	 * @param everything whether to keep all turns of any age, whatever is configured
	 */
	record Kept(@Nullable Integer turns, @Nullable Boolean everything) {

		RetentionSettings checked() {
			boolean all = Boolean.TRUE.equals(this.everything);
			if (all == (this.turns != null)) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
						"Write either \"turns\" with the number of turns to keep, or \"everything\": true.");
			}
			return all ? new RetentionSettings(Integer.MAX_VALUE, Duration.ZERO)
					: RetentionSettings.NONE.maxTurns(this.turns);
		}

	}

}
