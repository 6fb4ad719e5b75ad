package io.sessionkit.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Each operation of a store, on a session of two turns with a summary, a record and,
 * where the operation is about one, an open turn.
 */
enum CutOperation {

	OPEN((store, on) -> store.open(on.key(), Window.ALL)),

	FIND((store, on) -> store.find(on.key())),

	ITEMS((store, on) -> store.items(on.key(), Tail.ALL)),

	ITEMS_OF_A_TURN((store, on) -> store.items(on.key(), 2)),

	TURNS((store, on) -> store.turns(on.key(), Tail.ALL)),

	LIST((store, on) -> store.list(on.key().owner(), Page.first(5))),

	RECORDS((store, on) -> store.records(on.key(), "note")),

	RECORDS_OF_AN_OWNER((store, on) -> store.records(on.key().owner(), "note", Page.first(5))),

	FIRST_TURN(true,
			(store, on) -> store.commit(Commit.first(SessionKey.of(on.key().owner(), "new"))
				.turn(turn("new", TurnStatus.COMPLETED, 0, 0)))),

	PLAIN_TURN(true, (store, on) -> store.commit(Commit.on(on.base()).turn(turn("three", TurnStatus.COMPLETED, 2, 0)))),

	TURN_BESIDE(true, (store, on) -> store.commit(Commit.any(on.key()).turn(turn("four", TurnStatus.FAILED, 1, 0)))),

	LATER_PART(true,
			(store, on) -> store.commit(Commit.on(on.base())
				.turn(turn("open", TurnStatus.COMPLETED, 2, 1))
				.records(List.of(new RecordWrite("note", "n", 1, "two", null))))),

	ADD(true, (store, on) -> {
		store.add(on.key(), List.of(new UserMessage("u3"), new AssistantMessage("a3")));
		return "added";
	}),

	TITLE_AND_SETTINGS(true,
			(store, on) -> store.commit(Commit.on(on.base())
				.header(HeaderChange.NONE.title("title").settings(SessionSettings.NONE.limit(4))))),

	TITLE_OF_ANY(true, (store, on) -> store.commit(Commit.any(on.key()).header(HeaderChange.NONE.title("title")))),

	TIME_TO_LIVE(true,
			(store, on) -> store
				.commit(Commit.on(on.base()).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))))),

	POP(true, (store, on) -> store.pop(on.key())),

	DELETE(true, (store, on) -> store.commit(Commit.on(on.base()).delete(Set.of(2L, 3L)))),

	RECORDS_IN_A_COMMIT(true,
			(store, on) -> store.commit(Commit.on(on.base())
				.records(List.of(new RecordWrite("note", "n", 1, "two", null), created("label", "l", "one"))))),

	MOVE(true, (store, on) -> store.commit(Commit.on(on.base()).header(HeaderChange.NONE.head(Session.MAIN, 1)))),

	SUMMARY(true,
			(store, on) -> store.commit(Commit.on(on.base())
				.header(HeaderChange.NONE.summary(2, "c2"))
				.records(List.of(created(SessionStore.SUMMARY, "c2", "summary"))))),

	PUT_NEW(true, (store, on) -> store.put(on.key(), created("note", "m", "one"))),

	PUT_OVER(true, (store, on) -> store.put(on.key(), new RecordWrite("note", "n", 1, "two", null))),

	PUT_ANY(true, (store, on) -> store.put(on.key(), new RecordWrite("note", "n", -1, "two", null))),

	PUT_AWAY(true, (store, on) -> store.put(on.key(), new RecordWrite("note", "n", 1, null, null))),

	ERASE(true, (store, on) -> store.erase(on.key()));

	static final Instant AT = Instant.parse("2026-02-03T04:05:06.789Z");

	private final boolean writes;

	private final BiFunction<SessionStore, Subject, Object> work;

	CutOperation(BiFunction<SessionStore, Subject, Object> work) {
		this(false, work);
	}

	CutOperation(boolean writes, BiFunction<SessionStore, Subject, Object> work) {
		this.writes = writes;
		this.work = work;
	}

	/**
	 * The session that an operation is about.
	 *
	 * @param key its key
	 * @param base its header before the operation
	 */
	record Subject(SessionKey key, Session base) {
	}

	boolean writes() {
		return this.writes;
	}

	Object run(SessionStore store, Subject subject) {
		return this.work.apply(store, subject);
	}

	/** A session as each operation finds it, with the only other one of its owner. */
	Subject prepare(SessionStore store, SessionKey key) {
		store.commit(Commit.first(key)
			.turn(turn("one", TurnStatus.COMPLETED, 0, 0))
			.records(List.of(created("note", "n", "one"))));
		store.commit(Commit.any(key).turn(turn("two", TurnStatus.COMPLETED, 1, 0)));
		store.commit(Commit.any(key)
			.header(HeaderChange.NONE.summary(1, "c"))
			.records(List.of(created(SessionStore.SUMMARY, "c", "summary"))));
		if (this == LATER_PART) {
			store.commit(Commit.any(key).turn(turn("open", TurnStatus.AWAITING_APPROVAL, 2, 0)));
		}
		return new Subject(key, store.find(key).orElseThrow());
	}

	/**
	 * Returns what is visible of a session from outside, except its key, its version and
	 * the server's times.
	 */
	List<String> attributes(SessionStore store, SessionKey key) {
		List<String> attributes = new ArrayList<>();
		for (String id : (this == FIRST_TURN) ? List.of(key.id(), "new") : List.of(key.id())) {
			SessionKey each = SessionKey.of(key.owner(), id);
			store.find(each).ifPresent((header) -> attributes.add(header(header)));
			store.turns(each, Tail.ALL).forEach((turn) -> {
				attributes.add(turn.number() + " " + turn.parent() + " " + turn.status() + " " + turn.items() + " "
						+ turn.tokens());
				store.items(each, turn.number())
					.forEach((item) -> attributes
						.add(item.sequence() + " " + item.turn() + " " + item.message().getText()));
			});
			for (String kind : List.of("note", "label", SessionStore.SUMMARY)) {
				store.records(each, kind)
					.forEach((record) -> attributes
						.add(kind + " " + record.id() + " " + record.revision() + " " + record.payload()));
			}
		}
		store.list(key.owner(), Page.first(5)).forEach((header) -> attributes.add("listed " + header.turns()));
		for (String kind : List.of("note", "label")) {
			store.records(key.owner(), kind, Page.first(5))
				.forEach((record) -> attributes.add("of owner " + record.id()));
		}
		return attributes;
	}

	private static String header(Session header) {
		return List
			.of(header.turns(), header.items(), header.branch(), header.head(), header.openTurn(), header.summaryTurn(),
					String.valueOf(header.summaryId()), header.totals(), String.valueOf(header.title()),
					header.settings(), header.attributes(), String.valueOf(header.timeToLive()))
			.toString();
	}

	private static TurnWrite turn(String id, TurnStatus status, long parent, int part) {
		Turn turn = Turn.builder(id, AT)
			.after(parent, Session.MAIN)
			.status(status, status.isOpen() ? null : AT)
			.build();
		return new TurnWrite(turn, part,
				List.of(item(new UserMessage("u " + id)), item(new AssistantMessage("a " + id + part))));
	}

	private static NewItem item(Message message) {
		return new NewItem(message, AT, 7);
	}

	/** With a known revision, so that each run leaves the same. */
	private static RecordWrite created(String kind, String id, String payload) {
		return new RecordWrite(kind, id, 0, payload, null, 1);
	}

}
