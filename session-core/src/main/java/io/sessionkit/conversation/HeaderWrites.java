package io.sessionkit.conversation;

import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionSettings;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.attribute.AttributeRules;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * Writes what the header of a session has, between its turns: title, tags, settings, time
 * to live and attributes.
 */
final class HeaderWrites {

	private final SessionKey key;

	private final SessionStore store;

	private final DataSize maxAttributes;

	HeaderWrites(SessionKey key, SessionStore store, DataSize maxAttributes) {
		this.key = key;
		this.store = store;
		this.maxAttributes = maxAttributes;
	}

	/** Returns the writes of another session. */
	HeaderWrites of(SessionKey other) {
		return new HeaderWrites(other, this.store, this.maxAttributes);
	}

	/**
	 * Creates the session.
	 * @return false if it exists already, in which case it is left as it is
	 */
	boolean create(HeaderChange header) {
		HeaderTexts.check(this.key, header);
		Map<String, Object> attributes = header.attributes();
		HeaderChange first = (attributes != null) ? header.attributes(checked(attributes)) : header;
		return this.store.commit(Commit.first(this.key).header(first)).isStored();
	}

	private Map<String, Object> checked(Map<String, Object> attributes) {
		Map<String, Object> checked = Map.of();
		for (Map.Entry<String, Object> each : attributes.entrySet()) {
			checked = rules().with(checked, each.getKey(), each.getValue());
		}
		return checked;
	}

	/**
	 * Writes a change, whatever others write meanwhile.
	 */
	void change(HeaderChange header) {
		HeaderTexts.check(this.key, header);
		if (!this.store.commit(Commit.any(this.key).header(header)).isStored()) {
			throw notFound();
		}
	}

	/**
	 * Changes the settings. If others write meanwhile, the change is asked again.
	 */
	void settings(UnaryOperator<SessionSettings> change) {
		boolean written = Attempts.MANY.until(() -> {
			Session now = this.store.find(this.key).orElseThrow(this::notFound);
			return isWritten(now, changed(change, now.settings()));
		});
		if (!written) {
			throw changed("settings");
		}
	}

	private static SessionSettings changed(UnaryOperator<SessionSettings> change, SessionSettings now) {
		SessionSettings changed = change.apply(now);
		if (changed == null) {
			throw new IllegalStateException("The change of the settings has returned null. Return the settings that it"
					+ " was given for no change, or SessionSettings.NONE for none.");
		}
		return changed;
	}

	/**
	 * Changes the attributes. If others write meanwhile, the change is asked again.
	 * @param creates whether to create the session if it is absent
	 * @return the attributes as they were before
	 */
	Map<String, Object> attributes(boolean creates,
			BiFunction<AttributeRules, Map<String, Object>, Map<String, Object>> change) {
		return Attempts.MANY.make(() -> {
			Session now = this.store.find(this.key).orElse(null);
			if (now == null && !creates) {
				throw notFound();
			}
			Map<String, Object> before = (now != null) ? now.attributes() : Map.of();
			return isWritten(now, change.apply(rules(), before)) ? Optional.of(before)
					: Optional.<Map<String, Object>>empty();
		}).orElseThrow(() -> changed("attributes"));
	}

	private AttributeRules rules() {
		return new AttributeRules(this.key, this.store.options().codec(), this.maxAttributes);
	}

	/**
	 * Writes all settings of a session as it was read, and returns whether they are
	 * stored now.
	 */
	private boolean isWritten(Session now, SessionSettings changed) {
		return changed.equals(now.settings())
				|| this.store.commit(Commit.on(now).header(HeaderChange.NONE.settings(changed))).isStored();
	}

	/**
	 * Writes all attributes of a session as it was read, and returns whether they are
	 * stored now.
	 */
	private boolean isWritten(@Nullable Session now, Map<String, Object> changed) {
		if (now != null && AttributeRules.areEqual(changed, now.attributes())) {
			return true;
		}
		Commit commit = (now != null) ? Commit.on(now) : Commit.first(this.key);
		return this.store.commit(commit.header(HeaderChange.NONE.attributes(changed))).isStored();
	}

	private SessionConflictException changed(String what) {
		return new SessionConflictException("Session " + this.key + " changed each of the " + Attempts.MANY.most()
				+ " times that its " + what + " were to be written. Nothing was written; try again.", null);
	}

	private SessionNotFoundException notFound() {
		return new SessionNotFoundException("There is no session " + this.key
				+ ", or it has expired. Its first turn creates it, and so do putAttribute and create.");
	}

}
