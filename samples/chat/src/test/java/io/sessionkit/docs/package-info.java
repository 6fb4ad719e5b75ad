/**
 * The code of the README.
 */
package io.sessionkit.docs;
