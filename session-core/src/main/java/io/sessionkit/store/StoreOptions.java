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
 * What every store is built with.
 *
 * @param codec how messages and values look at rest
 * @param clock the time of turns and items, and of the in-memory store's expiry
 * @param turnIds gives ids to turns; each must be new
 * @param tokens estimates the size of a message, once, when it is written
 * @param timeToLive how long a new session lives after its last write; null: for good
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
	 * The system's UTC clock, random ids, Spring AI's estimate of tokens, sessions that
	 * stay.
	 * @param codec how messages and values look at rest
	 * @return the options
	 */
	public static StoreOptions of(MessageCodec codec) {
		return new StoreOptions(codec, Clock.systemUTC(), () -> UUID.randomUUID().toString(), MessageTokens.standard(),
				null);
	}

	/**
	 * The time, to the microsecond: what every store can keep.
	 * @return the instant by the clock
	 */
	public Instant now() {
		return this.clock.instant().truncatedTo(ChronoUnit.MICROS);
	}

	/**
	 * These options with a clock.
	 * @param clock the clock
	 * @return a copy with it
	 */
	public StoreOptions clock(Clock clock) {
		return new StoreOptions(this.codec, clock, this.turnIds, this.tokens, this.timeToLive);
	}

	/**
	 * These options with a source of turn ids.
	 * @param turnIds gives an id that was never given before
	 * @return a copy with it
	 */
	public StoreOptions turnIds(Supplier<String> turnIds) {
		return new StoreOptions(this.codec, this.clock, turnIds, this.tokens, this.timeToLive);
	}

	/**
	 * These options with a token estimate.
	 * @param tokens estimates the size of a message
	 * @return a copy with it
	 */
	public StoreOptions tokens(ToIntFunction<Message> tokens) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, tokens, this.timeToLive);
	}

	/**
	 * These options with a time to live.
	 * @param timeToLive how long a new session lives after its last write; null: for good
	 * @return a copy with it
	 */
	public StoreOptions timeToLive(@Nullable Duration timeToLive) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, this.tokens, timeToLive);
	}

}
