package io.sessionkit.migration;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;

import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;

/**
 * A turn of a source: a question and its answer.
 *
 * @param messages its messages
 */
record SourceTurn(List<SourceMessage> messages) {

	SourceTurn {
		messages = List.copyOf(messages);
	}

	/** Returns the write of the turn, with the times of the source. */
	TurnWrite write(StoreOptions options) {
		Instant now = options.now();
		List<NewItem> items = this.messages.stream().map((message) -> item(message, now, options)).toList();
		Turn turn = Turn.builder(options.turnIds().get(), items.get(0).at())
			.status(TurnStatus.COMPLETED, items.get(items.size() - 1).at())
			.build();
		return new TurnWrite(turn, 0, items);
	}

	private static NewItem item(SourceMessage source, Instant now, StoreOptions options) {
		Instant at = (source.at() != null) ? source.at().truncatedTo(ChronoUnit.MICROS) : now;
		return new NewItem(Objects.requireNonNull(source.message()), at, options.tokens().applyAsInt(source.message()));
	}

}
