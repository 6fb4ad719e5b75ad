/**
 * Tool calls that need the consent of a person: rules, approval requests and decisions.
 */
@NullMarked
package io.sessionkit.approval;

import org.jspecify.annotations.NullMarked;
