package io.sessionkit.internal.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The messages that the calls waiting in the line of a session offer to the turn of the
 * call at work. A message is part of that turn if the turn has recorded it after it was
 * taken here; the commit of the turn then answers its call. Safe for use by many threads.
 */
public final class Offering {

	private static final Log logger = LogFactory.getLog(Offering.class);

	private final Lines lines;

	private final SessionKey key;

	/** The place of the call at work. */
	private final FirstPlace place;

	/** The request of the call at work; null if its client cannot repeat it. */
	private final @Nullable Request own;

	private Supplier<List<Offered>> joined = List::of;

	/** The calls of which the last commit was to store that they are answered. */
	private Set<String> answering = Set.of();

	private final Set<String> answered = new HashSet<>();

	Offering(Lines lines, SessionKey key, FirstPlace place, @Nullable Request own) {
		this.lines = lines;
		this.key = key;
		this.place = place;
		this.own = own;
	}

	/**
	 * Registers the turn that takes what is offered.
	 * @param messages returns the offers whose messages are part of the turn
	 */
	public synchronized void joining(Supplier<List<Offered>> messages) {
		this.joined = messages;
	}

	/**
	 * Returns the calls that offer their messages or of which they were taken, in the
	 * order of arrival. That takes one round trip.
	 * @return the ids of the calls; none if this call has lost its place
	 */
	public List<String> waiting() {
		return this.place.offering();
	}

	/**
	 * Reads what calls offer.
	 * @param ids the calls
	 * @return the offers, in the order of the calls; an offer that has expired is not
	 * among them, nor is one whose request is answered
	 */
	public List<Offered> read(List<String> ids) {
		return ids.isEmpty() ? List.of()
				: this.lines.offers().read(this.key, ids).stream().filter(this::isUnanswered).toList();
	}

	/**
	 * Returns whether no turn answers the request of a call. It may have made the request
	 * a second time, after the first call was killed.
	 */
	private boolean isUnanswered(Offered offered) {
		Request request = offered.request();
		if (request == null) {
			return true;
		}
		if (this.own != null && this.own.id().equals(request.id())) {
			return false;
		}
		SessionRecord record = this.lines.record(this.key, LineName.of(request));
		return record == null || this.lines.line(record).answer() == null;
	}

	/**
	 * Takes the messages of calls that were {@link #waiting} when the line was read last.
	 * From then on these calls wait for the turn.
	 * @param ids the calls
	 * @return false if the line has changed since it was read, and nothing was taken
	 */
	public boolean take(Collection<String> ids) {
		return this.place.take(ids);
	}

	/** Returns the calls that the turn answers. */
	Set<String> joined() {
		return offers().stream().map(Offered::id).collect(Collectors.toSet());
	}

	private synchronized List<Offered> offers() {
		return this.joined.get();
	}

	/**
	 * Creates the writes that store which turn answers the calls whose messages are part
	 * of it, as far as that is not stored. Whoever repeats the request of such a call
	 * gets that turn too.
	 * @param ends whether the turn ends: then its requests are not remembered forever
	 */
	List<RecordWrite> answers(Answer turn, boolean ends) {
		List<Offered> all = offers();
		List<Offered> news = all.stream().filter((each) -> !this.answered.contains(each.id())).toList();
		this.answering = news.stream().map(Offered::id).collect(Collectors.toSet());
		List<RecordWrite> writes = new ArrayList<>();
		news.forEach((each) -> writes.add(this.lines.offers().answer(this.key, each.id(), turn)));
		requests(ends ? all : news).forEach((request) -> writes.add(answered(request, turn, ends)));
		return writes;
	}

	/** Returns the requests of some calls, each once. */
	private static Collection<Request> requests(List<Offered> calls) {
		Map<String, Request> requests = new LinkedHashMap<>();
		for (Offered each : calls) {
			Request request = each.request();
			if (request != null) {
				requests.putIfAbsent(request.id(), request);
			}
		}
		return requests.values();
	}

	private RecordWrite answered(Request request, Answer turn, boolean ends) {
		LineName name = LineName.of(request);
		Line line = new Line(List.of(), request.content(), turn);
		return ends ? this.lines.writeLeft(this.key, name, line, RecordWrite.ANY)
				: this.lines.write(this.key, name, line, RecordWrite.ANY);
	}

	/** Continues after the commit that has stored what answers the calls. */
	void answered() {
		this.answered.addAll(this.answering);
	}

	/**
	 * Stores that a turn has ended which answers requests of other calls, and of which no
	 * commit has left the line: they are not remembered forever.
	 */
	void end(Answer turn) {
		try {
			Uninterrupted.call(() -> {
				requests(answeredOffers()).forEach((each) -> this.lines.put(this.key, answered(each, turn, true)));
				return null;
			});
		}
		catch (RuntimeException ex) {
			logger.warn("The requests that a turn on session " + this.key
					+ " has answered are remembered as long as the session: " + ex.getClass().getName());
		}
	}

	private List<Offered> answeredOffers() {
		return offers().stream().filter((each) -> this.answered.contains(each.id())).toList();
	}

}
