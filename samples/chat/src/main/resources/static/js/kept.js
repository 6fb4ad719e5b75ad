import { problem } from './notices.js';
import { local } from './storage.js';

/*
 * What the browser keeps: drafts, questions that wait, and what is to be stopped. Each
 * user who signs in has their own; without users it belongs to whoever opens the page.
 */

let whose = '';

/** Whether it has been said that the browser keeps nothing. */
let isSaid = false;

/** @param name the name of the user; null without users */
export function belongsTo(name) {
	whose = name === null ? '' : `${encodeURIComponent(name)}/`;
}

export const read = (name) => local.get(whose + name);

/** What is kept as JSON; null if there is nothing, or something of another version that cannot be read. */
export function readJson(name) {
	try {
		return JSON.parse(read(name));
	}
	catch {
		return null;
	}
}

/** @param text null to keep nothing */
export function write(name, text) {
	if (text === null) {
		local.remove(whose + name);
	}
	else if (!local.set(whose + name, text) && !isSaid) {
		isSaid = true;
		problem('This browser keeps nothing more for this page: it forbids it, or has no room left. What you type and what waits is lost when you leave the page.');
	}
}

/** The names that begin with this and have something. */
export const names = (beginning) => local.names()
	.filter((name) => name.startsWith(whose + beginning))
	.map((name) => name.slice(whose.length));

/** Forgets everything of the user. */
export function forgetAll() {
	if (whose !== '') {
		local.names().filter((name) => name.startsWith(whose)).forEach(local.remove);
	}
}
