/**
 * The code that the pages in {@code docs} show, and the test that both are the same.
 */
@NullMarked
package io.sessionkit.docs;

import org.jspecify.annotations.NullMarked;
