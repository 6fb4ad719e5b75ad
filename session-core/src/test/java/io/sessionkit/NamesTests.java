package io.sessionkit;

import java.time.Instant;
import java.util.List;

import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class NamesTests {

	@ParameterizedTest
	@ValueSource(strings = { "a\u0000b", "a\nb", "a\u0085b", "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b", "a\ud800b",
			"a\udc00\ud800" })
	void nameThatSomeStoreOrLogWouldChangeIsRefusedWithItsPlace(String name) {
		String code = String.format("U+%04X at 1", (int) name.charAt(1));
		assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> SessionKey.of(name))
			.withMessageContaining(code)
			.withMessageNotContaining(name);
		assertThatExceptionOfType(InvalidSessionKeyException.class).isThrownBy(() -> SessionKey.of(name, "t1"))
			.withMessageContaining("owner")
			.withMessageContaining(code);
		assertThatIllegalArgumentException().isThrownBy(() -> RecordWrite.create(name, "1", "text"))
			.withMessageContaining("kind")
			.withMessageContaining(code);
		assertThatIllegalArgumentException().isThrownBy(() -> RecordWrite.create("note", name, "text"))
			.withMessageContaining("id")
			.withMessageContaining(code);
		assertThatIllegalArgumentException().isThrownBy(() -> HeaderChange.NONE.head(name, 1))
			.withMessageContaining("branch")
			.withMessageContaining(code);
		assertThatIllegalArgumentException().isThrownBy(() -> turn(name, Session.MAIN))
			.withMessageContaining("id")
			.withMessageContaining(code);
		assertThatIllegalArgumentException().isThrownBy(() -> turn("1", name))
			.withMessageContaining("branch")
			.withMessageContaining(code);
	}

	private static Turn turn(String id, String branch) {
		return Turn.builder(id, Instant.EPOCH).after(0, branch).build();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Grüße 😀", "علي\u200f", "a\u200db", "x y", "{}:*" })
	void otherNamesAreFine(String name) {
		assertThat(SessionKey.of(name, name).id()).isEqualTo(name);
		assertThat(RecordWrite.create(name, name, name).kind()).isEqualTo(name);
		assertThat(turn(name, name).id()).isEqualTo(name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "secret \u0000", "secret \ud800", "secret \udc00" })
	void payloadThatSomeStoreCannotKeepIsRefusedWithoutBeingShown(String payload) {
		assertThatIllegalArgumentException().isThrownBy(() -> RecordWrite.create("note", "1", payload))
			.withMessageContaining("'1'")
			.withMessageContaining("at 7")
			.withMessageNotContaining("secret");
	}

	@Test
	void payloadMayHaveLinesAndMarks() {
		assertThat(RecordWrite.create("note", "1", "a\n\u2028\u202e😀\u0007").payload()).hasSize(7);
	}

	@Test
	void recordIsWrittenOnceInACommit() {
		List<RecordWrite> twice = List.of(RecordWrite.put("note", "1", "a"), RecordWrite.put("note", "1", "b"));
		assertThatIllegalArgumentException().isThrownBy(() -> Commit.any(SessionKey.of("t1")).records(twice))
			.withMessageContaining("'1'");
	}

}
