package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * One answer of the model in a turn. A plain turn has one round. A turn with tools has
 * one more for each time that the model saw tool results. A model call that failed or was
 * cancelled has none. If an advisor inside the tool loop calls the model again, as the
 * validation of a schema does, the round is the last answer.
 *
 * @param model the model that answered, as the provider named it; null if it did not say
 * @param usage the tokens of this call alone
 */
public record Round(@Nullable String model, TokenUsage usage) {
}
