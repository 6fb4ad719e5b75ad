package io.sessionkit.conversation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * This process and another one talk on the same threads, on one store.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class TwoProcesses {

	private static final int ROUNDS = 30;

	private static final int TURNS_IN_A_HURRY = 60;

	private final SharedStore shared;

	private final SessionStore store;

	private final Conversations conversations;

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat;

	private OtherProcess other;

	TwoProcesses(SharedStore shared) {
		this.shared = shared;
		this.store = shared.open();
		this.conversations = Conversations.builder(this.store).build();
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(this.conversations))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
	}

	@BeforeAll
	void start() {
		this.other = OtherProcess.start(this.shared);
	}

	@AfterAll
	void end() {
		this.other.close();
	}

	@Test
	void eachContinuesTheThreadOfTheOther() {
		SessionKey key = newKey();
		List<String> said = new ArrayList<>();
		for (int round = 0; round < 4; round++) {
			String question = "theirs" + round;
			this.other.tell("ask " + key.id() + " " + question);
			said.add("user: " + question);
			this.other.hear("called " + String.join("|", said));
			this.other.tell("go");
			said.add("assistant: answer-to-" + question);
			this.other.hear("stored");

			this.model.says("answer" + round);
			assertThat(ask(key, "ours" + round)).isEqualTo("stored");
			said.add("user: ours" + round);
			assertThat(this.model.lastRequestLines()).isEqualTo(said);
			said.add("assistant: answer" + round);
		}
		assertThat(log(key)).isEqualTo(said);
	}

	/**
	 * Both have opened the same version when they commit.
	 */
	@Test
	void ofTwoWhoAnswerTheSameVersionOneWins() {
		SessionKey key = newKey();
		List<String> said = new ArrayList<>();
		for (int round = 0; round < ROUNDS; round++) {
			Race race = Race.values()[round % Race.values().length];
			Results results = race(key, race, "q" + round);
			if (race != Race.OPEN) {
				assertThat(results.ours().equals("stored")).isEqualTo(race == Race.WE_FIRST);
			}
			if (results.ours().equals("stored")) {
				assertThat(results.theirs()).isEqualTo("conflict answer-to-q" + round);
				said.addAll(List.of("user: q" + round, "assistant: ours"));
			}
			else {
				assertThat(results).isEqualTo(new Results("conflict ours", "stored"));
				said.addAll(List.of("user: q" + round, "assistant: answer-to-q" + round));
			}
		}
		assertThat(log(key)).isEqualTo(said);
		assertThat(turns(key)).extracting(Turn::number)
			.containsExactlyElementsOf(LongStream.rangeClosed(1, 2 * ROUNDS).boxed().toList());
		assertThat(turns(key)).filteredOn((turn) -> turn.status() == TurnStatus.COMPLETED).hasSize(ROUNDS);
		assertThatTheNextRequestIs(key, said);
	}

	private Results race(SessionKey key, Race race, String question) {
		this.other.tell("ask " + key.id() + " " + question);
		assertThat(this.other.hear()).startsWith("called ");
		List<String> theirs = new ArrayList<>();
		this.model.step((prompt) -> {
			if (race != Race.WE_FIRST) {
				this.other.tell("go");
			}
			if (race == Race.THEY_FIRST) {
				theirs.add(this.other.hear());
			}
			return Flux.just(this.model.chunk("ours", List.of(), true));
		});
		String ours = ask(key, question);
		if (race == Race.WE_FIRST) {
			this.other.tell("go");
		}
		return new Results(ours, theirs.isEmpty() ? this.other.hear() : theirs.get(0));
	}

	@Test
	void nothingIsLostOrDoubledWhereBothWriteAsFastAsTheyCan() {
		SessionKey key = newKey();
		this.other.tell("hurry " + key.id() + " theirs " + TURNS_IN_A_HURRY);
		List<String> stored = new ArrayList<>();
		for (int attempt = 1; stored.size() < TURNS_IN_A_HURRY; attempt++) {
			this.model.says("answer");
			if (ask(key, "ours" + attempt).equals("stored")) {
				stored.add("user: ours" + attempt);
			}
		}
		for (int i = 0; i < TURNS_IN_A_HURRY; i++) {
			stored.add("user: " + this.other.hear().substring("stored ".length()));
		}
		List<String> log = log(key);
		assertThat(log).hasSize(2 * stored.size());
		assertThat(log).filteredOn((line) -> line.startsWith("user")).containsExactlyInAnyOrderElementsOf(stored);
		assertThat(turns(key)).extracting(Turn::number).doesNotHaveDuplicates();
		assertThatTheNextRequestIs(key, log);
	}

	@Test
	void processThatIsKilledWhileTheModelRunsLeavesTheThreadAsItWas() {
		SessionKey key = newKey();
		this.model.says("answer");
		ask(key, "before");
		List<String> said = log(key);
		try (OtherProcess killed = OtherProcess.start(this.shared)) {
			killed.tell("ask " + key.id() + " lost");
			assertThat(killed.hear()).isEqualTo("called user: before|assistant: answer|user: lost");
		}
		assertThat(log(key)).isEqualTo(said).hasSize(2);
		assertThatTheNextRequestIs(key, said);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 15 })
	void processThatIsKilledInABurstOfCommitsLeavesWholeTurns(int turns) {
		SessionKey key = newKey();
		int acknowledged = turns;
		try (OtherProcess killed = OtherProcess.start(this.shared)) {
			killed.tell("burst " + key.id());
			for (int turn = 0; turn < turns; turn++) {
				killed.hear("stored");
			}
			acknowledged += killed.kill().size();
		}
		awaitNoMoreCommits(key);
		List<Turn> stored = turns(key);
		assertThat(stored).hasSizeBetween(acknowledged, acknowledged + 1)
			.allSatisfy((turn) -> assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED));
		assertThat(stored).extracting(Turn::number)
			.containsExactlyElementsOf(LongStream.rangeClosed(1, stored.size()).boxed().toList());
		assertThat(stored).allSatisfy((turn) -> assertThat(lines(key, turn)).containsExactly("user: q" + turn.number(),
				"assistant t({\"value\":\"x\"})", "tool t=x", "assistant: long"));
		assertThatTheNextRequestIs(key, log(key));
	}

	/** A server may still work on what a process that is dead has sent. */
	private void awaitNoMoreCommits(SessionKey key) {
		List<Integer> counts = new ArrayList<>();
		await().during(Duration.ofMillis(500)).until(() -> {
			counts.add(turns(key).size());
			return counts.get(counts.size() - 1).equals(counts.get(Math.max(0, counts.size() - 2)));
		});
	}

	private void assertThatTheNextRequestIs(SessionKey key, List<String> history) {
		this.model.says("answer");
		assertThat(ask(key, "next")).isEqualTo("stored");
		assertThat(ValidSequence.faults(this.model.lastRequest())).isEmpty();
		assertThat(this.model.lastRequestLines())
			.isEqualTo(Stream.concat(history.stream(), Stream.of("user: next")).toList());
	}

	private String ask(SessionKey key, String question) {
		try {
			this.chat.prompt().user(question).advisors(SessionAdvisor.session(key)).call().content();
			return "stored";
		}
		catch (SessionConflictException ex) {
			assertThat(ex.reply()).isNotNull();
			return "conflict " + ex.reply().getResult().getOutput().getText();
		}
	}

	private List<String> log(SessionKey key) {
		return Lines.of(this.store.messages(key));
	}

	private List<Turn> turns(SessionKey key) {
		return conversation(key).turns(Tail.ALL);
	}

	private List<String> lines(SessionKey key, Turn turn) {
		return Lines.of(conversation(key).items(turn.number()).stream().<Message>map(SessionItem::message).toList())
			.stream()
			.map((line) -> line.replace(TalkingProcess.LONG_ANSWER, "long"))
			.toList();
	}

	private Conversation conversation(SessionKey key) {
		return this.conversations.get(key);
	}

	private static SessionKey newKey() {
		return SessionKey.of(UUID.randomUUID().toString());
	}

	private enum Race {

		OPEN, THEY_FIRST, WE_FIRST

	}

	private record Results(String ours, String theirs) {
	}

}
