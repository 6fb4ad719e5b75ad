package io.sessionkit.internal.turn;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class TurnStateTests {

	private final Map<String, Object> base = Map.of("name", "Ada", "key", new byte[] { 1 });

	private final TurnState state = state(Attributes.DEFAULT_MAX_SIZE);

	@Test
	void whatIsAsItWasIsNotStored() {
		assertThat(this.state.end()).isNull();
	}

	@Test
	void whatIsWrittenAsItWasIsNotStored() {
		this.state.put("name", "Bob", false);
		this.state.put("more", 1, false);
		this.state.put("key", new byte[] { 1 }, false);
		this.state.put("name", "Ada", false);
		this.state.remove("more", false);
		this.state.remove("absent", false);
		assertThat(this.state.end()).isNull();
	}

	@Test
	void whatHasChangedIsStoredWhole() {
		this.state.put("step", 1, false);
		this.state.remove("key", false);
		assertThat(this.state.end()).isEqualTo(Map.of("name", "Ada", "step", 1));
	}

	@Test
	void stateThatIsRemovedWholeIsStoredEmpty() {
		this.state.remove("key", false);
		this.state.remove("name", false);
		assertThat(this.state.end()).isNotNull().isEmpty();
	}

	@Test
	void whileItIsSavedOnlyTheHooksThatAreAskedWriteAndLaterNobody() {
		this.state.endRunning();
		assertThatIllegalStateException().isThrownBy(() -> this.state.put("a", 1, false)).withMessageContaining("over");
		assertThatIllegalStateException().isThrownBy(() -> this.state.remove("name", false));
		this.state.put("b", 2, true);
		assertThat(this.state.end()).containsEntry("b", 2).doesNotContainKey("a").containsKey("name");
		this.state.endRunning();
		assertThatIllegalStateException().isThrownBy(() -> this.state.put("c", 3, true));
		assertThat(this.state.values()).doesNotContainKey("c");
	}

	@Test
	void limitIsOnTheWholeStateToTheCharacter() {
		int size = JsonMessageCodec.create().encodeValues(SessionKey.of("t1"), Map.of("a", "12345")).length();
		TurnState small = new TurnState(attributes(DataSize.ofBytes(size)), Map.of());
		small.put("a", "12345", false);
		assertThatIllegalArgumentException().isThrownBy(() -> small.put("a", "123456", false))
			.withMessageContaining("'a'")
			.withMessageContaining("'t1'")
			.withMessageContaining(String.valueOf(size + 1))
			.withMessageContaining("may have " + size)
			.withMessageContaining("sessionkit.state.max-size")
			.withMessageNotContaining("12345");
		assertThatIllegalArgumentException().isThrownBy(() -> small.put("b", "", false)).withMessageContaining("'b'");
		assertThat(small.values()).isEqualTo(Map.of("a", "12345"));
	}

	@Test
	void stateThatIsOverALimitThatWasLoweredCanBeMadeSmaller() {
		TurnState lowered = new TurnState(attributes(DataSize.ofBytes(1)), this.base);
		lowered.remove("name", false);
		assertThat(lowered.values()).containsOnlyKeys("key");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "sessionkit.", "sessionkit.open-turn" })
	void nameThatIsBlankOrReservedIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.put(name, 1, false))
			.withMessageContaining("'t1'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.remove(name, false));
	}

	@Test
	void nameMayHave255Characters() {
		this.state.put("n".repeat(255), 1, false);
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.put("n".repeat(256), 1, false))
			.withMessageContaining("256");
	}

	@Test
	@SuppressWarnings("NullAway")
	void nullIsRefusedWithWhatToWriteInstead() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.put("a", null, false))
			.withMessageContaining("remove");
		assertThatIllegalArgumentException().isThrownBy(() -> this.state.put(null, 1, false))
			.withMessageContaining("name");
	}

	@Test
	void bytesInAListCountAsChanged() {
		TurnState nested = new TurnState(attributes(Attributes.DEFAULT_MAX_SIZE),
				Map.of("keys", List.of(new byte[] { 1 })));
		nested.put("keys", List.of(new byte[] { 1 }), false);
		assertThat(nested.end()).isNotNull();
	}

	private TurnState state(DataSize maxSize) {
		return new TurnState(attributes(maxSize), this.base);
	}

	private static Attributes attributes(DataSize maxSize) {
		return new Attributes(SessionKey.of("t1"), JsonMessageCodec.create(), maxSize);
	}

}
