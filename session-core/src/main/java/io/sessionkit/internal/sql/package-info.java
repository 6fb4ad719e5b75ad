/**
 * The foundation of stores in relational databases: statements with named parameters, the
 * differences of the databases, columns, connections and errors, and walks over the rows
 * of a path. For SessionKit alone, and may change with any version.
 */
@NullMarked
package io.sessionkit.internal.sql;

import org.jspecify.annotations.NullMarked;
