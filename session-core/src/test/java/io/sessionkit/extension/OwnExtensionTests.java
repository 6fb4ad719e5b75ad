package io.sessionkit.extension;

import java.util.List;
import java.util.regex.Pattern;

import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalFixture;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A merge, a hook that changes the history, a guard and a store that know no more than
 * the documentation says do what they are written for.
 */
class OwnExtensionTests extends ApprovalFixture {

	private static final String[] LOOK = { "assistant look({\"id\":1})", "tool look=done {\"id\":1}" };

	private static final String CUT = "tool look=done (truncated)...";

	private final SessionStore store = TestStores.FILE.create();

	@Override
	protected SessionStore store() {
		return this.store;
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void turnsWithTheKeywordAreSentBesideTheNewest(ClientSetup setup) {
		threads((threads) -> threads.merge(new KeywordTurns("order", 1)));
		this.model.calls(look("c1", 1)).says("your order is here").says("fine").says("bye");
		ask(setup, "where is it?");
		for (String question : List.of("thanks", "and now?")) {
			ask(setup, question);
		}
		this.model.calls(look("c1", 1)).says("there");
		ask(setup, "again?");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: where is it?", LOOK[0], LOOK[1],
				"assistant: your order is here", "user: and now?", "assistant: bye", "user: again?", LOOK[0], LOOK[1]));
		assertThat(log()).hasSize(12).endsWith("user: again?", LOOK[0], LOOK[1], "assistant: there");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void historyIsShownBrieflyAndResultsAreKeptShortened(ClientSetup setup) {
		threads((threads) -> threads.hooks(new BriefHistory(4, 4)));
		this.model.calls(look("c1", 1)).says("a long reply").calls(look("c1", 1)).says("fine");
		ask(setup, "q1");
		assertThat(this.model.lastRequestLines()).as("the turn itself is whole")
			.isEqualTo(setup.lines("user: q1", LOOK[0], LOOK[1]));
		assertThat(log()).containsExactly("user: q1", LOOK[0], CUT, "assistant: a long reply");
		ask(setup, "q2");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q1", "assistant: a lo (truncated)...", "user: q2", LOOK[0], LOOK[1]));
		assertThat(log()).hasSize(8).endsWith("user: q2", LOOK[0], CUT, "assistant: fine");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void turnThatWaitsGoesOnWithWhatWasKeptOfIt(ClientSetup setup) {
		threads((threads) -> threads.hooks(new BriefHistory(4, 4)));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("a long reply");
		assertThat(isPaused(ask(setup, "q"))).isTrue();
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.model.lastRequestLines()).isEqualTo(
				setup.lines("user: q", LOOK[0], CUT, "assistant cancel({\"id\":2})", "tool cancel=done {\"id\":2}"));
		assertThat(log()).containsExactly("user: q", LOOK[0], CUT, "assistant cancel({\"id\":2})",
				"tool cancel=done (truncated)...", "assistant: a long reply");
	}

	@Test
	void hookThatWithholdsNothingLeavesStreamsLive() {
		threads((threads) -> threads.hooks(new BriefHistory(4, 4)));
		this.model.says("a long reply");
		List<String> chunks = client(ClientSetup.streaming()).build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key))
			.stream()
			.content()
			.filter((chunk) -> !chunk.isEmpty())
			.collectList()
			.block();
		assertThat(chunks).hasSizeGreaterThan(1);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void allOfThemGoTogether(ClientSetup setup) {
		threads((threads) -> threads.merge(new KeywordTurns("order", 1))
			.hooks(AccountNumbers.answer(Pattern.compile("\\d{10}"), "No numbers, please."), new BriefHistory(8, 4)));
		this.store.add(this.key, List.of(new UserMessage("my order"), new AssistantMessage("is on its way")));
		this.store.add(this.key, List.of(new UserMessage("hello"), new AssistantMessage("hello")));
		ask(setup, "I am 0123456789");
		this.model.calls(look("c1", 1)).says("to 0123456789");
		ask(setup, "where to?");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: my order", "assistant: is on it (truncated)...", "user: I am [account]",
					"assistant: No numbe (truncated)...", "user: where to?", LOOK[0], LOOK[1]));
		assertThat(log()).containsExactly("user: my order", "assistant: is on its way", "user: hello",
				"assistant: hello", "user: I am [account]", "assistant: No numbers, please.", "user: where to?",
				LOOK[0], CUT, "assistant: No numbers, please.");
	}

}
