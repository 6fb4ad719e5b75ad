package io.sessionkit.internal.line;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.Verdict;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.store.Commit;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the stored form of what a waiting call offers, and of the answer to it: processes
 * of two versions may work on one session. The files are never edited.
 */
class OfferVersionTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final List<Message> MESSAGES = List.of(new UserMessage("and the tests, please"));

	private static final List<Verdict> VERDICTS = List.of(
			new Verdict("Redactor", Verdict.Phase.BEFORE_TURN, Verdict.Kind.REPLACED, null),
			new Verdict("Moderation", Verdict.Phase.BEFORE_TURN, Verdict.Kind.PASSED, "score 0.2"));

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Offers offers = new Offers(this.store);

	private static String file(String name) throws IOException {
		try (InputStream in = OfferVersionTests.class.getResourceAsStream(name)) {
			return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8).strip();
		}
	}

	private void store(String payload) {
		this.store.commit(Commit.first(KEY).records(List.of(RecordWrite.create("offer", "ticket-1", payload))));
	}

	@Test
	void offerOfVersionOneIsRead() throws IOException {
		store(file("offer-v1.json"));
		List<Offered> read = this.offers.read(KEY, List.of("ticket-1"));
		assertThat(read).hasSize(1);
		Offer offer = read.get(0).offer();
		assertThat(offer.messages()).extracting(Message::getText).containsExactly("and the tests, please");
		assertThat(offer.agent()).isEqualTo("helper");
		assertThat(offer.expectedTurn()).isEqualTo(7);
		assertThat(read.get(0).request()).isEqualTo(new Request("id-1", "digest-1", Duration.ofMinutes(5)));
	}

	@Test
	void offerThatHooksWereAskedAboutIsReadAndWritten() throws IOException {
		JoiningInput input = new JoiningInput(MESSAGES, List.of("Redactor", "Moderation"), VERDICTS);
		RecordWrite write = this.offers.write(KEY, new Offered("ticket-1", new Offer(input, "helper", 7), null),
				Duration.ofMinutes(1));
		assertThat(values(write.payload())).isEqualTo(values(file("offer-asked-v1.json")));
		store(file("offer-asked-v1.json"));
		JoiningInput read = this.offers.read(KEY, List.of("ticket-1")).get(0).offer().input();
		assertThat(read).isEqualTo(input).hasToString("JoiningInput[1 messages]");
	}

	@Test
	void answerOfVersionOneIsRead() throws IOException {
		store(file("offer-answer-v1.json"));
		assertThat(this.offers.answer(KEY, "ticket-1")).isEqualTo(new Answer("turn-1", 3));
		assertThat(this.offers.read(KEY, List.of("ticket-1"))).isEmpty();
	}

	@Test
	void whatIsWrittenNowIsVersionOne() throws IOException {
		Offer offer = new Offer(JoiningInput.unchecked(MESSAGES), "helper", 7);
		RecordWrite write = this.offers.write(KEY,
				new Offered("ticket-1", offer, new Request("id-1", "digest-1", Duration.ofMinutes(5))),
				Duration.ofMinutes(1));
		assertThat(values(write.payload())).isEqualTo(values(file("offer-v1.json")));
		assertThat(values(this.offers.answer(KEY, "ticket-1", new Answer("turn-1", 3)).payload()))
			.isEqualTo(values(file("offer-answer-v1.json")));
	}

	private Object values(String payload) {
		return this.store.options().codec().decodeValues(KEY, payload);
	}

}
