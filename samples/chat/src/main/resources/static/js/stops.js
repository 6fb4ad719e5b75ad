import * as kept from './kept.js';
import { newId, ofClosedWindows, ofThisWindow, own } from './windows.js';

/*
 * What is to be stopped, until the application has heard of it. It is kept in the browser,
 * since the window may be closed before: what is not stopped goes on, and is paid for.
 */

const STOPS = 'stop';

/**
 * @param stop the thread, and the name of its request, or an event of the answer if that has no name
 * @return what forgets it
 */
export function keepStop(stop) {
	const name = own(`${STOPS}:${newId()}`);
	kept.write(name, JSON.stringify(stop));
	return () => kept.write(name, null);
}

/** Takes over those that this window had kept before it was loaded. */
export const ownStops = (tell) => ofThisWindow(STOPS).forEach((name) => takeOver(name, tell));

/** Takes over those of windows that are closed. */
export const leftStops = (tell) => ofClosedWindows(STOPS, (name) => takeOver(name, tell));

function takeOver(name, tell) {
	const stop = kept.readJson(name);
	stop && tell(stop);
	kept.write(name, null);
}
