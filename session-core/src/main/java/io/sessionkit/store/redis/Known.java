package io.sessionkit.store.redis;

/**
 * What a caller knows of a session from the last time it was opened.
 *
 * @param stamp the stamp of its header
 * @param summaryRevision the revision of its summary; 0 for none
 * @param summaryWrittenAt when that was written, in microseconds; 0 for none
 */
record Known(long stamp, long summaryRevision, long summaryWrittenAt) {

}
