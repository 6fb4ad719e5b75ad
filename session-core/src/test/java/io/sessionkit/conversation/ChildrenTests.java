package io.sessionkit.conversation;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Child sessions while others write the sessions of the same owner.
 */
class ChildrenTests {

	private final SessionKey key = SessionKey.of("owner", "t1");

	private final SessionStore store = TestStores.MEMORY.create();

	private void write(SessionKey session) {
		this.store.add(session, List.of(new UserMessage("q")));
	}

	@Test
	void childThatOthersWriteAllTheTimeIsNotPassedOver() {
		SessionKey child = this.key.child("a");
		AtomicBoolean writing = new AtomicBoolean(true);
		SessionStore busy = CallsOfStore.before(this.store, () -> {
			if (writing.get() && this.store.find(child).isEmpty()) {
				write(child);
			}
		});
		Conversation thread = Conversations.of(busy).get(this.key);
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(thread::eraseChildren)
			.withMessageContaining("still has child sessions, after 5 were erased");
		writing.set(false);
		assertThat(thread.eraseChildren()).isOne();
		assertThat(thread.eraseChildren()).isZero();
	}

	/** The list of the owner is read in pages, and what goes moves the rest forward. */
	@Test
	void childrenAreFoundWhileOtherSessionsGo() {
		write(this.key.child("a"));
		write(this.key.child("b"));
		for (int i = 0; i < 200; i++) {
			write(SessionKey.of("owner", "other" + i));
		}
		AtomicInteger calls = new AtomicInteger();
		SessionStore moving = CallsOfStore.before(this.store, () -> {
			if (calls.incrementAndGet() == 2) {
				for (int i = 0; i < 20; i++) {
					this.store.erase(SessionKey.of("owner", "other" + i));
				}
			}
		});
		assertThat(Conversations.of(moving).get(this.key).children()).extracting(Session::key)
			.containsExactlyInAnyOrder(this.key.child("a"), this.key.child("b"));
	}

}
