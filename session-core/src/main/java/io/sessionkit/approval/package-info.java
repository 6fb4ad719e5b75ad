/**
 * Tool calls that need the consent of a person: rules, requests, decisions.
 */
@NullMarked
package io.sessionkit.approval;

import org.jspecify.annotations.NullMarked;
