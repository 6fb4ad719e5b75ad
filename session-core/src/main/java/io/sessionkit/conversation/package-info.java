/**
 * The objects that applications use: all sessions, one session, and its approvals.
 */
@NullMarked
package io.sessionkit.conversation;

import org.jspecify.annotations.NullMarked;
