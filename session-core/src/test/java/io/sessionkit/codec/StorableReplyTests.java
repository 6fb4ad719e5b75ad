package io.sessionkit.codec;

import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.message.MessageParts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SuppressWarnings("NullAway") // null metadata, which Spring AI takes without declaring it
@Isolated
class StorableReplyTests {

	private static final SessionKey KEY = SessionKey.of("thread");

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(LeftOut.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final JsonMessageCodec codec = JsonMessageCodec.create();

	@BeforeEach
	void captureLog() {
		this.log.start();
		LOGGER.addAppender(this.log);
	}

	@AfterEach
	void releaseLog() {
		LOGGER.detachAppender(this.log);
	}

	@Test
	void aStorableReplyIsReturnedItself() {
		Message reply = reply((metadata) -> metadata.put("nothing", null));
		assertThat(this.codec.storable(reply)).isSameAs(reply);
		assertThat(this.codec.leftOut()).isZero();
	}

	@Test
	void anUnknownEntryAloneIsLeftOut() {
		Message reply = reply((metadata) -> {
			metadata.put("kept", 1L);
			metadata.put("nothing", null);
			metadata.put("nested", Map.of("list", List.of("kept?", new Date(0))));
		});
		AssistantMessage storable = (AssistantMessage) this.codec.storable(reply);
		assertThat(storable.getMetadata()).containsOnlyKeys("kept", "nothing", "messageType");
		assertThat(storable.getText()).isEqualTo("Hi.");
		assertThat(storable.getToolCalls()).hasSize(1);
		assertThat(storable.getMedia()).hasSize(1);
		assertThat(this.codec.leftOut()).isEqualTo(1);
		assertThat(reply.getMetadata()).containsKey("nested");
		Deep.assertEqual(this.codec.decode(KEY, this.codec.encode(KEY, storable)), storable);
	}

	@Test
	void aKeyAndClassAreLoggedOnceWithoutTheValue() {
		for (int i = 0; i < 3; i++) {
			this.codec.storable(reply((metadata) -> metadata.put("when\n", new StringBuilder("s3cret"))));
		}
		this.codec.storable(reply((metadata) -> metadata.put("when\n", new Date(0))));
		assertThat(this.codec.leftOut()).isEqualTo(4);
		assertThat(this.log.list).hasSize(2).allSatisfy((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains("metadata 'when\\u000A'").doesNotContain("s3cret", "\n");
		});
		assertThat(this.log.list.get(0).getFormattedMessage()).contains("java.lang.StringBuilder");
	}

	@Test
	void enumConstantsBecomeTheirNames() {
		Message reply = reply((metadata) -> {
			metadata.put("unit", TimeUnit.DAYS);
			metadata.put("withBody", WithBody.ONE);
			metadata.put("nested", Map.of("list", List.of(TimeUnit.HOURS, 1, Set.of(TimeUnit.DAYS))));
			metadata.put("nothing", null);
		});
		for (JsonMessageCodec each : List.of(this.codec, this.codec.strict())) {
			AssistantMessage storable = (AssistantMessage) each.storable(reply);
			assertThat(storable.getMetadata()).containsEntry("unit", "DAYS")
				.containsEntry("withBody", "ONE")
				.containsEntry("nested", Map.of("list", List.of("HOURS", 1, Set.of("DAYS"))))
				.containsEntry("nothing", null);
			assertThat(storable.getToolCalls()).hasSize(1);
			assertThat(storable.getMedia()).hasSize(1);
			Deep.assertEqual(this.codec.decode(KEY, this.codec.encode(KEY, storable)), storable);
			assertThat(each.leftOut()).isZero();
		}
		assertThat(this.log.list).isEmpty();
		assertThat(reply.getMetadata()).containsEntry("unit", TimeUnit.DAYS);
	}

	@Test
	void enumConstantsBecomeTheirNamesBesideWhatIsLeftOut() {
		List<Object> itself = new ArrayList<>(List.of(TimeUnit.DAYS));
		itself.add(itself);
		itself.add(itself);
		Message reply = reply((metadata) -> {
			metadata.put("unit", TimeUnit.DAYS);
			metadata.put("when", List.of(TimeUnit.DAYS, new Date(0)));
			metadata.put("itself", itself);
			metadata.put("keys", Map.of(TimeUnit.DAYS, 1));
		});
		AssistantMessage storable = (AssistantMessage) this.codec.storable(reply);
		assertThat(storable.getMetadata()).containsOnlyKeys("unit", "messageType").containsEntry("unit", "DAYS");
		assertThat(this.codec.leftOut()).isEqualTo(3);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> this.codec.strict().storable(reply));
	}

