package io.sessionkit.store.redis;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.StepCosts;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisStepCostTests extends StepCosts {

	private static final RedisServers SERVER = RedisServers.alone();

	private TcpProxy proxy;

	private LettuceConnectionFactory connections;

	private SessionStore store;

	@BeforeEach
	void start() throws IOException {
		this.proxy = new TcpProxy(SERVER.host(), SERVER.port());
		this.connections = SERVER.connectionsBy(this.proxy.port());
		this.store = new RedisSessionStore(this.connections, StoreOptions.of(JsonMessageCodec.create()),
				"steps-" + UUID.randomUUID() + ":");
		teach(SessionKey.of("warm"));
	}

	/** A server that does not know a script yet is sent it once more. */
	private void teach(SessionKey warm) {
		Turn turn = Turn.builder("open", Instant.EPOCH).status(TurnStatus.INCOMPLETE, null).build();
		this.store.add(warm, List.of(new UserMessage("q")));
		this.store.commit(Commit.on(this.store.find(warm).orElseThrow()).turn(new TurnWrite(turn, 0, List.of())));
		SessionKey plain = SessionKey.of("plain");
		for (int i = 0; i < 2; i++) {
			Turn whole = Turn.builder("whole " + i, Instant.EPOCH).build();
			Commit commit = this.store.open(plain, Window.turns(1))
				.map((view) -> Commit.on(view.session()))
				.orElse(Commit.first(plain));
			this.store.commit(
					commit.turn(new TurnWrite(whole, 0, List.of(new NewItem(new UserMessage("q"), Instant.EPOCH, 1)))));
		}
		this.store.put(warm, RecordWrite.create("note", "1", "text"));
		this.store.records(warm, "note");
		this.store.turns(warm, Tail.newest(1));
		this.store.items(warm, 1);
		this.store.turn(warm, 1, Set.of("note"));
		this.store.put(warm, RecordWrite.create("notice", "1", "text"));
		this.store.record(warm, "notice", "1");
		this.store.oldestRecords("notice", null, 1);
		this.store.put(warm, new RecordWrite("notice", "1", RecordWrite.ANY, null, null));
	}

	@AfterEach
	void stop() throws IOException {
		this.connections.destroy();
		this.proxy.close();
	}

	@Override
	protected SessionStore store() {
		return this.store;
	}

	@Override
	protected long roundTrips() {
		return this.proxy.roundTrips();
	}

}
