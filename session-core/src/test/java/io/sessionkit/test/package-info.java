/**
 * What tests of SessionKit, and of applications that use it, are written with.
 */
@NullMarked
package io.sessionkit.test;

import org.jspecify.annotations.NullMarked;
