@NullMarked
package io.sessionkit.codec;

import org.jspecify.annotations.NullMarked;
