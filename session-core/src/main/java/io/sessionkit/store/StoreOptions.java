package io.sessionkit.store;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

import io.sessionkit.codec.MessageCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The options that every store is built with.
 *
 * @param codec encodes and decodes messages and values
 * @param clock the time of turns and items, and of the in-memory store's expiry
 * @param turnIds creates the ids of turns; each must be new
 * @param tokens estimates the size of a message, once, when it is written
 * @param timeToLive how long a new session lives after its last write; null if it never
 * expires
 */
public record StoreOptions(MessageCodec codec, Clock clock, Supplier<String> turnIds, ToIntFunction<Message> tokens,
		@Nullable Duration timeToLive) {

	public StoreOptions {
		if (timeToLive != null && (timeToLive.isNegative() || timeToLive.isZero())) {
			throw new IllegalArgumentException(
					"The time to live must be positive: " + timeToLive + ". Leave it out for sessions that stay.");
		}
		timeToLive = Lives.kept(timeToLive);
	}

	/**
	 * Creates options with the system's UTC clock, random ids, Spring AI's token estimate
	 * and sessions that never expire.
	 * @param codec encodes and decodes messages and values
	 * @return the options
	 */
	public static StoreOptions of(MessageCodec codec) {
		return new StoreOptions(codec, Clock.systemUTC(), () -> UUID.randomUUID().toString(), MessageTokens.standard(),
				null);
	}

	/**
	 * Returns the current time in whole microseconds, which every store can keep.
	 * @return the instant by the clock
	 */
	public Instant now() {
		return this.clock.instant().truncatedTo(ChronoUnit.MICROS);
	}

	/**
	 * Returns a copy of these options with a clock.
	 * @param clock the clock
	 * @return the copy
	 */
	public StoreOptions clock(Clock clock) {
		return new StoreOptions(this.codec, clock, this.turnIds, this.tokens, this.timeToLive);
	}

	/**
	 * Returns a copy of these options with a source of turn ids.
	 * @param turnIds creates ids that it has never created before
	 * @return the copy
	 */
	public StoreOptions turnIds(Supplier<String> turnIds) {
		return new StoreOptions(this.codec, this.clock, turnIds, this.tokens, this.timeToLive);
	}

	/**
	 * Returns a copy of these options with a token estimate.
	 * @param tokens estimates the size of a message
	 * @return the copy
	 */
	public StoreOptions tokens(ToIntFunction<Message> tokens) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, tokens, this.timeToLive);
	}

	/**
	 * Returns a copy of these options with a time to live.
	 * @param timeToLive how long a new session lives after its last write; null if it
	 * never expires
	 * @return the copy
	 */
	public StoreOptions timeToLive(@Nullable Duration timeToLive) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, this.tokens, timeToLive);
	}

}
