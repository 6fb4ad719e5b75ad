/**
 * The interfaces by which something outside of a call sees its stages, such as traces and
 * meters. Nothing here changes a call.
 */
@NullMarked
package io.sessionkit.observation;

import org.jspecify.annotations.NullMarked;
