package io.sessionkit.conversation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Retention;
import io.sessionkit.context.Trim;
import io.sessionkit.store.Commit;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the cost of a move on a store, on threads of any length: round trips, and what is
 * written.
 */
public abstract class MoveCosts {

	private static final List<Integer> LENGTHS = List.of(10, 1_000, 4_000);

	private static final int TOGETHER = 500;

	private final ScriptedChatModel model = new ScriptedChatModel();

	protected abstract SessionStore store();

	/** Returns the round trips so far. */
	protected abstract long roundTrips();

	/** Returns how much was written so far, as the server counts it. */
	protected abstract long writes();

	@Test
	void movesTakeTwoRoundTripsAndWriteTheSameOnAnyThread() {
		Conversations conversations = Conversations.of(store());
		ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		cost(conversations, chat, SessionKey.of("owner", "warm"), 3);
		List<Map<String, List<Long>>> costs = new ArrayList<>();
		for (int length : LENGTHS) {
			costs.add(cost(conversations, chat, SessionKey.of("owner", "t" + length), length));
		}
		System.out.println("round trips and writes of moves: " + costs);
		assertThat(costs).allSatisfy((cost) -> {
			for (String move : List.of("undo", "branch", "switch", "edit", "turn")) {
				assertThat(cost.get(move).get(0)).as(move).isEqualTo(2);
			}
			assertThat(cost).isEqualTo(costs.get(0));
		});
	}

	private Map<String, List<Long>> cost(Conversations conversations, ChatClient chat, SessionKey key, int length) {
		for (int i = 0; i < length; i += TOGETHER) {
			List<TurnWrite> turns = new ArrayList<>();
			for (int j = i; j < Math.min(length, i + TOGETHER); j++) {
				turns.add(SessionStoreFixture.completed("q" + j, "a" + j));
			}
			store().commit(Commit.any(key).turns(turns));
		}
		Conversation thread = conversations.get(key);
		Map<String, List<Long>> costs = new HashMap<>();
		// the first ones note their kinds of records in the indexes of the owner
		thread.undo(1);
		thread.redo(1);
		thread.branch("first");
		thread.switchTo("main");
		costs.put("undo", counted(() -> thread.undo(1)));
		thread.redo(1);
		costs.put("branch", counted(() -> thread.branch("idea", length)));
		costs.put("switch", counted(() -> thread.switchTo("main")));
		this.model.says("edited");
		costs.put("edit",
				counted(() -> chat.prompt()
					.user("q")
					.advisors(SessionAdvisor.session(key).andThen(SessionAdvisor.editing(length)))
					.call()
					.content()));
		this.model.says("answer");
		costs.put("turn",
				counted(() -> chat.prompt().user("q").advisors(SessionAdvisor.session(key)).call().content()));
		return costs;
	}

	@Test
	void retentionTakesAtMostOneMoreRoundTripForEachHundredTurns() {
		int turns = 2 * Retention.DEFAULT_BATCH;
		Retention retention = Retention.keepLastTurns(100).maxAge(Duration.ofDays(1));
		Conversations conversations = Conversations.builder(store())
			.retention(retention)
			.trim(Trim.keepLastTurns(5))
			.build();
		ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		SessionKey key = SessionKey.of("owner", "retained");
		for (int i = 0; i < 3; i++) {
			this.model.says("first");
			chat.prompt().user("q").advisors(SessionAdvisor.session(key)).call().content();
		}
		long before = roundTrips();
		for (int i = 0; i < turns; i++) {
			this.model.says("answer");
			chat.prompt().user("q").advisors(SessionAdvisor.session(key)).call().content();
		}
		long more = roundTrips() - before - 2L * turns;
		System.out.println("round trips of retention in " + turns + " turns: " + more);
		assertThat(more).isBetween(1L, turns / 100L);
		assertThat(store().find(key).orElseThrow().totals().turns()).isLessThan(100 + Retention.DEFAULT_BATCH);
	}

	private List<Long> counted(Runnable move) {
		long written = writes();
		// a pool checks a connection that was idle while the rows were counted
		store().find(SessionKey.of("owner", "warm"));
		long before = roundTrips();
		move.run();
		return List.of(roundTrips() - before, writes() - written);
	}

}
