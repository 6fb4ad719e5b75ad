/**
 * Keeps the ledger: the tool calls that wait, run or have run, the decisions on them, and
 * the notices of them. Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.ledger;

import org.jspecify.annotations.NullMarked;
