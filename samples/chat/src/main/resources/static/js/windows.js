import * as kept from './kept.js';
import { session } from './storage.js';

/*
 * The windows of this page in one browser. What a window keeps there is under a name of its
 * own, which no other one writes: a browser does not keep windows from undoing what others
 * write at the same time. Once a window is closed, others take over what it has left.
 */

export const newId = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`.replace('.', '');

/** Stays over a reload of the window. A copy of the window has the same. */
const tab = session.get('tab') ?? newId();
session.set('tab', tab);
// a browser that keeps nothing forbids locks too
navigator.locks?.request(`tab:${tab}`, { mode: 'shared' }, () => new Promise(() => {})).catch(() => {});

/** The name of this window for what is kept of each. */
export const own = (beginning) => `${beginning}:${tab}`;

const isOwn = (name) => name.endsWith(`:${tab}`);

export const ofThisWindow = (beginning) => kept.names(`${beginning}:`).filter(isOwn);

/**
 * @param take what to do with the name of each thing that a closed window has left
 * @param takeUnknown what to do with those of other windows where nobody knows which are closed: browsers have
 * locks for pages by https and of this machine alone
 */
export async function ofClosedWindows(beginning, take, takeUnknown = () => {}) {
	const others = kept.names(`${beginning}:`).filter((name) => !isOwn(name));
	if (others.length === 0 || !navigator.locks) {
		others.forEach(takeUnknown);
		return;
	}
	const { held } = await navigator.locks.query();
	const isLeft = (name) => held.every((lock) => lock.name !== `tab:${name.slice(name.lastIndexOf(':') + 1)}`);
	for (const name of others.filter(isLeft)) {
		await navigator.locks.request(`adopt:${name}`, { ifAvailable: true }, (lock) => lock && take(name));
	}
}

/** Forgets what all windows have kept. */
export const forget = (beginning) => kept.names(`${beginning}:`).forEach((name) => kept.write(name, null));
