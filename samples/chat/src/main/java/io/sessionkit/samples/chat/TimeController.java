package io.sessionkit.samples.chat;

import java.util.List;
import java.util.UUID;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.conversation.Branch;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Goes back and forth in a thread, to other answers and to other branches. Nothing of it
 * asks the model.
 */
@RestController
@RequestMapping("/api/threads/{id}")
final class TimeController {

	private final Conversations conversations;

	TimeController(Conversations conversations) {
		this.conversations = conversations;
	}

	@PostMapping("/undo")
	Moved undo(@PathVariable String id, @RequestBody(required = false) @Nullable Count count) {
		return Moved.of(this.conversations.get(id).undo(Count.checked(count)));
	}

	@PostMapping("/redo")
	Moved redo(@PathVariable String id, @RequestBody(required = false) @Nullable Count count) {
		return Moved.of(this.conversations.get(id).redo(Count.checked(count)));
	}

	/**
	 * Goes to another answer, with the turns that were behind it.
	 */
	@PostMapping("/choose")
	Moved choose(@PathVariable String id, @RequestBody Choice choice) {
		return Moved.of(List.of(this.conversations.get(id).choose(choice.checked())));
	}

	/**
	 * Makes a branch and goes to it.
	 */
	@PostMapping("/branches")
	@ResponseStatus(HttpStatus.CREATED)
	BranchName branch(@PathVariable String id, @RequestBody NewBranch branch) {
		return new BranchName(branch.make(this.conversations.get(id)).name());
	}

	@PutMapping("/branch")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void switchTo(@PathVariable String id, @RequestBody BranchName branch) {
		this.conversations.get(id).switchTo(branch.checked());
	}

	/**
	 * Deletes a branch with what no other one has. Its name is no part of the path, since
	 * it may have characters that a path may not have.
	 * @param force whether it may be the active one
	 */
	@DeleteMapping("/branches")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void delete(@PathVariable String id, @RequestParam String name,
			@RequestParam(defaultValue = "false") boolean force) {
		this.conversations.get(id).deleteBranch(name, force);
	}

	/**
	 * Copies the thread, or its turns up to one of them, to a new one.
	 */
	@PostMapping("/fork")
	@ResponseStatus(HttpStatus.CREATED)
	Forked fork(@PathVariable String id, @RequestBody(required = false) @Nullable Choice last) {
		SessionKey copy = SessionKey.of(UUID.randomUUID().toString());
		Conversation thread = this.conversations.get(id);
		Conversation fork = (last == null || last.turn() == null) ? thread.fork(copy) : thread.fork(copy, last.turn());
		return new Forked(fork.key().id());
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
		return Problems.wrongValue(ex,
				"There is no such turn here, the name cannot be one of a branch, or it is the first branch, which stays. Reload the page.");
	}

	/**
	 * @param count how many turns; null for one
	 */
	record Count(@Nullable Integer count) {

		static int checked(@Nullable Count count) {
			int turns = (count == null || count.count() == null) ? 1 : count.count();
			if (turns < 1) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
						"A number of turns must be positive, not " + turns + ".");
			}
			return turns;
		}

	}

	/**
	 * @param turns the numbers of the turns that went or came back, in the order in which
	 * they did; none if there was nothing to do
	 */
	record Moved(List<Long> turns) {

		static Moved of(List<Turn> turns) {
			return new Moved(turns.stream().map(Turn::number).toList());
		}

	}

	record Choice(@Nullable Long turn) {

		long checked() {
			if (this.turn == null) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "There is no \"turn\". Write its number.");
			}
			return this.turn;
		}

	}

	/**
	 * @param name its name; null to have one chosen
	 * @param fromTurn the first turn that it does not have; null to begin at the end
	 */
	record NewBranch(@Nullable String name, @Nullable Long fromTurn) {

		Branch make(Conversation thread) {
			if (this.name == null) {
				if (this.fromTurn == null) {
					throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
							"There is no \"name\". Write one, or the turn from which to branch.");
				}
				return thread.branch(this.fromTurn);
			}
			String checked = this.name.strip();
			if (thread.branches().stream().anyMatch((branch) -> branch.name().equals(checked))) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
						"This thread has a branch “" + checked + "” already. Choose another name.");
			}
			return (this.fromTurn == null) ? thread.branch(checked) : thread.branch(checked, this.fromTurn);
		}

	}

	record BranchName(@Nullable String name) {

		String checked() {
			if (this.name == null) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "There is no \"name\" of a branch.");
			}
			return this.name;
		}

	}

	/**
	 * @param id the id of the new thread
	 */
	record Forked(String id) {
	}

}
