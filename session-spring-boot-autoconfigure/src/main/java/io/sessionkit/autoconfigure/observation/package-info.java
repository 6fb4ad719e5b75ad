/**
 * SessionKit as a team sees it when it runs: observations, meters, the health of the
 * store, and an endpoint of Actuator.
 */
@NullMarked
package io.sessionkit.autoconfigure.observation;

import org.jspecify.annotations.NullMarked;
