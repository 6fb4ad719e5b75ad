/**
 * The records that remember the tree of turns: branches, and what a move has left.
 */
@NullMarked
package io.sessionkit.internal.tree;

import org.jspecify.annotations.NullMarked;
