package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.sessionkit.Concurrency;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.advisor.ChildSession;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.test.ScriptedChatModel;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The steps of a {@link TimeProgram} in which several calls meet on the session, one is
 * made again, brings a history, only reads, or has a session of its own.
 */
final class OrderSteps {

	private final TimeProgram program;

	private final ScriptedChatModel chatModel;

	private final Random random;

	/** The texts of the child session. */
	private final List<String> child = new ArrayList<>();

	OrderSteps(TimeProgram program, ScriptedChatModel chatModel, Random random) {
		this.program = program;
		this.chatModel = chatModel;
		this.random = random;
	}

	void step() {
		switch (this.random.nextInt(9)) {
			case 0 -> repeat();
			case 1 -> await(2 + this.random.nextInt(2));
			case 2 -> reject();
			case 3 -> read();
			case 4 -> override();
			case 5 -> use();
			case 6 -> replace();
			case 7 -> steer();
			default -> child();
		}
	}

	/** A message that arrives while a turn runs joins it before its next model call. */
	private void steer() {
		String question = this.program.question("ask ");
		String late = this.program.question("steer with ");
		Consumer<AdvisorSpec> steering = SessionAdvisor.concurrency(Concurrency.STEER);
		AtomicReference<CompletableFuture<ChatResponse>> joining = new AtomicReference<>();
		this.chatModel.step((prompt) -> {
			this.program.sent(prompt.getInstructions(), question);
			joining.set(beside(late, steering));
			this.program.awaitInLine(2);
			return Flux.just(this.chatModel.chunk("", List.of(this.program.look(question)), true));
		});
		this.chatModel.step(this::answer);
		ChatResponse first = call(question, steering);
		ChatResponse joined = joining.get().join();
		assertThat(SessionAdvisor.isSteered(first)).isFalse();
		assertThat(SessionAdvisor.isSteered(joined)).isTrue();
		assertThat(number(joined)).isEqualTo(number(first));
		assertThat(question(this.chatModel.prompts().get(requests() - 1))).isEqualTo(late);
		this.program.addedAsStored(number(first), List.of(question, late, answerTo(late)));
	}

	/** A call that only reads is sent the history, and leaves it as it is. */
	private void read() {
		String question = this.program.question("read ");
		this.chatModel.step(this::answer);
		ChatResponse response = call(question, SessionAdvisor.reading());
		assertThat(SessionAdvisor.turn(response)).isEmpty();
		this.program.sent(this.chatModel.lastRequest(), question);
	}

	/** A call that brings its history leaves that of the session as it is. */
	private void override() {
		String question = this.program.question("override ");
		this.chatModel.step(this::answer);
		ChatResponse response = call(question, SessionAdvisor.history(history(question)));
		assertThat(SessionAdvisor.turn(response)).isEmpty();
		sentGiven(question);
	}

	private void use() {
		String question = this.program.question("use ");
		this.chatModel.step(this::answer);
		ChatResponse response = call(question,
				SessionAdvisor.history(history(question), HistoryPolicy.USE_IF_PROVIDED));
		sentGiven(question);
		this.program.snapshot(number(response), texts(history(question)));
		this.program.added(texts(history(question)), List.of(question, answerTo(question)));
	}

	private void replace() {
		if (this.program.isGone()) {
			return;
		}
		String question = this.program.question("replace ");
		boolean fails = this.random.nextInt(4) == 0;
		Consumer<AdvisorSpec> history = SessionAdvisor.history(history(question), HistoryPolicy.REPLACE_SESSION);
		if (fails) {
			this.chatModel.fails(new IllegalStateException("down"));
			assertThatThrownBy(() -> call(question, history)).isInstanceOf(IllegalStateException.class);
			this.program.failed(texts(history(question)), question);
		}
		else {
			this.chatModel.step(this::answer);
			ChatResponse response = call(question, history);
			this.program.snapshot(number(response), texts(history(question)));
			this.program.replaced(texts(history(question)), List.of(question, answerTo(question)));
		}
		sentGiven(question);
	}

	/** A child has a history of its own, to which that of its parent may be added. */
	private void child() {
		String question = this.program.question("child ");
		boolean reads = this.random.nextBoolean();
		boolean stays = this.random.nextInt(3) > 0;
		ChildSession child = ChildSession.of("helper");
		child = reads ? child.readingParent() : child;
		this.chatModel.step(this::answer);
		if (stays) {
			call(question, SessionAdvisor.child(child));
			this.program.sentInChild(this.chatModel.lastRequest(), this.child, question, reads);
			this.child.addAll(List.of(question, answerTo(question)));
		}
		else {
			this.program.eraseChildren();
			this.child.clear();
			call(question, SessionAdvisor.child(child));
			this.program.sentInChild(this.chatModel.lastRequest(), this.child, question, reads);
			this.program.eraseChildren();
		}
	}

	private static List<Message> history(String question) {
		return List.of(new UserMessage("g" + question), new AssistantMessage("r" + question.substring(1)));
	}

	private static List<String> texts(List<Message> messages) {
		return messages.stream().map(Message::getText).toList();
	}

	private void sentGiven(String question) {
		List<String> expected = new ArrayList<>(texts(history(question)));
		expected.add(question);
		assertThat(texts(this.chatModel.lastRequest())).as("request").isEqualTo(expected);
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
		this.program.answered(this.chatModel.prompts().subList(before, before + calls),
				(prompt) -> List.of(question(prompt), answerTo(question(prompt))));
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
