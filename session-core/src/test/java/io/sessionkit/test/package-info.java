/**
 * Support for tests of SessionKit, and of applications that use it.
 */
@NullMarked
package io.sessionkit.test;

import org.jspecify.annotations.NullMarked;
