package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * One answer of the model in a turn. A plain turn has one round, a turn with tools one
 * more for each time that the model saw tool results. A call that failed or was cancelled
 * has none; where an advisor inside the tool loop asks again, as the validation of a
 * schema does, the round is the last answer of it.
 *
 * @param model the model that answered, as the provider named it; null if it did not say
 * @param usage what this call alone cost
 */
public record Round(@Nullable String model, TokenUsage usage) {
}
