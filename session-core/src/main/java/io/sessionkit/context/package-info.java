/**
 * Settings for the messages that the model sees: limits and pins, pruning, summaries, and
 * the guard that keeps every request a valid sequence.
 */
@NullMarked
package io.sessionkit.context;

import org.jspecify.annotations.NullMarked;
