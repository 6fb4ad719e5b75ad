/*
 * Where the browser keeps small texts for this page: for all windows, and for one window.
 * A browser that forbids it or has no room left is no reason not to work: what it does
 * not take is there until the page is left.
 */

export const local = storage(() => localStorage);

export const session = storage(() => sessionStorage);

function storage(place) {
	const notTaken = new Map();
	const from = (read, otherwise) => {
		try {
			return read(place());
		}
		catch {
			return otherwise;
		}
	};
	return {
		get: (name) => notTaken.get(name) ?? from((kept) => kept.getItem(name), null),
		/** Gives whether it is there after the page was left too. */
		set(name, text) {
			notTaken.delete(name);
			const isTaken = from((kept) => {
				kept.setItem(name, text);
				return true;
			}, false);
			isTaken || notTaken.set(name, text);
			return isTaken;
		},
		remove(name) {
			notTaken.delete(name);
			from((kept) => kept.removeItem(name));
		},
		names: () => [...new Set([...from((kept) => Object.keys(kept), []), ...notTaken.keys()])],
	};
}
