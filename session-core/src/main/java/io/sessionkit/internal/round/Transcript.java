package io.sessionkit.internal.round;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.sessionkit.Round;
import io.sessionkit.TokenUsage;
import io.sessionkit.internal.message.Replies;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.model.tool.ToolCallLimitExceededException;
import org.springframework.ai.model.tool.ToolExecutionResult;

/**
 * Records what happens between the question and the end of the tool loop, each message
 * once. It relies on just two facts: a request with a new tool message, while calls are
 * unanswered, brings their results; any other request, after something was recorded,
 * means that the loop was restarted from outside. So it does not matter whether the tool
 * advisor forwards all messages of the turn or only the newest.
 * <p>
 * Not safe for use by many threads: {@link Rounds} locks.
 */
public final class Transcript {

	/** The answer to a call that the loop did not reach. */
	static final String NOT_RUN = "Not run: the tool loop had ended before.";

	private static final String TOOL_ID = "toolId";

	private static final String TOOL_NAME = "toolName";

	/**
	 * A message and the time at which it arrived.
	 */
	public record Entry(Message message, Instant at) {
	}

	/**
	 * The recorded content of a turn after its input, at one moment.
	 *
	 * @param entries the messages
	 * @param rounds one entry for each answer of the model
	 * @param answered whether there is an answer
	 * @param reply the message that is the answer; null if there is none
	 */
	public record Recording(List<Entry> entries, List<Round> rounds, boolean answered, @Nullable Message reply) {

		/**
		 * Returns the messages without the first ones.
		 */
		public List<Entry> entriesFrom(int index) {
			return this.entries.subList(Math.min(index, this.entries.size()), this.entries.size());
		}

	}

	private final Supplier<Instant> now;

	private final UnaryOperator<Message> storable;

	private final List<Entry> entries = new ArrayList<>();

	private final List<Round> rounds = new ArrayList<>();

	private final List<Message> news = new ArrayList<>();

	private List<Message> firstRequest = List.of();

	private @Nullable AssistantMessage unanswered;

	private boolean answered;

	/** The message that answers the turn; null if there is none. */
	private @Nullable Message reply;

	public Transcript(Supplier<Instant> now, UnaryOperator<Message> storable) {
		this.now = now;
		this.storable = storable;
	}

	/**
	 * Records what a request contains before the model is called with it.
	 * @param request the messages that the tool advisor forwards
	 * @return the whole request, including the messages of the turn
	 */
	List<Message> beforeRound(List<Message> request) {
		ToolResponseMessage results = (this.unanswered != null) ? results(request, this.unanswered) : null;
		if (results != null) {
			add(results);
			this.unanswered = null;
		}
		else if (!this.entries.isEmpty() && !isRepetition(request)) {
			restart();
		}
		if (this.entries.isEmpty()) {
			this.firstRequest = List.copyOf(request);
			return request;
		}
		return whole(request);
	}

	/**
	 * Returns the whole request for the messages that the tool advisor forwards.
	 */
	List<Message> whole(List<Message> request) {
		if (request.size() >= this.firstRequest.size() + this.entries.size()) {
			return request;
		}
		List<Message> whole = new ArrayList<>(this.firstRequest);
		this.entries.forEach((entry) -> whole.add(entry.message()));
		return whole;
	}

	/**
	 * Returns whether the request was made before and the model has not answered it: an
	 * advisor inside the loop tries once more.
	 */
	private boolean isRepetition(List<Message> request) {
		if (this.unanswered != null || this.answered || request.isEmpty()) {
			return false;
		}
		Message newest = this.entries.stream()
			.map(Entry::message)
			.filter((message) -> !(message instanceof UserMessage))
			.reduce((before, last) -> last)
			.orElse(null);
		if (!(newest instanceof ToolResponseMessage) || endsAsTheFirst(request)) {
			return false;
		}
		return newest.equals(request.get(request.size() - 1))
				|| request.subList(newPart(request), request.size()).contains(newest);
	}

