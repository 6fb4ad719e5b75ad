package io.sessionkit.internal.commit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.internal.message.TurnSplitter;
import io.sessionkit.internal.opening.ReplayedParameters;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Makes of what was recorded of one turn what is to be written of it.
 */
final class TurnDraft {

	private final TurnRequest request;

	private final TurnOrigins origins;

	/** The turn as earlier calls have left it; null if this call opened it. */
	private final @Nullable Turn continued;

	private final ShownHistory shown;

	private final StoreOptions options;

	TurnDraft(TurnOrigins origins, @Nullable Turn continued, ShownHistory shown, StoreOptions options) {
		this.request = origins.request();
		this.origins = origins;
		this.continued = continued;
		this.shown = shown;
		this.options = options;
	}

	/**
	 * Returns what is to be written of the turn.
	 * @param stored the turn as it was last stored; null if nothing of it is stored
	 * @param part the number of its stored parts
	 * @param seed the last turn of the history with which the session is to start anew; 0
	 * for none
	 */
	TurnWrite write(TurnWriter.Outline outline, @Nullable Turn stored, int part, long seed) {
		Map<String, Object> replayed = (part == 0) ? this.origins.start().parameters().replayed() : Map.of();
		Turn.Origin origin = (stored != null) ? stored.origin() : origin(outline);
		return new TurnWrite(new Turn(this.origins.start().id(), place(seed), origin, progress(outline)), part,
				replayed.isEmpty() ? items(outline.kept()) : items(outline.kept(), replayed));
	}

	private Turn.Place place(long seed) {
		Session before = this.origins.place().seen();
		return (before != null) ? new Turn.Place(0, (seed != 0) ? seed : before.head(), before.branch(), 0, 0)
				: new Turn.Place(0, seed, Session.MAIN, 0, 0);
	}

	private List<NewItem> items(List<Transcript.Entry> kept) {
		return kept.stream().map((entry) -> item(entry, entry.message())).toList();
	}

	private List<NewItem> items(List<Transcript.Entry> kept, Map<String, Object> replayed) {
		return ReplayedParameters.keep(kept, replayed)
			.stream()
			.map((entry) -> item(entry, ReplayedParameters.shown(entry.message(), replayed)))
			.toList();
	}

	/**
	 * Returns an item to write.
	 * @param shown the message as it will be shown to the model, which is what counts
	 */
	private NewItem item(Transcript.Entry entry, Message shown) {
		return new NewItem(entry.message(), entry.at(), this.options.tokens().applyAsInt(shown));
	}

	private Turn.Origin origin(TurnWriter.Outline outline) {
		return new Turn.Origin(this.origins.start().startedAt(), this.request.agent(), this.request.tools(),
				this.shown.snapshot(), parameters(outline));
	}

	private Map<String, Object> parameters(TurnWriter.Outline outline) {
		Map<String, Object> kept = outline.kept().isEmpty() ? Map.of() : this.origins.start().parameters().values();
		Map<String, Object> marks = marks(outline.end().status());
		if (marks.isEmpty()) {
			return kept;
		}
		Map<String, Object> all = new HashMap<>(kept);
		all.putAll(marks);
		return all;
	}

	/** A turn that stays open says how the call that continues it finds its history. */
	private Map<String, Object> marks(TurnStatus status) {
		TurnPlace place = this.origins.place();
		if (place.startsAnew() && (status.isOpen() || status == TurnStatus.COMPLETED)) {
			return Map.of(Turn.STARTS_ANEW, (long) TurnSplitter.split(place.given()).size());
		}
		TurnRequest.Start start = this.request.start();
		return (start.kind() == TurnRequest.Start.Kind.USE_IF_PROVIDED && status.isOpen())
				? Map.of(Turn.GIVEN_HISTORY, (long) start.given().size()) : Map.of();
	}

	private Turn.Progress progress(TurnWriter.Outline outline) {
		TurnStatus status = outline.end().status();
		List<Round> rounds = joined((this.continued != null) ? this.continued.rounds() : List.of(), outline.rounds());
		String model = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1).model();
		return new Turn.Progress(status, status.isOpen() ? null : this.options.now(),
				(model != null && !model.isEmpty()) ? model : this.request.model(), rounds, outline.end().failure(),
				verdicts(outline.verdicts()));
	}

	/**
	 * Returns each verdict once, no matter which call of the turn it comes from.
	 */
	private List<Verdict> verdicts(List<Verdict> ofCall) {
		return (this.continued != null) ? joined(this.continued.verdicts(), ofCall).stream().distinct().toList()
				: ofCall;
	}

	private static <T> List<T> joined(List<T> before, List<T> now) {
		return Stream.concat(before.stream(), now.stream()).toList();
	}

}
