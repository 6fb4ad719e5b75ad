package io.sessionkit.internal.line;

import org.jspecify.annotations.Nullable;

/**
 * The offer of a call that waits, as the call at work finds it.
 *
 * @param id the ticket of the call that waits
 * @param offer what it offers
 * @param request the request that it makes; null if its client cannot tell it from others
 */
public record Offered(String id, Offer offer, @Nullable Request request) {
}