	/**
	 * Returns the results that a request brings: its last message or, if another advisor
	 * has put something after them, the message that follows the calls in the new part of
	 * the request.
	 */
	private @Nullable ToolResponseMessage results(List<Message> request, AssistantMessage calls) {
		if (!request.isEmpty() && request.get(request.size() - 1) instanceof ToolResponseMessage results
				&& !endsAsTheFirst(request)) {
			return results;
		}
		for (int i = request.size() - 1; i > newPart(request); i--) {
			if (request.get(i) instanceof ToolResponseMessage results
					&& request.get(i - 1) instanceof AssistantMessage before
					&& before.getToolCalls().equals(calls.getToolCalls())) {
				return results;
			}
		}
		return null;
	}

	/**
	 * Returns whether this can be the first request once more, whose input ends with
	 * results of its own. What brings new results is longer, or the newest message alone.
	 */
	private boolean endsAsTheFirst(List<Message> request) {
		int size = this.firstRequest.size();
		return request.size() == size && request.get(size - 1).equals(this.firstRequest.get(size - 1));
	}

	/**
	 * Returns the index at which the messages begin that the first request did not have.
	 * It is not the size of that request, since another advisor may put something at the
	 * end of every request. Messages are compared by value, since advisors may copy them.
	 */
	private int newPart(List<Message> request) {
		if (request.size() <= this.firstRequest.size()) {
			return request.size();
		}
		int index = 0;
		while (index < this.firstRequest.size() && request.get(index).equals(this.firstRequest.get(index))) {
			index++;
		}
		return index;
	}

	/**
	 * Records a reply of the model.
	 * @param reply the reply that the tool loop follows
	 */
	void afterRound(AssistantMessage reply, @Nullable String model, TokenUsage usage) {
		round(model, usage);
		said(reply);
	}

	/**
	 * Records a model call that was answered, whether or not the reply becomes part of
	 * the turn.
	 */
	void round(@Nullable String model, TokenUsage usage) {
		this.rounds.add(new Round(model, usage));
	}

	/**
	 * Makes a reply of the model part of the turn, unless nothing of it can be stored.
	 * @param reply the reply that the tool loop follows
	 */
	void said(AssistantMessage reply) {
		Entry entry = spoken(reply);
		if (entry == null) {
			return;
		}
		add(entry);
		if (reply.hasToolCalls()) {
			this.unanswered = reply;
		}
		else {
			endWithNewest();
		}
	}

	/**
	 * Records the answer that a hook gave instead of the model, or that was cut short.
	 */
	void answer(AssistantMessage reply) {
		add(reply);
		endWithNewest();
	}

	/**
	 * Records further messages of the caller, after the results that are there.
	 */
	void asked(List<Message> messages) {
		messages.forEach(this::add);
	}

	/**
	 * Records the answers to the calls of the newest reply. The turn ends with them.
	 */
	void answered(List<ToolResponse> results, Map<String, Object> metadata) {
		add(ToolResponseMessage.builder().responses(results).metadata(metadata).build());
		this.unanswered = null;
		endWithNewest();
	}

	/**
	 * Returns whether nothing has been said in this run of the loop.
	 */
	boolean isEmpty() {
		return this.entries.isEmpty();
	}

	/**
	 * Returns whether tools are called and their results have not arrived.
	 */
	boolean awaitsResults() {
		return this.unanswered != null;
	}

	/**
	 * Ends the loop.
	 * @param generations what the loop returned to the caller
	 */
	void afterLoop(List<Generation> generations) {
		if (this.unanswered == null) {
			takeForeignAnswer(generations);
			return;
		}
		if (generations.stream().anyMatch((generation) -> generation.getOutput().hasToolCalls())) {
			// the loop runs no tools here: the application does, and sends the results
			// as the input of the next turn
			endWithNewest();
			return;
		}
		List<ToolResponse> results = resultsWithoutRound(generations);
		List<ToolCall> calls = this.unanswered.getToolCalls();
		for (int i = results.size(); i < calls.size(); i++) {
			results.add(new ToolResponse(calls.get(i).id(), calls.get(i).name(), NOT_RUN));
		}
		answered(results, Map.of());
	}

