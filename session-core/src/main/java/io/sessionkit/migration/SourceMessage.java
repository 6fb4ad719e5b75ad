package io.sessionkit.migration;

import java.time.Instant;

import io.sessionkit.migration.ImportReport.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * A message of a source.
 *
 * @param position its place in the conversation; the next one has a greater position
 * @param name the name of the message in reports
 * @param at when it was stored; null if the source does not know
 * @param message the message; null if it is left out
 * @param leftOut the reason why it is left out; null if it is not
 * @param mark what the source says about it
 */
record SourceMessage(long position, String name, @Nullable Instant at, @Nullable Message message,
		@Nullable Reason leftOut, Mark mark) {

	/** The judgement of a source on a message. */
	enum Mark {

		/** The source says nothing about it. */
		NONE,

		/** It is no longer sent to the model. */
		ARCHIVED,

		/** It was made from archived messages. */
		SYNTHETIC

	}

	static SourceMessage of(long position, @Nullable Instant at, Message message) {
		return new SourceMessage(position, Long.toString(position), at, message, null, Mark.NONE);
	}

	static SourceMessage leftOut(long position, Reason reason) {
		return new SourceMessage(position, Long.toString(position), null, null, reason, Mark.NONE);
	}

	SourceMessage with(Message message) {
		return new SourceMessage(this.position, this.name, this.at, message, this.leftOut, this.mark);
	}

	SourceMessage named(String name, Mark mark) {
		return new SourceMessage(this.position, name, this.at, this.message, this.leftOut, mark);
	}

}
