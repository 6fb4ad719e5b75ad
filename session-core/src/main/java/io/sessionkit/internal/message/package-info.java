/**
 * Works on messages: takes them apart, copies and compares them, finds tool groups and
 * the current turn in a list, and keeps those of an open turn. Internal: for SessionKit
 * alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.message;

import org.jspecify.annotations.NullMarked;