	/**
	 * Records what was said before the turn ended.
	 */
	void partial(AssistantMessage message) {
		Entry entry = spoken(message);
		if (entry != null) {
			this.entries.add(entry);
		}
	}

	boolean isAnswered() {
		return this.answered;
	}

	Recording recording() {
		return new Recording(entries(), rounds(), this.answered, this.reply);
	}

	private void endWithNewest() {
		this.answered = true;
		this.reply = this.entries.get(this.entries.size() - 1).message();
	}

	List<Entry> entries() {
		return List.copyOf(this.entries);
	}

	/**
	 * Returns the messages that have become part of the turn since the last call.
	 */
	List<Message> drainNews() {
		List<Message> drained = List.copyOf(this.news);
		this.news.clear();
		return drained;
	}

	List<Round> rounds() {
		return List.copyOf(this.rounds);
	}

	private void add(Message message) {
		add(entry(message));
	}

	private void add(Entry entry) {
		this.entries.add(entry);
		this.news.add(entry.message());
	}

	/**
	 * Returns the entry of a reply; null if it contains nothing that could be used, or
	 * nothing such that could be stored.
	 */
	private @Nullable Entry spoken(AssistantMessage reply) {
		Entry entry = Replies.isBlank(reply) ? null : entry(reply);
		boolean isLost = entry != null && entry.message() instanceof AssistantMessage kept && Replies.isBlank(kept);
		return isLost ? null : entry;
	}

	private Entry entry(Message message) {
		return new Entry(this.storable.apply(message), this.now.get());
	}

	private void restart() {
		this.entries.clear();
		this.unanswered = null;
		this.answered = false;
		this.reply = null;
	}

	/**
	 * Records the answer of an advisor inside ours, for example a cache, that has
	 * answered without calling the model.
	 */
	private void takeForeignAnswer(List<Generation> generations) {
		Generation chosen = Replies.chosen(generations);
		if (this.answered || !this.rounds.isEmpty() || chosen == null) {
			return;
		}
		Entry entry = spoken(Replies.said(chosen.getOutput()));
		if (entry != null) {
			add(entry);
			endWithNewest();
		}
	}

	/**
	 * Returns the results that no model call followed: those of tools that return to the
	 * caller directly, or those that were there when a limit ended the loop.
	 */
	private List<ToolResponse> resultsWithoutRound(List<Generation> generations) {
		String reason = generations.isEmpty() ? null : generations.get(0).getMetadata().getFinishReason();
		if (ToolExecutionResult.FINISH_REASON.equals(reason)) {
			return direct(generations);
		}
		if (ToolCallLimitExceededException.FINISH_REASON.equals(reason)) {
			return limited(generations.get(0));
		}
		return new ArrayList<>();
	}

	private static List<ToolResponse> direct(List<Generation> generations) {
		List<ToolResponse> results = new ArrayList<>();
		for (Generation generation : generations) {
			String id = generation.getMetadata().get(TOOL_ID);
			String name = generation.getMetadata().get(TOOL_NAME);
			String text = generation.getOutput().getText();
			results
				.add(new ToolResponse((id != null) ? id : "", (name != null) ? name : "", (text != null) ? text : ""));
		}
		return results;
	}

	private List<ToolResponse> limited(Generation generation) {
		List<ToolResponse> results = new ArrayList<>();
		List<ToolResponse> partial = generation.getMetadata()
			.get(ToolCallLimitExceededException.METADATA_PARTIAL_TOOL_RESPONSES);
		if (partial != null) {
			results.addAll(partial);
		}
		List<ToolCall> calls = (this.unanswered != null) ? this.unanswered.getToolCalls() : List.of();
		if (results.size() < calls.size()) {
			ToolCall refused = calls.get(results.size());
			String text = generation.getOutput().getText();
			results.add(new ToolResponse(refused.id(), refused.name(), (text != null) ? text : NOT_RUN));
		}
		return results;
	}

}
