package io.sessionkit.internal.row;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TurnIdsTests {

	@ParameterizedTest
	@CsvSource({ "1-x,1", "7-,7", "10-a-b,10", "42-42-42,42", "999999999999999-x,999999999999999" })
	void anIdNamesTheNumberBeforeItsFirstHyphen(String id, long place) {
		assertThat(TurnIds.place(id)).isEqualTo(place);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "-", "7", "abc", "abc-7", "0-x", "07-x", "-1-x", "+7-x", " 7-x", "7 -x", "7.0-x",
			"7x-x", "x7-x", "1000000000000000-x", "99999999999999999999-x", "٧-x", "７-x", "7–x",
			"7f3c2a10-1111-4222-8333-123456789abc" })
	void everyOtherIdNamesNone(String id) {
		assertThat(TurnIds.place(id)).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "12345678-1111-4222-8333-123456789abc" })
	void anIdFromElsewhereMayNameANumberToo(String id) {
		assertThat(TurnIds.place(id)).isEqualTo(12_345_678);
	}

}
