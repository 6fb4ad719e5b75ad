package io.sessionkit.autoconfigure.observation;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.InvalidSessionKeyException;
import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * The endpoint {@code sessions} of Actuator: the sessions of an owner and the tool calls
 * that wait in them, and one session with its turns. It shows no texts of conversations
 * unless the application allows it. Erasing a session needs unrestricted access to the
 * endpoint, which it does not have by default.
 */
@Endpoint(id = "sessions", defaultAccess = Access.READ_ONLY)
class SessionsEndpoint {

	/** The number of entries of a page, unless a request names another. */
	static final int PAGE = 20;

	/** The largest number of entries of a page. */
	static final int MOST = 100;

	/** More sessions are counted as that many. */
	static final int MOST_COUNTED = 1_000;

	private final SessionStore store;

	private final Approvals approvals;

	private final SessionAccess access;

	private final boolean showTexts;

	/**
	 * Creates the endpoint. Who may use it is for the application to say, as with all
	 * endpoints; it reaches the sessions of all owners.
	 */
	SessionsEndpoint(SessionStore store, Approvals approvals, SessionAccess access, boolean showTexts) {
		this.store = StoreGuard.unguarded(store);
		this.approvals = approvals;
		this.access = access;
		this.showTexts = showTexts;
	}

	/**
	 * Returns the sessions of an owner, last written first, and the tool calls that wait
	 * in them, the newest change first.
	 * @param owner the owner; null for the sessions that have none
	 * @param offset how many entries of each list to skip; null for none
	 * @param limit how many entries of each list to return, at most {@value #MOST}; null
	 * for {@value #PAGE}
	 */
	@ReadOperation
	SessionReport.Overview sessions(@Nullable String owner, @Nullable Integer offset, @Nullable Integer limit) {
		String whose = owner(owner);
		Page page = page(offset, limit);
		List<Session> counted = this.store.list(whose, Page.first(MOST_COUNTED));
		List<Session> shown = (page.offset() + page.limit() <= MOST_COUNTED) ? part(counted, page)
				: this.store.list(whose, page);
		return new SessionReport.Overview(this.store.getClass().getSimpleName(), whose, counted.size(),
				counted.size() == MOST_COUNTED, shown.stream().map(this::header).toList(),
				waiting(() -> this.approvals.pendingOf(whose, page)).stream().map(this::approval).toList());
	}

	private List<ToolApproval> waiting(Supplier<List<ToolApproval>> read) {
		return this.access.callAs(Caller.server(), read);
	}

	private static <T> List<T> part(List<T> all, Page page) {
		return all.stream().skip(page.offset()).limit(page.limit()).toList();
	}

	/**
	 * Returns one session with its newest turns of all branches and statuses, oldest
	 * first.
	 * @param id the id of the session; the parts of a child's id
	 * @param owner the owner; null for none
	 * @param before only turns with a smaller number; null for the newest
	 * @param limit how many turns to return, at most {@value #MOST}; null for
	 * {@value #PAGE}
	 * @return the session; null if there is none
	 */
	@ReadOperation
	SessionReport.@Nullable Details session(@Selector(match = Match.ALL_REMAINING) String[] id, @Nullable String owner,
			@Nullable Long before, @Nullable Integer limit) {
		Tail tail = tail(before, limit);
		SessionKey key = key(id, owner);
		Session found = (key != null) ? this.store.find(key).orElse(null) : null;
		if (key == null || found == null) {
			return null;
		}
		return new SessionReport.Details(header(found),
				this.store.turns(key, tail).stream().map((turn) -> turn(key, turn)).toList(),
				waiting(() -> this.approvals.pending(key)).stream().map(this::approval).toList());
	}

	/**
	 * Erases one session with everything kept with it, whatever waits in it.
	 * @param id the id of the session; the parts of a child's id
	 * @param owner the owner; null for none
	 * @return that there is no such session; null if it was erased
	 */
	@DeleteOperation
	@Nullable WebEndpointResponse<Void> erase(@Selector(match = Match.ALL_REMAINING) String[] id, @Nullable String owner) {
		SessionKey key = key(id, owner);
		return (key != null && this.store.erase(key)) ? null
				: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
	}

	/** Returns null if no session can have this name. */
	private static @Nullable SessionKey key(String[] id, @Nullable String owner) {
		try {
			return SessionKey.of((owner != null) ? owner : "", String.join("/", id));
		}
		catch (InvalidSessionKeyException ex) {
			return null;
		}
	}

	private static String owner(@Nullable String owner) {
		String whose = (owner != null) ? owner : "";
		try {
			if (!whose.isEmpty()) {
				SessionKey.checkOwner(whose);
			}
			return whose;
		}
		catch (InvalidSessionKeyException ex) {
			throw new InvalidEndpointRequestException(String.valueOf(ex.getMessage()),
					"Write the name of an owner, or leave it out for the sessions that have none.");
		}
	}

	private static Page page(@Nullable Integer offset, @Nullable Integer limit) {
		int first = (offset != null) ? offset : 0;
		int most = (limit != null) ? limit : PAGE;
		if (first < 0 || most < 1 || most > MOST) {
			throw new InvalidEndpointRequestException(
					"offset must be 0 or more and limit 1 to " + MOST + ", not " + first + " and " + most,
					"Write an offset of 0 or more, and a limit of 1 to " + MOST + ".");
		}
		return new Page(first, most);
	}

	private static Tail tail(@Nullable Long before, @Nullable Integer limit) {
		if (before != null && before < 0) {
			throw new InvalidEndpointRequestException("before must be 0 or more, not " + before,
					"Write the number of a turn, or leave it out for the newest turns.");
		}
		return new Tail((before != null) ? before : Long.MAX_VALUE, page(null, limit).limit());
	}

	private SessionReport.Header header(Session session) {
		return SessionReport.Header.of(session, this.showTexts);
	}

	private SessionReport.Approval approval(ToolApproval call) {
		return SessionReport.Approval.of(call, this.showTexts);
	}

	private SessionReport.TurnLine turn(SessionKey key, Turn turn) {
		List<SessionItem> items = this.showTexts ? this.store.items(key, turn.number()) : List.of();
		return SessionReport.TurnLine.of(turn, items);
	}

}
