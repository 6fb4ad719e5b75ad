package io.sessionkit.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.CommitResult.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A view is what is stored, whoever has written it. A store may keep the views that it
 * has read or written last; nobody can tell.
 */
abstract class ViewContract extends ClockContract {

	private static final List<Window> WINDOWS = List.of(Window.ALL, Window.turns(3), Window.items(5), new Window(4, 7));

	/**
	 * A change by another process to a session of seven turns with a summary of the first
	 * two.
	 */
	enum Change {

		TURN {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header).turn(SessionStoreFixture.completed("q", "a")));
			}

		},

		TURN_OF_ANY_SESSION {

			@Override
			void make(SessionStore store, Session header) {
				store.add(header.key(), List.of(new UserMessage("added"), new AssistantMessage("yes")));
			}

		},

		TURN_WITHOUT_ITEMS {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header).turn(SessionStoreFixture.completed()));
			}

		},

		FAILED_TURN {

			@Override
			void make(SessionStore store, Session header) {
				store
					.commit(Commit.on(header).turn(SessionStoreFixture.turn(TurnStatus.FAILED, header.head(), "lost")));
			}

		},

		TURN_AFTER_A_FAILED_ONE {

			@Override
			void make(SessionStore store, Session header) {
				FAILED_TURN.make(store, header);
				TURN.make(store, store.find(header.key()).orElseThrow());
			}

		},

		TURN_OF_TWO_PARTS {

			@Override
			void make(SessionStore store, Session header) {
				TurnWrite first = SessionStoreFixture.turn(TurnStatus.INCOMPLETE, header.head(), "q");
				store.commit(Commit.on(header).turn(first));
				store.commit(Commit.any(header.key()).turn(SessionStoreFixture.next(first, TurnStatus.COMPLETED, "a")));
			}

		},

		POP {

			@Override
			void make(SessionStore store, Session header) {
				store.pop(header.key());
			}

		},

		DELETION {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header).delete(Set.of(header.items() - 4)));
			}

		},

		MOVE {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header).header(HeaderChange.NONE.head("other", header.head() - 2)));
			}

		},

		TURN_AFTER_A_MOVE {

			@Override
			void make(SessionStore store, Session header) {
				MOVE.make(store, header);
				TURN.make(store, store.find(header.key()).orElseThrow());
			}

		},

		MOVE_THERE_AND_BACK {

			@Override
			void make(SessionStore store, Session header) {
				MOVE.make(store, header);
				Session moved = store.find(header.key()).orElseThrow();
				store.commit(Commit.on(moved).header(HeaderChange.NONE.head(header.branch(), header.head())));
			}

		},

		SUMMARY {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header)
					.header(HeaderChange.NONE.summary(header.head() - 1, "2"))
					.records(List.of(RecordWrite.put(SessionStore.SUMMARY, "2", "a later summary"))));
			}

		},

		SUMMARY_THAT_IS_WRITTEN_AGAIN {

			@Override
			void make(SessionStore store, Session header) {
				store.put(header.key(), RecordWrite.put(SessionStore.SUMMARY, "1", "another summary"));
			}

		},

		SUMMARY_THAT_IS_DROPPED {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header).header(HeaderChange.NONE.summary(0, "1")));
			}

		},

		TITLE {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.on(header).header(HeaderChange.NONE.title("a title")));
			}

		},

		ATTRIBUTES {

			@Override
			void make(SessionStore store, Session header) {
				store.commit(Commit.any(header.key()).header(HeaderChange.NONE.attributes(Map.of("a", 1))));
			}

		},

		RECORD {

			@Override
			void make(SessionStore store, Session header) {
				store.put(header.key(), RecordWrite.put("note", "1", "there"));
			}

		},

		ERASURE {

			@Override
			void make(SessionStore store, Session header) {
				store.erase(header.key());
			}

		},

		ANOTHER_SESSION {

			@Override
			void make(SessionStore store, Session header) {
				store.erase(header.key());
				for (int i = 0; i < header.turns(); i++) {
					store.commit(Commit.any(header.key()).turn(SessionStoreFixture.completed("other q", "other a")));
				}
			}

		};

		abstract void make(SessionStore store, Session header);

	}

	@ParameterizedTest
	@EnumSource
	void viewIsWhatAnotherProcessHasWritten(Change change) {
		for (Window window : List.of(Window.ALL, new Window(4, 7))) {
			SessionKey key = key();
			summarizedThread(key);
			SessionStore other = another();
			store().open(key, window);
			commit(Commit.on(header(key)).turn(completed("q7", "a7")));
			assertSame(key, window, "written by this process");

			change.make(other, store().open(key, window).orElseThrow().session());

			assertSame(key, window, "written by the other process");
			Optional<SessionView> now = store().open(key, window);
			if (now.isPresent() && now.get().session().openTurn() == 0) {
				commit(Commit.on(now.get().session()).turn(completed("next q", "next a")));
				assertSame(key, window, "written by this process, after the other");
			}
		}
	}

	/**
	 * A view does not show that others have appended more turns than a store looks back.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 4 })
	void viewHasTheTurnsThatOthersHaveAppended(int turns) {
		boolean summarized = false;
		for (Window window : List.of(Window.ALL, Window.ALL, Window.turns(8), Window.turns(2), Window.items(3))) {
			SessionKey key = key();
			threadToAppendTo(key, summarized);
			summarized = !summarized;
			SessionStore other = another();
			for (int round = 0; round < 2; round++) {
				append(store(), key, round);
				assertSame(key, window, "round " + round + ", written by this process");
				for (int i = 0; i < turns; i++) {
					append(other, key, round + i);
				}
				assertSame(key, window, "round " + round + ", with " + turns + " turns of the other process");
			}
		}
	}

	private void threadToAppendTo(SessionKey key, boolean summarized) {
		if (summarized) {
			summarizedThread(key);
		}
		else {
			// the next turn begins a run of its own
			Session header = threadOf(key, 4);
			commit(Commit.on(header).turn(turn(TurnStatus.FAILED, header.head(), "lost")));
		}
	}

	/**
	 * Appends turns of several sizes; one has an item in a row of its own, one has none.
	 */
	private static void append(SessionStore store, SessionKey key, int number) {
		Session header = store.open(key, Window.ALL).orElseThrow().session();
		String[][] texts = { { "q", "a" }, { "q", "a", "b", "c" }, {}, { "q", "long".repeat(5_000) } };
		assertThat(store.commit(Commit.on(header).turn(completed(texts[number % 4]))).outcome())
			.isEqualTo(Outcome.COMMITTED);
	}

	/**
	 * The changes are made between turns that were appended, in front of them and behind
	 * them.
	 */
	@ParameterizedTest
	@EnumSource
	void viewIsWhatAnotherProcessHasWrittenBesideTurns(Change change) {
		int[][] turns = { { 0, 1 }, { 1, 0 }, { 1, 1 } };
		for (int[] around : turns) {
			SessionKey key = key();
			summarizedThread(key);
			SessionStore other = another();
			append(store(), key, 1);
			assertSame(key, Window.ALL, "written by this process");
			appendIfPossible(other, key, around[0]);
			change.make(other, other.open(key, Window.ALL).orElseThrow().session());
			appendIfPossible(other, key, around[1]);
			assertSame(key, Window.ALL, around[0] + " turns before and " + around[1] + " after");
		}
	}

	private static void appendIfPossible(SessionStore store, SessionKey key, int turns) {
		for (int i = 0; i < turns; i++) {
			if (store.find(key).filter((header) -> header.openTurn() == 0).isPresent()) {
				append(store, key, 1);
			}
		}
	}

	/**
	 * Six turns, of which a summary covers two.
	 */
	private void summarizedThread(SessionKey key) {
		Session header = threadOf(key, 6);
		commit(Commit.on(header)
			.header(HeaderChange.NONE.summary(2, "1"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "1", "a summary"))));
	}

	private void assertSame(SessionKey key, Window window, String when) {
		for (int i = 0; i < 2; i++) {
			assertThat(store().open(key, window)).as("%s, %s", window, when).isEqualTo(another().open(key, window));
		}
	}

	@Test
	void viewsOfLongThreadsAreThoseOfTheirWindows() {
		for (Window window : WINDOWS) {
			SessionKey key = key();
			Session header = threadOf(key, 1);
			for (int i = 2; i < 12; i++) {
				String[] texts = batch("q" + i, "a", "b", "c", "d", "e", "f", "g").stream()
					.limit(i % 7)
					.map(Message::getText)
					.toArray(String[]::new);
				commit(Commit.on(header).turn(completed(texts)));
				assertSame(key, window, "after turn " + i);
				header = store().open(key, window).orElseThrow().session();
			}
		}
	}

	@Test
	void whoIsGivenAViewCannotChangeWhatOthersAreGiven() {
		SessionKey key = key();
		commit(Commit.first(key)
			.turn(new TurnWrite(completed().turn(), 0, List.of(item(new UserMessage("q")),
					item(AssistantMessage.builder().content("a").properties(Map.of("k", List.of("v"))).build())))));
		List<SessionItem> fresh = another().open(key, Window.ALL).orElseThrow().items();
		for (int i = 0; i < 3; i++) {
			List<SessionItem> items = store().open(key, Window.ALL).orElseThrow().items();
			assertThat(items).isEqualTo(fresh);
			assertThat(items.get(0).message().getMetadata()).isEqualTo(fresh.get(0).message().getMetadata());
			assertThat(items.get(1).message().getMetadata()).containsEntry("k", List.of("v"))
				.isEqualTo(fresh.get(1).message().getMetadata());
			for (SessionItem item : items) {
				item.message().getMetadata().put("mine", "not theirs");
				item.message().getMetadata().remove("k");
			}
		}
	}

	/** A result does not show whether its view was read or known. */
	@Test
	@SuppressWarnings("unchecked")
	void valuesInsideOfMetadataBelongToTheirReader() {
		SessionKey key = key();
		UserMessage question = UserMessage.builder()
			.text("q")
			.metadata(Map.of("list", List.of("one"), "map", Map.of("inner", List.of("one"))))
			.build();
		store().add(key, List.of(question, new AssistantMessage("a")));
		for (int reader = 0; reader < 4; reader++) {
			Map<String, Object> metadata = store().open(key, Window.ALL)
				.orElseThrow()
				.items()
				.get(0)
				.message()
				.getMetadata();
			assertThat(metadata).containsEntry("list", List.of("one"))
				.containsEntry("map", Map.of("inner", List.of("one")));
			((List<Object>) metadata.get("list")).add("reader " + reader);
			((Map<String, List<Object>>) metadata.get("map")).get("inner").add("reader " + reader);
			((Map<String, Object>) metadata.get("map")).put("reader", reader);
			metadata.put("reader", reader);
		}
	}

	/**
	 * Header and items are of one moment, however many write meanwhile.
	 */
	@Test
	void viewFitsItsHeaderWhileOthersWrite() throws Exception {
		SessionKey key = key();
		threadOf(key, 4);
		SessionStore other = another();
		AtomicInteger writing = new AtomicInteger(4);
		List<Callable<Integer>> tasks = new ArrayList<>();
		for (SessionStore writer : List.of(store(), other, store(), other)) {
			tasks.add(() -> {
				try {
					for (int i = 0; i < 15; i++) {
						change(writer, key);
					}
					return 0;
				}
				finally {
					writing.decrementAndGet();
				}
			});
		}
		for (SessionStore reader : List.of(store(), other)) {
			for (Window window : List.of(Window.ALL, Window.turns(2))) {
				tasks.add(() -> {
					int read = 0;
					while (writing.get() > 0 || read < 3) {
						check(reader.open(key, window).orElseThrow(), window);
						read++;
					}
					return read;
				});
			}
		}
		race(tasks);
		for (Window window : WINDOWS) {
			assertSame(key, window, "at the end");
		}
	}

	private static void change(SessionStore writer, SessionKey key) {
		Session header = writer.open(key, Window.ALL).orElseThrow().session();
		switch (ThreadLocalRandom.current().nextInt(8)) {
			case 0 -> writer.commit(Commit.on(header).turn(turn(TurnStatus.FAILED, header.head(), "lost")));
			case 1 -> writer.pop(key);
			case 2 -> writer.commit(Commit.on(header).header(HeaderChange.NONE.title("title")));
			case 3 -> writer.commit(Commit.on(header)
				.header(HeaderChange.NONE.summary(header.head(), "1"))
				.records(List.of(RecordWrite.put(SessionStore.SUMMARY, "1", "summary of " + header.head()))));
			default -> writer.commit(Commit.on(header).turn(completed("q", "a")));
		}
	}

	private static void check(SessionView view, Window window) {
		Session header = view.session();
		List<SessionItem> items = view.items();
		if (window.equals(Window.ALL)) {
			assertThat(items).as("items of %s", header).hasSize((int) header.totals().items());
			assertThat(items.stream().mapToLong(SessionItem::tokens).sum()).isEqualTo(header.totals().tokens());
		}
		if (header.head() > header.summaryTurn()) {
			assertThat(items).as("items of %s", header).isNotEmpty();
			assertThat(items.get(items.size() - 1).turn()).isEqualTo(header.head());
		}
		else {
			assertThat(items).as("items of %s", header).isEmpty();
		}
		if (header.summaryId() != null) {
			assertThat(view.summary()).isNotNull();
		}
	}

}
