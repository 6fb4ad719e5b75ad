/**
 * What is stored of the tree of turns: branches, what a move has left, and the question
 * of a turn.
 */
@NullMarked
package io.sessionkit.internal.tree;

import org.jspecify.annotations.NullMarked;
