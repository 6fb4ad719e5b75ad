import { arrange, button, byId, el, icon, iconButton, setText } from './dom.js';
import * as kept from './kept.js';
import * as windows from './windows.js';
import { plural } from './words.js';

/*
 * The questions of this window that wait, by thread: until an answer is there, a person
 * has decided, or the application answers again. They are kept in the browser, so that a
 * reload loses none. Each has an id by which the application knows it: one that is sent
 * twice is asked once. A copy of the window has the same questions, and asks nothing twice.
 */

const ofThread = (thread) => `queue:${encodeURIComponent(thread)}`;

const own = (thread) => windows.own(ofThread(thread));

/**
 * For so long a question that was sent can be sent again and is asked once, in milliseconds. The
 * application knows it by its id for 24 hours after the answer (sessionkit.idempotency-time-to-live);
 * some are left for it to arrive.
 */
const KNOWN = 20 * 60 * 60 * 1000;

const parsed = (name) => kept.readJson(name) ?? [];

function write(thread, entries) {
	kept.write(own(thread), entries.length === 0 ? null : JSON.stringify(entries));
}

/**
 * The questions of this window, in the order in which they are asked: id, text, whether
 * it was sent, sentAt: since when it may have been asked; null if it was not, seen: the newest turn that was
 * shown with it, whether it steers and has joined a turn, held: why it is not sent until somebody says so, and
 * place: the turn in whose place it is asked, whether it is the question of that turn, and the first turn that
 * is hidden meanwhile; null for the end of the thread.
 */
export const waitingIn = (thread) => parsed(own(thread));

const made = (text, seen, place) => ({ id: windows.newId(), text, sent: false, sentAt: null, seen, steers: false, joined: false, held: null, place });

export function add(thread, text, seen) {
	const entry = made(text, seen, null);
	write(thread, [...waitingIn(thread), entry]);
	return entry;
}

/** What is asked in the place of a turn waits for nothing. */
export const addInPlace = (thread, text, place) => addAgain(thread, made(text, 0, place));

/** A question that has left the queue is in it once more, in front. */
export function addAgain(thread, entry) {
	write(thread, [entry, ...waitingIn(thread).filter(({ id }) => id !== entry.id)]);
	return entry;
}

export const change = (thread, id, changes) => write(thread, waitingIn(thread).map((entry) => entry.id === id ? { ...entry, ...changes } : entry));

export const drop = (thread, id) => write(thread, waitingIn(thread).filter((entry) => entry.id !== id));

/** Those of all windows. */
export const forget = (thread) => windows.forget(ofThread(thread));

/** Why those that were not sent yet are not sent until somebody says so. */
export const hold = (thread, why) => write(thread, waitingIn(thread).map((entry) => entry.sent ? entry : { ...entry, held: entry.held ?? why }));

/** Somebody says so, also of what may have been asked, and whatever was shown when it was typed: the thread may be another one by now. */
export const release = (thread) => write(thread, waitingIn(thread).map((entry) => entry.sent || entry.held === null ? entry
	: { ...entry, held: null, seen: 0, sentAt: entry.sentAt && Date.now() }));

/** Holds what may have been asked so long ago that it would be asked once more. Gives whether there is something. */
export function holdOld(thread) {
	const all = waitingIn(thread);
	const isOld = ({ sent, sentAt, held }) => held !== 'old' && (sent || sentAt) && !(Date.now() - sentAt < KNOWN);
	const isAny = all.some(isOld);
	if (isAny) {
		write(thread, all.map((entry) => isOld(entry) ? { ...entry, sent: false, steers: false, joined: false, held: 'old' } : entry));
	}
	return isAny;
}

/**
 * Takes over what waited in windows that are closed. What they had sent may be answered
 * by now, so it is asked for; the rest waits until somebody says so.
 */
export const adopt = (thread) => windows.ofClosedWindows(ofThread(thread), (name) => {
	const entries = parsed(name).map((entry) => ({ ...entry, steers: false, held: entry.sent ? null : entry.held ?? 'closed' }));
	kept.write(name, null);
	write(thread, [...waitingIn(thread), ...entries]);
});

// What is shown of it

const place = byId('queue');
const list = byId('queue-list');
const words = byId('queue-words');

let rows = new Map();

const HELD = {
	stopped: 'since you have stopped the answer',
	failed: 'since the question before was not answered',
	closed: 'since its window was closed',
	runs: 'since another window is being answered for very long',
	asked: 'since you have stopped the answer',
	old: 'since it was sent long ago',
};

const isOldOne = ({ held }) => held === 'old';

const mayBeAsked = (entry) => Boolean(entry.sentAt) || isOldOne(entry);

/** They are sent together, so the words are those for what may be asked twice. */
function wordsOfHeld(all) {
	const entry = all.find(isOldOne) ?? all.find(mayBeAsked) ?? all[0];
	return mayBeAsked(entry) ? `Not sent again, ${HELD[entry.held]}: it may have been asked.` : `Not sent, ${HELD[entry.held]}.`;
}

/**
 * @param entries those that are not shown as a turn
 * @param why what they wait for
 * @param canSteer whether an answer runs that a question can join
 * @param actions steer(entry), edit(entry), cancel(entry), send()
 */
export function showQueue(entries, why, canSteer, actions) {
	place.hidden = entries.length === 0;
	const held = entries.filter((entry) => entry.held !== null);
	setText(words, held.length > 0 ? wordsOfHeld(held) : `${plural(entries.length, 'question')} ${entries.length === 1 ? 'waits' : 'wait'} ${why}.`);
	sendButton.hidden = held.length === 0;
	sendButton.onclick = actions.send;
	const before = rows;
	rows = new Map();
	arrange(list, entries.map((entry, index) => {
		const key = JSON.stringify([entry, index, canSteer]);
		const node = before.get(key) ?? row(entry, index + 1, canSteer, actions);
		rows.set(key, node);
		return node;
	}));
}

const sendButton = button('Send', 'quiet', null);
words.after(sendButton);

function row(entry, number, canSteer, actions) {
	const steer = canSteer && !entry.steers && entry.held === null && !entry.place ? el('button', { type: 'button', class: 'quiet steer', title: 'Joins the running answer before its next step',
		onclick: () => actions.steer(entry) }, icon('join'), el('span', {}, 'Send now')) : null;
	return el('li', {}, el('span', { class: 'queue-place', 'aria-hidden': 'true' }, String(number)),
		el('span', { class: 'queue-text', dir: 'auto', title: entry.text }, entry.text),
		entry.steers ? el('span', { class: 'queue-state' }, 'joins before the next step') : null,
		el('span', { class: 'queue-actions', role: 'group', 'aria-label': `Question ${number} that waits` }, steer,
			entry.steers ? null : iconButton('pencil', 'Back into the field', () => actions.edit(entry)),
			iconButton('close', 'Do not ask this', () => actions.cancel(entry))));
}
