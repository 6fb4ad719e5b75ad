/*
 * What the browser keeps: drafts and questions that wait. Each user who signs in has
 * their own; without users it belongs to whoever opens the page.
 */

let whose = '';

/** @param name the name of the user; null without users */
export function belongsTo(name) {
	whose = name === null ? '' : `${encodeURIComponent(name)}/`;
}

export const read = (name) => localStorage.getItem(whose + name);

/** @param text null to keep nothing */
export function write(name, text) {
	if (text === null) {
		localStorage.removeItem(whose + name);
	}
	else {
		localStorage.setItem(whose + name, text);
	}
}

/** The names that begin with this and have something. */
export const names = (beginning) => Object.keys(localStorage)
	.filter((name) => name.startsWith(whose + beginning))
	.map((name) => name.slice(whose.length));

/** Forgets everything of the user. */
export function forgetAll() {
	if (whose !== '') {
		Object.keys(localStorage).filter((name) => name.startsWith(whose)).forEach((name) => localStorage.removeItem(name));
	}
}
