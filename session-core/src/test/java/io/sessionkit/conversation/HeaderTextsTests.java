package io.sessionkit.conversation;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The limits of titles and tags.
 */
class HeaderTextsTests {

	private static final SessionKey KEY = SessionKey.of("t");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversation thread = Conversations.of(this.store).get(KEY);

	@Test
	void longestTitleAndMostTagsAreKept() {
		String title = "T".repeat(1_000);
		Set<String> tags = tags(100, "g".repeat(252));
		this.thread.create(HeaderChange.NONE.title(title).tags(tags));
		this.thread.title(title);
		this.thread.tags(tags);
		assertThat(this.store.find(KEY)).hasValueSatisfying((session) -> {
			assertThat(session.title()).isEqualTo(title);
			assertThat(session.tags()).isEqualTo(tags);
		});
	}

	@Test
	void whatIsLargerIsRefusedWithoutItsText() {
		String title = "T".repeat(1_001);
		Set<String> tag = Set.of("g".repeat(256));
		assertRefused(() -> this.thread.create(HeaderChange.NONE.title(title)), "1000", "1001");
		assertRefused(() -> this.thread.create(HeaderChange.NONE.tags(tag)), "255", "256");
		assertThat(this.store.find(KEY)).isEmpty();
		this.thread.create(HeaderChange.NONE);
		assertRefused(() -> this.thread.title(title), "1000", "1001");
		assertRefused(() -> this.thread.tags(tag), "255", "256");
		assertRefused(() -> this.thread.tags(tags(101, "ggg")), "100 tags", "101");
		assertThat(this.store.find(KEY)).hasValueSatisfying((session) -> {
			assertThat(session.title()).isNull();
			assertThat(session.tags()).isEmpty();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "TTT\u0000", "TTT\nggg", "TTT\u202e", "TTT\ud83d" })
	void charactersThatNoIdMayHaveAreRefused(String text) {
		this.thread.create(HeaderChange.NONE);
		assertRefused(() -> this.thread.title(text), "must ", "at 3");
		assertRefused(() -> this.thread.tags(Set.of(text)), "must ", "at 3");
	}

	@Test
	void titleThatIsStoredAlreadyIsReadAndCopied() {
		String title = "T".repeat(2_000) + "\n";
		this.store.commit(Commit.first(KEY).header(HeaderChange.NONE.title(title)));
		this.thread.tags(Set.of("support"));
		this.thread.fork(SessionKey.of("copy"));
		assertThat(this.store.find(SessionKey.of("copy"))).hasValueSatisfying((session) -> {
			assertThat(session.title()).isEqualTo(title);
			assertThat(session.tags()).containsExactly("support");
		});
	}

	private static Set<String> tags(int count, String each) {
		return IntStream.range(0, count).mapToObj((i) -> String.format("%s%03d", each, i)).collect(Collectors.toSet());
	}

	private static void assertRefused(ThrowingCallable write, String limit, String found) {
		assertThatIllegalArgumentException().isThrownBy(write)
			.withMessageContaining(limit)
			.withMessageContaining(found)
			.withMessageNotContaining("TTT")
			.withMessageNotContaining("ggg");
	}

}
