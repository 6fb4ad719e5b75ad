package io.sessionkit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import io.sessionkit.Round;
import io.sessionkit.SessionSettings;
import io.sessionkit.Snapshot;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.internal.ledger.Ledger;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The content that a {@link RandomProgram} writes: turns, messages, records and values,
 * each with all fields that it may have.
 */
final class RandomContent {

	static final List<String> KINDS = List.of(SessionStore.SUMMARY, Ledger.APPROVAL, "note");

	/** Texts that are kept as they are; PostgreSQL has no text with a NUL. */
	private static final List<String> PLAIN = List.of("text", "'; --", "😀 {} %s", "\\u0000 \\ \" :x ?", "é\r\n\t");

	private static final List<String> TEXTS = List.of("text", "", "\u0000", "'; --", "😀 {} %s", "\\u0000 \\ \" :x ?",
			"é\r\n\t", "long ".repeat(60));

	private final Random random;

	private int count;

	RandomContent(Random random) {
		this.random = random;
	}

	private boolean oneIn(int times) {
		return this.random.nextInt(times) == 0;
	}

	<T> T oneOf(List<T> choices) {
		return choices.get(this.random.nextInt(choices.size()));
	}

	private Instant at() {
		return SessionStoreFixture.AT.plusNanos(1_000L * this.random.nextInt(1_000_000));
	}

	/**
	 * The first part of a new turn.
	 */
	TurnWrite turn(TurnStatus status, long parent, int items) {
		return new TurnWrite(turn(id(), status, parent), 0, items(items));
	}

	/**
	 * A later part of a turn. What only the first part says is something else here, and
	 * must not count.
	 */
	TurnWrite part(TurnWrite before, int part, TurnStatus status, int items) {
		return new TurnWrite(turn(before.turn().id(), status, before.turn().parent()), part, items(items));
	}

	private Turn turn(String id, TurnStatus status, long parent) {
		Instant startedAt = at();
		return Turn.builder(id, startedAt)
			.after(parent, oneIn(3) ? "branch " + this.random.nextInt(3) : "main")
			.status(status, status.isOpen() ? null : startedAt.plusMillis(this.random.nextInt(5_000)))
			.agent(oneIn(2) ? oneOf(TEXTS) + "agent" : null)
			.model(oneIn(2) ? "model " + this.random.nextInt(3) : null)
			.rounds(rounds())
			.tools(oneIn(3) ? Map.of("tool", "digest " + this.count) : Map.of())
			.failure((status == TurnStatus.FAILED) ? "java.io.IOException" : null)
			.verdicts(verdicts())
			.snapshot(snapshot())
			.parameters(oneIn(3) ? Map.of("input", oneOf(TEXTS), "long", (long) this.count) : Map.of())
			.build();
	}

	private List<Round> rounds() {
		List<Round> rounds = new ArrayList<>();
		for (int i = this.random.nextInt(3); i > 0; i--) {
			rounds.add(new Round(oneIn(2) ? "model" : null,
					new TokenUsage(this.random.nextInt(1_000), this.random.nextInt(1_000), 1L << 40, 0)));
		}
		return rounds;
	}

	private List<Verdict> verdicts() {
		return oneIn(3) ? List.of(new Verdict("hook", oneOf(List.of(Verdict.Phase.values())),
				oneOf(List.of(Verdict.Kind.values())), oneIn(2) ? oneOf(TEXTS) : null)) : List.of();
	}

	private Snapshot snapshot() {
		return oneIn(3) ? new Snapshot(oneIn(2) ? "digest" : null, oneIn(3) ? oneOf(TEXTS) : null,
				List.of(new Snapshot.Items(1, 2, 1, 1), new Snapshot.Verbatim(3))) : null;
	}

	List<NewItem> items(int number) {
		List<NewItem> items = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			items.add(new NewItem(message(), at(), this.random.nextInt(50)));
		}
		return items;
	}

	List<Message> messages(int number) {
		return items(number).stream().map(NewItem::message).toList();
	}

	/** Of which some begin with the number that the turn may get. */
	private String id() {
		return (oneIn(2) ? "turn " : this.random.nextInt(1, 6) + "-") + (++this.count);
	}

	private Message message() {
		String text = oneOf(TEXTS) + (++this.count);
		text = oneIn(40) ? text + "long ".repeat(4_000) : text;
		return switch (this.random.nextInt(6)) {
			case 0 -> ToolResponseMessage.builder()
				.responses(List.of(new ToolResponse("call " + this.count, "tool", text)))
				.build();
			case 1 -> AssistantMessage.builder()
				.content(oneIn(2) ? null : text)
				.toolCalls(List.of(new ToolCall("call " + this.count, "function", "tool", "{\"id\":1}")))
				.build();
			case 2 -> UserMessage.builder().text(text).metadata(Map.of("number", (long) this.count)).build();
			case 3, 4 -> new UserMessage(text);
			default -> new AssistantMessage(text);
		};
	}

	/**
	 * New values for some of the plain fields of a header.
	 */
	HeaderChange header() {
		HeaderChange change = HeaderChange.NONE;
		if (oneIn(3)) {
			change = change.title(oneIn(3) ? "" : oneOf(PLAIN) + "title");
		}
		if (oneIn(3)) {
			change = change.tags(oneIn(3) ? Set.of() : Set.of("tag", oneOf(TEXTS) + this.random.nextInt(3)));
		}
		if (oneIn(3)) {
			change = change.timeToLive(oneIn(3) ? Duration.ZERO : Duration.ofHours(1 + this.random.nextInt(48)));
		}
		if (oneIn(3)) {
			change = change.settings(settings());
		}
		return (oneIn(2) || change.equals(HeaderChange.NONE)) ? change.attributes(attributes()) : change;
	}

	private SessionSettings settings() {
		return oneIn(3) ? SessionSettings.NONE
				: SessionSettings.NONE.limit(oneIn(2) ? this.random.nextInt(50) : null)
					.trim((trim) -> trim.maxTurns(oneIn(2) ? this.random.nextInt(20) : null))
					.summarize(oneIn(2) ? this.random.nextBoolean() : null)
					.retention((kept) -> kept.maxAge(oneIn(2) ? Duration.ofDays(1 + this.random.nextInt(9)) : null));
	}

	Map<String, Object> attributes() {
		return oneIn(4) ? Map.of() : Map.of("step", ++this.count, "text", oneOf(TEXTS));
	}

	/**
	 * A record, which is expected to be there as it is, as it is not, or in any way.
	 * @param revision the revision that is there; 0 for none
	 */
	RecordWrite record(String kind, String id, long revision) {
		long expected = switch (this.random.nextInt(6)) {
			case 0, 1 -> RecordWrite.ANY;
			case 2 -> revision + this.random.nextInt(3);
			default -> revision;
		};
		String payload = oneIn(5) ? null : oneOf(PLAIN) + "payload " + (++this.count);
		Duration life = (payload != null && oneIn(4)) ? Duration.ofHours(1 + this.random.nextInt(5)) : null;
		return new RecordWrite(kind, id, expected, payload, life, 1 + this.random.nextInt(1_000));
	}

	String recordId() {
		return "record" + oneOf(List.of("", " ", "A", "a", "😀"));
	}

}
