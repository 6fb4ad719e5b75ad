/**
 * Sessions in a relational database.
 */
@NullMarked
package io.sessionkit.store.jdbc;

import org.jspecify.annotations.NullMarked;
