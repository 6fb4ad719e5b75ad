package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.Window;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An answer is read whole, and only by whoever has asked.
 */
class PackedAnswerTests {

	/** As Redis packs {'COMMITTED', 5, {'a', ''}, 1790000000000000}. */
	private static final byte[] PACKED = HexFormat.of()
		.parseHex("94" + "a9434f4d4d4954544544" + "05" + "92" + "a161" + "a0" + "d300065c00fa8f6000");

	@Test
	void aWholeAnswerIsRead() {
		Reply reply = PackedAnswer.read(answer("t1", PACKED), "t1");
		assertThat(reply.size()).isEqualTo(4);
		assertThat(reply.requiredText(0)).isEqualTo("COMMITTED");
		assertThat(reply.number(1)).isEqualTo(5);
		assertThat(reply.list(2).text(0)).isEqualTo("a");
		assertThat(reply.list(2).text(1)).isNull();
		assertThat(reply.number(3)).isEqualTo(0x00065c00fa8f6000L);
	}

	@Test
	void everyPieceOfItIsRefused() {
		byte[] whole = answer("t1", PACKED);
		for (int from = 0; from < whole.length; from++) {
			for (int to = from; to <= whole.length; to++) {
				if (from > 0 || to < whole.length) {
					assertBroken(Arrays.copyOfRange(whole, from, to));
				}
			}
		}
	}

	@Test
	void twoHalvesOfTwoAnswersAreRefused() {
		byte[] whole = answer("t1", PACKED);
		for (int first = 1; first <= whole.length; first++) {
			byte[] mixed = Arrays.copyOf(whole, first + whole.length);
			System.arraycopy(whole, 0, mixed, first, whole.length);
			assertBroken(mixed);
		}
	}

	@Test
	void aTextInPlaceOfAListIsReadWholeOrRefused() {
		byte[] whole = answer("t1", "=header".getBytes(StandardCharsets.UTF_8));
		Reply reply = PackedAnswer.read(whole, "t1");
		assertThat(reply.isText()).isTrue();
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> reply.opened(Window.HEADER))
			.withMessageContaining("its header");
		for (int to = 0; to < whole.length; to++) {
			assertBroken(Arrays.copyOf(whole, to));
			byte[] mixed = Arrays.copyOf(whole, to + whole.length);
			System.arraycopy(whole, 0, mixed, to, whole.length);
			if (to > 0) {
				assertBroken(mixed);
			}
		}
		assertBroken(answer("t1", new byte[0]));
	}

	@Test
	void theAnswerToAnotherRequestIsRefused() {
		assertBroken(answer("t2", PACKED));
		assertBroken(answer("t11", PACKED));
		assertBroken(answer("", PACKED));
		assertThatExceptionOfType(BrokenAnswerException.class).isThrownBy(() -> PackedAnswer.read(null, "t1"));
	}

	@ParameterizedTest
	@CsvSource({ "00,0", "7f,127", "e0,-32", "ff,-1", "cc80,128", "cdffff,65535", "ceffffffff,4294967295",
			"cf001fffffffffffff,9007199254740991", "d080,-128", "d18000,-32768", "d280000000,-2147483648",
			"d3ffe0000000000001,-9007199254740991" })
	void numbersOfAllSizes(String packed, long number) {
		assertThat(PackedAnswer.read(answer("t1", HexFormat.of().parseHex("91" + packed)), "t1").number(0))
			.isEqualTo(number);
	}

	@ParameterizedTest
	@CsvSource({ "d901,1", "da0001,1", "db00000001,1", "c401,1", "c50001,1", "c600000001,1" })
	void textsOfAllSizes(String packed, int length) {
		Reply reply = PackedAnswer.read(answer("t1", HexFormat.of().parseHex("91" + packed + "41")), "t1");
		assertThat(reply.bytes(0)).isEqualTo(new byte[] { 'A' }).hasSize(length);
	}

	@ParameterizedTest
	@CsvSource({ "91c1", "91ca00000000", "9181a16101", "91dbffffffff", "91dd7fffffff", "05", "a161", "9101ff",
			"91919191919191919191919191919101" })
	void whatScriptsNeverPackIsRefused(String packed) {
		assertBroken(answer("t1", HexFormat.of().parseHex(packed)));
	}

	@Test
	void aValueThatIsNotWhatItShouldBeWasStoredLikeThat() {
		Reply reply = new Reply(List.of("x".getBytes(StandardCharsets.UTF_8), 1L), "t").about("'t1'");
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> reply.number(0))
			.withMessageContaining("session 't1'");
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> reply.list(0));
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> reply.bytes(1));
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> reply.text(2));
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(reply::lists);
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> reply.header(0));
	}

	private static void assertBroken(byte[] answer) {
		assertThatExceptionOfType(BrokenAnswerException.class).isThrownBy(() -> PackedAnswer.read(answer, "t1"));
	}

	private static byte[] answer(String token, byte[] packed) {
		byte[] header = (token + " " + packed.length + "\n").getBytes(StandardCharsets.US_ASCII);
		byte[] answer = Arrays.copyOf(header, header.length + packed.length);
		System.arraycopy(packed, 0, answer, header.length, packed.length);
		return answer;
	}

}
