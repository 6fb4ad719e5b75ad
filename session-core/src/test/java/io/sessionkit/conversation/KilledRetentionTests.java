package io.sessionkit.conversation;

import java.util.List;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process is killed when its turn is stored and the oldest turns are not yet deleted.
 */
class KilledRetentionTests {

	private static final SessionKey KEY = RetainingProcess.KEY;

	@Test
	void processThatIsKilledBeforeTheDeletionLeavesAllTurnsToALaterLook() {
		SharedStore shared = SharedStore.inPostgres();
		try (OtherProcess process = OtherProcess.start(RetainingProcess.class, shared.words())) {
			process.hear("deleting");
			process.kill();
		}
		try (SharedStore.Connected connected = shared.connect()) {
			Conversation thread = Conversations.of(connected.store()).get(KEY);
			assertThat(Lines.of(thread.messages())).isEqualTo(turns(1, 4));
			RetainingProcess.ask(connected.store(), 5, 8);
			assertThat(Lines.of(thread.messages())).isEqualTo(turns(7, 8));
			assertThat(Lines.of(thread.snapshot(7).orElseThrow().messages())).isEqualTo(turns(5, 6));
			assertThat(Lines.of(thread.snapshot(8).orElseThrow().messages())).isEqualTo(turns(5, 7));
		}
	}

	private static List<String> turns(int from, int to) {
		return IntStream.rangeClosed(from, to)
			.boxed()
			.flatMap((i) -> List.of("user: q" + i, "assistant: a" + i).stream())
			.toList();
	}

}
