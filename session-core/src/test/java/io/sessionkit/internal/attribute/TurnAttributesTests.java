package io.sessionkit.internal.attribute;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class TurnAttributesTests {

	private final Map<String, Object> base = Map.of("name", "Ada", "key", new byte[] { 1 });

	private final TurnAttributes attributes = attributes(AttributeRules.DEFAULT_MAX_SIZE);

	@Test
	void whatIsAsItWasIsNotStored() {
		assertThat(this.attributes.end()).isNull();
	}

	@Test
	void whatIsWrittenAsItWasIsNotStored() {
		this.attributes.put("name", "Bob", false);
		this.attributes.put("more", 1, false);
		this.attributes.put("key", new byte[] { 1 }, false);
		this.attributes.put("name", "Ada", false);
		this.attributes.remove("more", false);
		this.attributes.remove("absent", false);
		assertThat(this.attributes.end()).isNull();
	}

	@Test
	void whatHasChangedIsStoredWhole() {
		this.attributes.put("step", 1, false);
		this.attributes.remove("key", false);
		assertThat(this.attributes.end()).isEqualTo(Map.of("name", "Ada", "step", 1));
	}

	@Test
	void attributesThatAreAllRemovedAreStoredEmpty() {
		this.attributes.remove("key", false);
		this.attributes.remove("name", false);
		assertThat(this.attributes.end()).isNotNull().isEmpty();
	}

	@Test
	void whileItIsSavedOnlyTheHooksThatAreAskedWriteAndLaterNobody() {
		this.attributes.endRunning();
		assertThatIllegalStateException().isThrownBy(() -> this.attributes.put("a", 1, false))
			.withMessageContaining("over");
		assertThatIllegalStateException().isThrownBy(() -> this.attributes.remove("name", false));
		this.attributes.put("b", 2, true);
		assertThat(this.attributes.end()).containsEntry("b", 2).doesNotContainKey("a").containsKey("name");
		this.attributes.endRunning();
		assertThatIllegalStateException().isThrownBy(() -> this.attributes.put("c", 3, true));
		assertThat(this.attributes.values()).doesNotContainKey("c");
	}

	/** Each of its writes was allowed where it was made. */
	@Test
	void changeIsMadeAsAWhole() {
		int size = JsonMessageCodec.create().encodeValues(SessionKey.of("t1"), Map.of("a", "12345")).length();
		TurnAttributes small = new TurnAttributes(rules(DataSize.ofBytes(size)), Map.of("a", "12345"));
		TurnAttributes apart = small.apart();
		apart.remove("a", false);
		apart.put("b", "12345", false);
		small.apply(apart.change());
		assertThat(small.values()).isEqualTo(Map.of("b", "12345"));
		assertThat(small.wasWritten()).isTrue();
		small.apply(small.apart().change());
		assertThat(small.wasWritten()).isFalse();
	}

	@Test
	void limitIsOnAllAttributesToTheCharacter() {
		int size = JsonMessageCodec.create().encodeValues(SessionKey.of("t1"), Map.of("a", "12345")).length();
		TurnAttributes small = new TurnAttributes(rules(DataSize.ofBytes(size)), Map.of());
		small.put("a", "12345", false);
		assertThatIllegalArgumentException().isThrownBy(() -> small.put("a", "123456", false))
			.withMessageContaining("'a'")
			.withMessageContaining("'t1'")
			.withMessageContaining(String.valueOf(size + 1))
			.withMessageContaining("may have " + size)
			.withMessageContaining("sessionkit.attributes.max-size")
			.withMessageNotContaining("12345");
		assertThatIllegalArgumentException().isThrownBy(() -> small.put("b", "", false)).withMessageContaining("'b'");
		assertThat(small.values()).isEqualTo(Map.of("a", "12345"));
	}

	@Test
	void attributesOverALimitThatWasLoweredCanBeMadeSmaller() {
		TurnAttributes lowered = new TurnAttributes(rules(DataSize.ofBytes(1)), this.base);
		lowered.remove("name", false);
		assertThat(lowered.values()).containsOnlyKeys("key");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "sessionkit.", "sessionkit.open-call" })
	void nameThatIsBlankOrReservedIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.put(name, 1, false))
			.withMessageContaining("'t1'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.remove(name, false));
	}

	@Test
	void nameMayHave255Characters() {
		this.attributes.put("n".repeat(255), 1, false);
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.put("n".repeat(256), 1, false))
			.withMessageContaining("256");
	}

	/** A model may choose names, and has put what it likes into the log otherwise. */
	@Test
	void nameMayHaveNoControlCharacters() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.put("x\nERROR admin logged in", 1, false))
			.withMessage("The name of an attribute of session 't1' must not contain control characters; there is U+000A"
					+ " at 1.");
	}

	/** Earlier versions have stored such names. */
	@Test
	void nameOfBeforeWithControlCharactersIsReadAndRemoved() {
		TurnAttributes before = new TurnAttributes(rules(AttributeRules.DEFAULT_MAX_SIZE), Map.of("x\ny", 1));
		assertThat(before.values()).containsEntry("x\ny", 1);
		before.remove("x\ny", false);
		assertThat(before.values()).isEmpty();
	}

	@Test
	void longNameIsCutInExceptions() {
		String name = "n".repeat(100);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> this.attributes.put(name, new StringBuilder(), false))
			.withMessageStartingWith("The attribute '" + "n".repeat(64) + "...' of session")
			.withMessageNotContaining("n".repeat(65));
	}

	@Test
	@SuppressWarnings("NullAway")
	void nullIsRefusedWithWhatToWriteInstead() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.put("a", null, false))
			.withMessageContaining("remove");
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.put(null, 1, false))
			.withMessageContaining("name");
	}

	@Test
	void bytesInAListAreComparedByContent() {
		TurnAttributes nested = new TurnAttributes(rules(AttributeRules.DEFAULT_MAX_SIZE),
				Map.of("keys", List.of(new byte[] { 1 })));
		nested.put("keys", List.of(new byte[] { 1 }), false);
		assertThat(nested.end()).isNull();
		TurnAttributes changed = new TurnAttributes(rules(AttributeRules.DEFAULT_MAX_SIZE),
				Map.of("keys", List.of(new byte[] { 1 })));
		changed.put("keys", List.of(new byte[] { 2 }), false);
		assertThat(changed.end()).isNotNull();
	}

	private TurnAttributes attributes(DataSize maxSize) {
		return new TurnAttributes(rules(maxSize), this.base);
	}

	private static Supplier<AttributeRules> rules(DataSize maxSize) {
		return () -> new AttributeRules(SessionKey.of("t1"), JsonMessageCodec.create(), maxSize);
	}

}
