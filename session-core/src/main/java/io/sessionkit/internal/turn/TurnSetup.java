package io.sessionkit.internal.turn;

import java.util.Map;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.attribute.AttributeRules;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.lease.TurnLeases;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.opening.TurnRules;
import io.sessionkit.internal.opening.TurnViews;
import io.sessionkit.internal.retention.Retentions;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The parts that all turns share.
 *
 * @param store the store that holds the sessions
 * @param rules the settings of all turns
 * @param views opens the views from which turns start
 * @param leases the leases of open turns
 * @param retentions deletes the oldest turns
 */
record TurnSetup(SessionStore store, TurnRules rules, TurnViews views, TurnLeases leases, Retentions retentions) {

	/**
	 * Returns the attributes of a turn.
	 * @param now the attributes of the session
	 * @param continued the turn that is continued; null for a new one
	 */
	TurnAttributes attributes(SessionKey key, Map<String, Object> now, @Nullable ContinuedTurn continued) {
		Supplier<AttributeRules> attributeRules = () -> new AttributeRules(key, codec(),
				this.rules.kept().maxAttributes());
		return (continued != null) ? new TurnAttributes(attributeRules, now, continued.pause().attributes().on(now))
				: new TurnAttributes(attributeRules, now);
	}

	MessageCodec codec() {
		return this.store.options().codec();
	}

}
