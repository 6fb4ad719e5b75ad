@NullMarked
package io.sessionkit.samples.chat;

import org.jspecify.annotations.NullMarked;
