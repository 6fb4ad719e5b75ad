/**
 * What a turn costs, measured beside the same statements by hand and beside the
 * neighbours.
 */
@NullMarked
package io.sessionkit.benchmarks;

import org.jspecify.annotations.NullMarked;
