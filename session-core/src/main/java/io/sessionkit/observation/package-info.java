/**
 * The interfaces by which something outside of a turn sees its stages, such as traces and
 * meters. Nothing here changes a turn.
 */
@NullMarked
package io.sessionkit.observation;

import org.jspecify.annotations.NullMarked;
