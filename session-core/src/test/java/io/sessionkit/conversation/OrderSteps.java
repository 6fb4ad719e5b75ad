package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

import io.sessionkit.Concurrency;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.test.ScriptedChatModel;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The steps of a {@link TimeProgram} in which several calls meet on the session, or one
 * is made again.
 */
final class OrderSteps {

	private final TimeProgram program;

	private final ScriptedChatModel chatModel;

	private final Random random;

	OrderSteps(TimeProgram program, ScriptedChatModel chatModel, Random random) {
		this.program = program;
		this.chatModel = chatModel;
		this.random = random;
	}

	void step() {
		switch (this.random.nextInt(3)) {
			case 0 -> repeat();
			case 1 -> await(2 + this.random.nextInt(2));
			default -> reject();
		}
	}

	/** A request that is made again gets the same turn, and is not paid for. */
	private void repeat() {
		String question = this.program.question("ask twice ");
		Consumer<AdvisorSpec> named = SessionAdvisor.idempotencyKey(UUID.randomUUID().toString());
		int before = requests();
		this.chatModel.step(this::answer);
		ChatResponse first = call(question, named.andThen(SessionAdvisor.concurrency(any())));
		ChatResponse again = call(question, named.andThen(SessionAdvisor.concurrency(any())));
		assertThat(SessionAdvisor.isRepeated(first)).isFalse();
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(number(again)).isEqualTo(number(first));
		assertThat(again.getResult().getOutput().getText()).isEqualTo(first.getResult().getOutput().getText());
		answered(before, 1);
	}

	/** Calls that wait for each other are answered one after the other. */
	private void await(int calls) {
		int before = requests();
		List<CompletableFuture<ChatResponse>> running = new ArrayList<>();
		for (int i = 0; i < calls; i++) {
			String question = this.program.question("ask at once ");
			this.chatModel.step(this::answer);
			running.add(beside(question, SessionAdvisor.concurrency(Concurrency.SERIALIZE)));
		}
		List<Long> numbers = running.stream().map(CompletableFuture::join).map(OrderSteps::number).toList();
		assertThat(numbers).doesNotHaveDuplicates();
		answered(before, calls);
	}

	/** A call that does not wait changes nothing while another one works. */
	private void reject() {
		String question = this.program.question("ask while ");
		String late = this.program.question("a call works ");
		int before = requests();
		this.chatModel.step((prompt) -> {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> beside(late, SessionAdvisor.concurrency(Concurrency.REJECT)).join())
				.withCauseInstanceOf(TurnInProgressException.class);
			return answer(prompt);
		});
		call(question,
				SessionAdvisor.concurrency(this.random.nextBoolean() ? Concurrency.REJECT : Concurrency.SERIALIZE));
		answered(before, 1);
	}

	private CompletableFuture<ChatResponse> beside(String question, Consumer<AdvisorSpec> advisors) {
		return CompletableFuture.supplyAsync(() -> call(question, advisors));
	}

	private ChatResponse call(String question, Consumer<AdvisorSpec> advisors) {
		return this.program.asked(question, advisors).call().chatResponse();
	}

	private Flux<ChatResponse> answer(Prompt prompt) {
		return Flux.just(this.chatModel.chunk(answerTo(question(prompt)), List.of(), true));
	}

	private static String answerTo(String question) {
		return "a" + question.substring(1);
	}

	private static String question(Prompt prompt) {
		return prompt.getInstructions().get(prompt.getInstructions().size() - 1).getText();
	}

	/** Checks what calls have sent that were answered one after the other. */
	private void answered(int before, int calls) {
		assertThat(requests()).isEqualTo(before + calls);
		for (Prompt prompt : this.chatModel.prompts().subList(before, before + calls)) {
			this.program.answered(prompt, question(prompt), answerTo(question(prompt)));
		}
	}

	private int requests() {
		return this.chatModel.prompts().size();
	}

	private Concurrency any() {
		Concurrency[] all = Concurrency.values();
		return all[this.random.nextInt(all.length)];
	}

	private static long number(ChatResponse response) {
		return SessionAdvisor.turn(response).orElseThrow().turn().number();
	}

}
