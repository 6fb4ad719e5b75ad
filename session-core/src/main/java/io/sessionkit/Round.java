package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * One model call of a turn. A plain turn has one round, a turn with tools one more for
 * each time that the model saw tool results.
 *
 * @param model the model that answered, as the provider named it; null if it did not say
 * @param usage what this call alone cost
 */
public record Round(@Nullable String model, TokenUsage usage) {
}
