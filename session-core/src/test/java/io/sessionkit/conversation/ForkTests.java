package io.sessionkit.conversation;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests how long forks live, and that each is a session of its own.
 */
class ForkTests {

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).timeToLive(Duration.ofDays(30)));

	private final Conversation thread = Conversations.of(this.store).get(SessionKey.of("t1"));

	@Test
	void forkOfASessionThatNeverExpiresNeverExpires() {
		this.thread.seed(List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.thread.timeToLive(Duration.ZERO);
		assertThat(fork()).isNull();
	}

	@Test
	void forkLivesAsLongAsItsSession() {
		this.thread.seed(List.of(new UserMessage("q"), new AssistantMessage("a")));
		assertThat(fork()).isEqualTo(Duration.ofDays(30));
		this.store.erase(SessionKey.of("copy"));
		this.thread.timeToLive(Duration.ofDays(3));
		assertThat(fork()).isEqualTo(Duration.ofDays(3));
	}

	@Test
	void forkToAKeyInUseIsRefusedAlsoIfItIsAForkOfTheSame() {
		this.thread.seed(List.of(new UserMessage("q"), new AssistantMessage("a")));
		fork();
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(this::fork)
			.withMessageContaining("exists already");
	}

	/** Both have found the key free. */
	@Test
	void oneOfTwoForksToAKeyThatMeetIsRefused() {
		for (int i = 1; i <= 3; i++) {
			this.thread.addTurn(List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)), null);
		}
		for (long end : List.of(2L, 3L)) {
			SessionKey copy = SessionKey.of("copy" + end);
			ObservedStore meeting = new ObservedStore(this.store);
			meeting.beforeCommit(() -> this.thread.fork(copy));
			Conversation other = Conversations.of(meeting).get(this.thread.key());
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> other.fork(copy, end))
				.withMessageContaining("exists already");
			assertThat(this.store.messages(copy)).hasSize(6);
		}
	}

	@Test
	void turnsKeepTheirAttributesOnAStoreWithTheDefaultTurn() {
		Conversation plain = Conversations.of(withDefaultTurn(this.store)).get(SessionKey.of("t1"));
		for (int i = 1; i <= 3; i++) {
			plain.addTurn(List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)), null);
			plain.putAttribute("step", i);
		}
		SessionKey copy = SessionKey.of("copy");
		plain.fork(copy);
		Conversation forked = Conversations.of(this.store).get(copy);
		for (long turn = 1; turn <= 3; turn++) {
			assertThat(forked.attributes(turn)).isEqualTo(Map.of("step", (int) turn));
		}
		forked.undo(2);
		assertThat(forked.attributes()).isEqualTo(Map.of("step", 1));
	}

	@Test
	void turnOfASessionThatIsErasedAndBeginsAgainMeanwhileHasNoAttributes() {
		SessionKey key = SessionKey.of("t1");
		List<Message> turn = List.of(new UserMessage("q"), new AssistantMessage("a"));
		this.store.add(key, turn);
		this.store.add(key, turn);
		SessionStore plain = withDefaultTurn(this.store, () -> {
			this.store.erase(key);
			this.store.add(key, turn);
		});
		assertThat(plain.turn(key, 2, Set.of()).orElseThrow().attributes()).isEmpty();
	}

	private static SessionStore withDefaultTurn(SessionStore store) {
		return withDefaultTurn(store, () -> {
		});
	}

	/**
	 * A store that reads a turn as the interface does by default.
	 * @param before what happens before a path is read
	 */
	private static SessionStore withDefaultTurn(SessionStore store, Runnable before) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (self, called, arguments) -> {
					if (called.getName().equals("turn")) {
						return InvocationHandler.invokeDefault(self, called, arguments);
					}
					if (called.getName().equals("path")) {
						before.run();
					}
					try {
						return called.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private Duration fork() {
		SessionKey copy = SessionKey.of("copy");
		this.thread.fork(copy);
		return this.store.find(copy).orElseThrow().timeToLive();
	}

}
