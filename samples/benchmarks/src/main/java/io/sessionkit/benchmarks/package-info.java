/**
 * Measures what a turn costs, compared with the same statements by hand and with similar
 * libraries.
 */
@NullMarked
package io.sessionkit.benchmarks;

import org.jspecify.annotations.NullMarked;
