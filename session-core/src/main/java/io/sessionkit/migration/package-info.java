/**
 * The import of conversations from Spring AI's chat memory and the community's Spring AI
 * Session.
 */
@NullMarked
package io.sessionkit.migration;

import org.jspecify.annotations.NullMarked;
