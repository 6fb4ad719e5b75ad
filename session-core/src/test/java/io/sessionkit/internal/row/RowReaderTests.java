package io.sessionkit.internal.row;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Rows that hold what this version does not know, such as a newer one may write.
 */
class RowReaderTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final MessageCodec CODEC = JsonMessageCodec.create();

	private final RowReader reader = new RowReader(CODEC);

	static List<Map<String, Object>> outcomes() {
		return List.of(Map.of("model", 7), Map.of("failure", List.of("secret")), Map.of("rounds", "secret"),
				Map.of("rounds", List.of("secret")), Map.of("rounds", List.of(Map.of("model", 7))),
				Map.of("verdicts", Map.of("secret", 1)), verdicts("secret", "PASSED"),
				verdicts("BEFORE_TURN", "secret"));
	}

	private static Map<String, Object> verdicts(String phase, String outcome) {
		return Map.of("verdicts", List.of(Map.of("hook", "guard", "phase", phase, "outcome", outcome)));
	}

	@ParameterizedTest
	@MethodSource("outcomes")
	void outcomeThatIsNotKnownIsUnreadable(Map<String, Object> outcome) {
		assertUnreadable("Turn 3 of session", () -> this.reader.turn(KEY, turn(Map.of(), outcome)));
	}

	static List<Map<String, Object>> origins() {
		return List.of(Map.of("agent", 7), Map.of("tools", "secret"), Map.of("parameters", "secret"),
				Map.of("snapshot", "secret"));
	}

	@ParameterizedTest
	@MethodSource("origins")
	void originThatIsNotKnownIsUnreadable(Map<String, Object> origin) {
		assertUnreadable("Turn 3 of session", () -> this.reader.turn(KEY, turn(origin, Map.of())));
	}

	@Test
	void titleAndTagsOfAnotherTypeAreUnreadable() {
		assertUnreadable("header of session", () -> this.reader.session(KEY, header(Map.of("title", 7), Map.of())));
		assertUnreadable("header of session",
				() -> this.reader.session(KEY, header(Map.of(), Map.of("tags", "secret"))));
	}

	@Test
	void whatIsAbsentIsNone() {
		assertThat(this.reader.turn(KEY, turn(Map.of(), Map.of())).rounds()).isEmpty();
		assertThat(this.reader.session(KEY, header(Map.of("title", ""), Map.of())).title()).isNull();
	}

	private static TurnRow turn(Map<String, Object> origin, Map<String, Object> outcome) {
		HeaderRow.Path path = new HeaderRow.Path(3, 1, 0, 0, null);
		return new TurnRow("3-x", 2, path, "main", TurnStatus.COMPLETED, 1, 0, 0, 0, 0L, null,
				CODEC.encodeValues(KEY, origin), CODEC.encodeValues(KEY, outcome));
	}

	private static HeaderRow header(Map<String, Object> title, Map<String, Object> tags) {
		return new HeaderRow(1, "i", 1, 0, 0, HeaderRow.Path.BEGINNING, 0, new ViewTotals(0, 0, 0),
				new HeaderRow.Life(null, 0, 0, null), "main", CODEC.encodeValues(KEY, title),
				CODEC.encodeValues(KEY, tags), null, null, 1);
	}

	private static void assertUnreadable(String what, ThrowingCallable reading) {
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(reading)
			.withMessageContaining(what)
			.satisfies((ex) -> {
				for (Throwable each = ex; each != null; each = each.getCause()) {
					assertThat(each.toString()).doesNotContain("secret");
				}
			});
	}

}
