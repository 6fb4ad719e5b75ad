/**
 * Tool calls that need a person's consent: who asks for it, who gives it, and what became
 * of it.
 */
@NullMarked
package io.sessionkit.approval;

import org.jspecify.annotations.NullMarked;
