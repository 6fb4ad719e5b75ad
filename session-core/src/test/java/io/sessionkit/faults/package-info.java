/**
 * Tests of turns while connections break, servers end and clocks jump.
 */
@NullMarked
package io.sessionkit.faults;

import org.jspecify.annotations.NullMarked;