	@Test
	void anEnumConstantOfASubclassBecomesItsName() {
		AssistantMessage reply = new AssistantMessage("Hi.") {
		};
		reply.getMetadata().put("unit", TimeUnit.DAYS);
		assertThat(this.codec.storable(reply).getMetadata()).containsEntry("unit", "DAYS");
		assertThat(this.codec.leftOut()).isEqualTo(1);
	}

	private enum WithBody {

		ONE {

			@Override
			public String toString() {
				return "another text";
			}

		}

	}

	@Test
	void aStrictCodecThrowsInstead() {
		Message reply = reply((metadata) -> metadata.put("when", new Date(0)));
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> this.codec.strict().storable(reply))
			.withMessageContaining("metadata 'when'")
			.withMessageContaining("java.util.Date");
	}

	@Test
	void loneSurrogatesInTextsAreReplaced() {
		AssistantMessage reply = AssistantMessage.builder()
			.content("cut \uD83D")
			.toolCalls(List.of(new ToolCall(null, "function", "find", "{\"q\":\"\uDE00\"}")))
			.properties(Map.of("cut", "\uD83D", "kept", "\uD83D\uDE00"))
			.build();
		AssistantMessage storable = (AssistantMessage) this.codec.storable(reply);
		assertThat(storable.getText()).isEqualTo("cut \uFFFD");
		assertThat(storable.getToolCalls())
			.containsExactly(new ToolCall(null, "function", "find", "{\"q\":\"\uFFFD\"}"));
		assertThat(storable.getMetadata()).containsOnlyKeys("kept", "messageType");
		assertThat(this.codec.leftOut()).isEqualTo(3);
		assertThat(this.codec.decode(KEY, this.codec.encode(KEY, storable))).isEqualTo(storable);
	}

	@Test
	void loneSurrogatesInToolResponsesAreReplaced() {
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("1", "find", "\uD83Dx")))
			.build();
		assertThat(((ToolResponseMessage) this.codec.storable(results)).getResponses())
			.containsExactly(new ToolResponse("1", "find", "\uFFFDx"));
		assertThat(this.codec.leftOut()).isEqualTo(1);
	}

	@Test
	void aSubclassBecomesThePlainMessage() {
		AssistantMessage reply = new ThinkingMessage("Hi.", Map.of("kept", 1));
		Message storable = this.codec.storable(reply);
		assertThat(storable.getClass()).isEqualTo(AssistantMessage.class);
		assertThat(storable).isEqualTo(reply);
		assertThat(this.codec.leftOut()).isEqualTo(1);
		assertThat(this.log.list.get(0).getFormattedMessage()).contains(ThinkingMessage.class.getName());
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> this.codec.strict().storable(reply));
	}

	@Test
	void aMessageThatIsNoneOfSpringAisIsRefused() {
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> this.codec.storable(new OtherMessage()))
			.withMessageContaining(OtherMessage.class.getName());
	}

	@Test
	void anEntryUnderTheKeyOfTheTypeIsLeftOut() {
		Message reply = reply((metadata) -> {
		});
		reply.getMetadata().put("messageType", "ASSISTANT");
		assertThat(this.codec.storable(reply).getMetadata()).containsEntry("messageType", MessageType.ASSISTANT);
		assertThat(this.codec.leftOut()).isEqualTo(1);
	}

	private static AssistantMessage reply(Consumer<Map<String, @Nullable Object>> metadata) {
		Map<String, @Nullable Object> entries = new HashMap<>();
		metadata.accept(entries);
		return MessageParts.assistant("Hi.", List.of(new ToolCall("1", "function", "find", "{}")),
				List.of(Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(new byte[1]).build()), entries);
	}

	private static final class ThinkingMessage extends AssistantMessage {

		ThinkingMessage(String text, Map<String, Object> metadata) {
			super(text, metadata, List.of(), List.of());
		}

	}

	private static final class OtherMessage implements Message {

		@Override
		public MessageType getMessageType() {
			return MessageType.ASSISTANT;
		}

		@Override
		public String getText() {
			return "";
		}

		@Override
		public Map<String, Object> getMetadata() {
			return Map.of();
		}

	}

}
