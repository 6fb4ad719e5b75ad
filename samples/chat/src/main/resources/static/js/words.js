import { isAsking } from './user.js';

/** Times, amounts and states in words. */

export function plural(count, word) {
	return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

export const amount = (number) => number.toLocaleString('en');

export function duration(millis) {
	if (millis < 1000) {
		return `${millis} ms`;
	}
	return millis < 60_000 ? `${(millis / 1000).toFixed(1)} s` : `${Math.round(millis / 60_000)} min`;
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

const UNITS = [['day', 86400], ['hour', 3600], ['minute', 60]];

/** How long ago something was. */
export function ago(instant) {
	const seconds = (new Date(instant) - Date.now()) / 1000;
	const [unit, size] = UNITS.find(([, length]) => -seconds >= length) ?? ['second', 1];
	return unit === 'second' ? 'just now' : relative.format(Math.round(seconds / size), unit);
}

/** How much time is left, to the second where it is short. */
export function left(instant) {
	const seconds = Math.ceil((new Date(instant) - Date.now()) / 1000);
	if (seconds <= 0) {
		return 'now';
	}
	const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
	return `in ${plural(Math.round(seconds / size), unit)}`;
}

/** A length of time in the largest unit of which it is a whole number. */
export function span(seconds) {
	const [unit, size] = UNITS.find(([, length]) => seconds >= length && seconds % length === 0) ?? ['second', 1];
	return seconds === size ? unit : plural(seconds / size, unit);
}

const HOURS = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

const DAYS = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long' });

export const timeOfDay = (instant) => HOURS.format(new Date(instant));

export const exactTime = (instant) => new Date(instant).toLocaleString();

/** The day of a moment, as one would say it today. */
export function day(instant) {
	const then = new Date(instant);
	const days = Math.round((startOf(new Date()) - startOf(then)) / 86_400_000);
	return days === 0 ? 'Today' : days === 1 ? 'Yesterday' : DAYS.format(then);
}

const startOf = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());

/** What became of a turn. A completed one needs no word. */
export const STATES = {
	COMPLETED: 'completed',
	get AWAITING_APPROVAL() {
		return isAsking() ? 'waits for an approver' : 'waits for you';
	},
	FAILED: 'failed',
	CANCELLED: 'stopped',
	REFUSED: 'refused',
	INCOMPLETE: 'unfinished',
};

/** What the reader of a turn that is not part of the history should know. */
export function noteOf(turn) {
	switch (turn.status) {
		case 'CANCELLED':
			return 'Stopped. The model will not be shown this turn.';
		case 'FAILED':
			return `${reasonOf(turn.failure)} The model will not be shown this turn.`;
		case 'REFUSED':
			return refusalOf(turn.verdicts);
		case 'INCOMPLETE':
			return 'The application stopped before this turn was finished.';
		default:
			return waitingWords();
	}
}

export const waitingWords = () => isAsking() ? 'This turn waits for somebody who may decide, and then goes on. It can wait: also over a restart.'
	: 'This turn waits for your decision. It can wait: also over a restart.';

function reasonOf(failure) {
	if (failure === null || failure === undefined) {
		return 'This turn failed.';
	}
	if (failure.endsWith('SessionConflictException')) {
		return 'Another window was faster.';
	}
	return failure === 'no reply' ? 'The model sent an empty answer.'
		: `The model could not answer (${failure.split('.').at(-1)}).`;
}

function refusalOf(verdicts = []) {
	const refusal = verdicts.findLast(({ kind }) => kind === 'REFUSE' || kind === 'REFUSED');
	return refusal ? `Refused by ${refusal.hook}${refusal.reason ? `: ${refusal.reason}` : '.'}` : 'A guard refused this turn.';
}

/** A name in code, such as orderNumber or cancel_order, as words. */
export function humanized(name) {
	const words = name.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').replace(/[_\-.]+/g, ' ').trim().toLowerCase();
	return words ? words[0].toUpperCase() + words.slice(1) : name;
}
