/**
 * Sessions for code that works with Spring AI's {@code ChatMemory}.
 */
@NullMarked
package io.sessionkit.chatmemory;

import org.jspecify.annotations.NullMarked;
