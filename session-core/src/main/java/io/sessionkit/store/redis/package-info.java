/**
 * Sessions in Redis.
 */
@NullMarked
package io.sessionkit.store.redis;

import org.jspecify.annotations.NullMarked;
