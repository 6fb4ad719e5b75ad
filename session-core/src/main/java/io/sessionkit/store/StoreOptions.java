package io.sessionkit.store;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.RandomNumbers;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.util.unit.DataSize;

/**
 * The options that every store is built with.
 *
 * @param codec encodes and decodes messages and values
 * @param clock the time of turns and items, and of the in-memory store's expiry
 * @param turnIds creates the ids of turns; each must be new. By default they are random
 * @param tokens estimates the size of a message, once, when it is written
 * @param timeToLive how long a new session lives after its last write; null if it never
 * expires
 * @param viewCache about how much memory the views may take that a store keeps in this
 * process, so that it need not read those again that have not changed; 0 keeps none. The
 * in-memory store keeps none
 */
public record StoreOptions(MessageCodec codec, Clock clock, Supplier<String> turnIds, ToIntFunction<Message> tokens,
		@Nullable Duration timeToLive, DataSize viewCache) {

	private static final Supplier<String> RANDOM_IDS = () -> RandomNumbers.uuid().toString();

	/** The default size of the views that a store keeps. */
	public static final DataSize VIEW_CACHE = DataSize.ofMegabytes(16);

	public StoreOptions {
		if (timeToLive != null && (timeToLive.isNegative() || timeToLive.isZero())) {
			throw new IllegalArgumentException(
					"The time to live must be positive: " + timeToLive + ". Leave it out for sessions that stay.");
		}
		timeToLive = Lives.kept(timeToLive);
		if (viewCache.isNegative()) {
			throw new IllegalArgumentException(
					"The views that a store keeps cannot take less than nothing: " + viewCache + ". 0 keeps none.");
		}
	}

	/**
	 * Creates options with the system's UTC clock, random ids, a token estimate by length
	 * and sessions that never expire.
	 * @param codec encodes and decodes messages and values
	 * @return the options
	 */
	public static StoreOptions of(MessageCodec codec) {
		return new StoreOptions(codec, Clock.systemUTC(), RANDOM_IDS, MessageTokens.byLength(), null, VIEW_CACHE);
	}

	/**
	 * Returns the current time in whole microseconds, which every store can keep.
	 * @return the instant by the clock
	 */
	public Instant now() {
		return this.clock.instant().truncatedTo(ChronoUnit.MICROS);
	}

	/**
	 * Returns a new id for a turn. Unless the options have a source of turn ids of their
	 * own, it begins with the number of the turn: a store can then find the turn without
	 * an index of ids.
	 * @param number the number that the turn will get if no other is stored before it
	 * @return the id
	 */
	public String newTurnId(long number) {
		String id = this.turnIds.get();
		return (this.turnIds == RANDOM_IDS) ? number + "-" + id : id;
	}

	/**
	 * Creates the items of messages, with the size that the token estimate gives to each.
	 * @param messages the messages
	 * @param at when they were said
	 * @return the items, in the order of the messages
	 */
	public List<NewItem> items(List<? extends Message> messages, Instant at) {
		return messages.stream().map((message) -> new NewItem(message, at, this.tokens.applyAsInt(message))).toList();
	}

	/**
	 * Returns a copy of these options with a clock.
	 * @param clock the clock
	 * @return the copy
	 */
	public StoreOptions clock(Clock clock) {
		return new StoreOptions(this.codec, clock, this.turnIds, this.tokens, this.timeToLive, this.viewCache);
	}

	/**
	 * Returns a copy of these options with a source of turn ids.
	 * @param turnIds creates ids that it has never created before
	 * @return the copy
	 */
	public StoreOptions turnIds(Supplier<String> turnIds) {
		return new StoreOptions(this.codec, this.clock, turnIds, this.tokens, this.timeToLive, this.viewCache);
	}

	/**
	 * Returns a copy of these options with a token estimate.
	 * @param tokens estimates the size of a message
	 * @return the copy
	 */
	public StoreOptions tokens(ToIntFunction<Message> tokens) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, tokens, this.timeToLive, this.viewCache);
	}

	/**
	 * Returns a copy of these options with a time to live.
	 * @param timeToLive how long a new session lives after its last write; null if it
	 * never expires
	 * @return the copy
	 */
	public StoreOptions timeToLive(@Nullable Duration timeToLive) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, this.tokens, timeToLive, this.viewCache);
	}

	/**
	 * Returns a copy of these options with a size of the views that a store keeps.
	 * @param viewCache about how much memory they may take; 0 keeps none
	 * @return the copy
	 */
	public StoreOptions viewCache(DataSize viewCache) {
		return new StoreOptions(this.codec, this.clock, this.turnIds, this.tokens, this.timeToLive, viewCache);
	}

}
