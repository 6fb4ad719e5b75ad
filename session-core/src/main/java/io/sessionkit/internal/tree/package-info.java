/**
 * Keeps the tree of turns in records: branches, what a move has left, and the question of
 * a turn.
 */
@NullMarked
package io.sessionkit.internal.tree;

import org.jspecify.annotations.NullMarked;
