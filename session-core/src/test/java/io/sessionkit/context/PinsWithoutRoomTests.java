package io.sessionkit.context;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.view.ViewTrimmer;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what becomes of the rest of the history if pinned turns are larger than the
 * limits. Each message has ten tokens.
 */
@Isolated
class PinsWithoutRoomTests {

	private static final SessionKey T1 = SessionKey.of("pins-without-room");

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(ViewTrimmer.class);

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens((message) -> 10));

	private final ScriptedChatModel model = new ScriptedChatModel().reports(0);

	/** Other tests do not log what is planned. */
	@BeforeEach
	void logWarnings() {
		logger().setLevel(Level.WARN);
	}

	@AfterEach
	void logAsBefore() {
		logger().setLevel(Level.ERROR);
	}

	private static Logger logger() {
		return (Logger) LoggerFactory.getLogger(ViewTrimmer.class);
	}

	@Test
	void pinnedTurnThatIsLargerThanTheLimitLeavesItsRoomToOthersAndIsWarnedOfOnce() {
		this.store.add(T1, turn("large", 10));
		history(3);
		Conversations conversations = conversations(Trim.keepLastTokens(50).pins(Pins.firstUser()));
		ask(conversations, "u4");
		assertThat(this.model.lastRequestLines()).containsExactly("user: u2", "assistant: a2", "user: u3",
				"assistant: a3", "user: u4");
		ask(conversations, "u5");
		assertThat(this.model.lastRequestLines()).contains("user: u3", "user: u4", "user: u5");
		assertThat(warnings()).singleElement().asString().contains(T1.toString(), "no room", "trim.max-tokens");
		ask(conversations(Trim.keepLastTokens(40).pins(Pins.firstUser())), "u6");
		assertThat(warnings()).as("other limits").hasSize(2);
	}

	@Test
	void pinnedTurnThatHasNoRoomBesideTheQuestionLeavesItsRoomToOthers() {
		this.store.add(T1, turn("large", 6));
		history(3);
		ask(conversations(Trim.keepLastTokens(65).pins(Pins.firstUser())), "u4");
		assertThat(this.model.lastRequestLines()).containsExactly("user: u2", "assistant: a2", "user: u3",
				"assistant: a3", "user: u4");
	}

	@Test
	void pinnedTurnThatHasTooManyMessagesLeavesItsRoomToOthers() {
		this.store.add(T1, turn("large", 6));
		history(3);
		ask(conversations(Trim.keepLastMessages(6).pins(Pins.firstUser())), "u4");
		assertThat(this.model.lastRequestLines()).containsExactly("user: u2", "assistant: a2", "user: u3",
				"assistant: a3", "user: u4");
		assertThat(warnings()).hasSize(1);
	}

	@Test
	void ofPinnedTurnsThatHaveNoRoomTogetherTheNewestStayAndOthersFillTheRoomThatIsLeft() {
		this.store.add(T1, turn("small", 2));
		this.store.add(T1, pinned("old", 6));
		this.store.add(T1, pinned("new", 6));
		history(3);
		ask(conversations(Trim.keepLastTokens(110).pins(Pins.firstUser().andMetadata("pin"))), "u4");
		assertThat(this.model.lastRequestLines()).contains("user: small", "user: new", "user: u3")
			.doesNotContain("user: old", "user: u2")
			.hasSize(11);
	}

	@Test
	void pinnedTurnIsLeftOutOnceTheToolsOfTheQuestionNeedItsRoom() {
		this.store.add(T1, turn("first", 2));
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1")).says("a1");
		client(conversations(Trim.keepLastTokens(40).pins(Pins.firstUser()))).prompt()
			.user("u1")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).doesNotContain("user: first").contains("user: u1");
		assertThat(warnings()).hasSize(1);
	}

	private List<String> warnings() {
		return this.log.events().stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	private void history(int turns) {
		for (int i = 1; i <= turns; i++) {
			this.store.add(T1, List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
	}

	private static List<Message> turn(String question, int messages) {
		return turn(new UserMessage(question), messages);
	}

	private static List<Message> pinned(String question, int messages) {
		return turn(UserMessage.builder().text(question).metadata(Map.of("pin", true)).build(), messages);
	}

	private static List<Message> turn(UserMessage question, int messages) {
		List<Message> turn = new ArrayList<>(List.of(question));
		while (turn.size() < messages) {
			turn.add(new AssistantMessage("reply " + turn.size()));
		}
		return turn;
	}

	private Conversations conversations(Trim trim) {
		return Conversations.builder(this.store).trim(trim).build();
	}

	private void ask(Conversations conversations, String question) {
		this.model.says("a");
		client(conversations).prompt().user(question).advisors(SessionAdvisor.session(T1)).call().content();
	}

	private ChatClient client(Conversations conversations) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
	}

}
