package io.sessionkit.benchmarks;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Encodes and decodes one message.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class CodecBenchmark {

	/**
	 * The kind of message that is encoded.
	 */
	public enum Kind {

		/** A question. */
		USER,

		/** A reply that calls two tools. */
		TOOL_CALLS,

		/** The results of both. */
		TOOL_RESPONSE;

		Message message(String text) {
			return switch (this) {
				case USER -> new UserMessage(text);
				case TOOL_CALLS -> AssistantMessage.builder()
					.content(text)
					.toolCalls(List.of(new ToolCall("call-1", "function", "find_order", "{\"id\":4711}"),
							new ToolCall("call-2", "function", "find_customer", "{\"name\":\"Ada\"}")))
					.build();
				case TOOL_RESPONSE -> ToolResponseMessage.builder()
					.responses(List.of(new ToolResponse("call-1", "find_order", text),
							new ToolResponse("call-2", "find_customer", "{\"id\":1}")))
					.build();
			};
		}

	}

	private static final SessionKey KEY = SessionKey.of("benchmark");

	private final MessageCodec codec = JsonMessageCodec.create();

	/** The kind of message. */
	@Param
	public Kind kind = Kind.USER;

	/** The number of characters of text. */
	@Param({ "200", "1000" })
	public int length;

	private Message message = new UserMessage("");

	private String payload = "";

	/**
	 * Creates the message.
	 */
	@Setup
	public void prepare() {
		this.message = this.kind.message(Dialogue.text(1, this.length));
		this.payload = this.codec.encode(KEY, this.message);
	}

	/**
	 * Encodes the message to text.
	 */
	@Benchmark
	public String encode() {
		return this.codec.encode(KEY, this.message);
	}

	/**
	 * Decodes the message from text.
	 */
	@Benchmark
	public Message decode() {
		return this.codec.decode(KEY, this.payload);
	}

}
