package io.sessionkit.advisor;

import io.sessionkit.internal.Sha256;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.opening.TurnRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.content.Media;

/**
 * The digest of what a call asks: its messages without their metadata, its agent, and the
 * place at which its turn begins. Two calls with the same digest ask the same, whichever
 * tools, options and system text they have.
 */
final class ContentDigest {

	/** Bytes that no text in UTF-8 has. */
	private static final int PART = 0xff;

	private static final int ABSENT = 0xfe;

	private static final int END = 0xfd;

	private final Sha256 digest = new Sha256();

	private ContentDigest() {
	}

	/**
	 * Returns the digest of what a call asks.
	 * @param asking the data with which its turn starts
	 * @return 64 hexadecimal digits
	 */
	static String of(TurnRequest asking) {
		ContentDigest content = new ContentDigest();
		TurnRequest.Start start = asking.start();
		content.add(asking.agent()).add(start.kind().name()).add(String.valueOf(start.turn())).add(start.branch());
		for (Message message : start.given()) {
			content.add(MessageContent.of(message));
		}
		if (start.isGiven()) {
			content.digest.add(END);
		}
		for (Message message : asking.input()) {
			content.add(MessageContent.of(message));
		}
		return content.digest.hex();
	}

	private void add(MessageContent message) {
		add(message.type().name()).add(message.text());
		for (ToolCall call : message.calls()) {
			add(call.id()).add(call.name()).add(call.arguments());
		}
		for (ToolResponse response : message.responses()) {
			add(response.id()).add(response.name()).add(response.responseData());
		}
		for (Media media : message.media()) {
			// not the name: Spring AI draws one for each object that has none
			add(media.getMimeType().toString()).add(media.getData());
		}
		this.digest.add(END);
	}

	/** An absent part is not an empty one, and two parts are not one longer part. */
	private ContentDigest add(@Nullable Object part) {
		if (part instanceof byte[] bytes) {
			this.digest.add(bytes);
		}
		else if (part != null) {
			this.digest.add(part.toString());
		}
		this.digest.add((part != null) ? PART : ABSENT);
		return this;
	}

}
