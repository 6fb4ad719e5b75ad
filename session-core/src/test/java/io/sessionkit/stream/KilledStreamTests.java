package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;

import io.sessionkit.SessionKey;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.stream.CallEvent.Lost;
import io.sessionkit.stream.CallEvent.Text;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The process that works on a call is killed while its stream is read in another one.
 */
class KilledStreamTests {

	enum Server {

		POSTGRESQL {

			@Override
			SharedStore shared() {
				return SharedStore.inPostgres();
			}

		},

		REDIS {

			@Override
			SharedStore shared() {
				return SharedStore.inRedis();
			}

		};

		abstract SharedStore shared();

	}

	@ParameterizedTest
	@EnumSource
	void readersAreToldAndHaveEachEventOnce(Server server) {
		SharedStore shared = server.shared();
		SessionKey key = SessionKey.of(UUID.randomUUID().toString());
		try (SharedStore.Connected connected = shared.connect();
				OtherProcess process = OtherProcess.start(StreamingProcess.class, shared.words());
				Conversations conversations = Conversations.builder(connected.store())
					.lease(StreamingProcess.LEASE)
					.build();
				TurnStreams streams = TurnStreams.builder(conversations).build()) {
			process.tell(key.id());
			String id = process.hear();
			List<StreamEvent> read = new CopyOnWriteArrayList<>();
			List<StreamEvent> late = new CopyOnWriteArrayList<>();
			streams.resume(key, id).subscribe(read::add);
			int words = ThreadLocalRandom.current().nextInt(1, 30);
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> read.size() > words);
			process.kill();
			streams.resume(key, read.get(0).id()).subscribe(late::add);
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> isLost(read) && isLost(late));
			for (int i = 0; i < read.size() - 1; i++) {
				assertThat(read.get(i).event()).isEqualTo(new Text(i + " "));
			}
			assertThat(late).isEqualTo(read.subList(1, read.size()));
		}
	}

	private static boolean isLost(List<StreamEvent> events) {
		return !events.isEmpty() && events.get(events.size() - 1).event() instanceof Lost;
	}

}
