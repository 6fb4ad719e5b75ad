import { outcomeOf, waitedFor } from './approvals.js';
import { copyButton, el, icon, iconButton } from './dom.js';
import { editForm } from './edit.js';
import { markdown } from './markdown.js';
import { toolRow } from './tools.js';
import { duration, exactTime, noteOf, plural, timeOfDay } from './words.js';

/*
 * The nodes of one turn: the question, the rounds of the model with the tools in their
 * place, and what is to say about the turn itself.
 */

/** What a model has thought, where it says so in its text. */
const THOUGHT = /^\s*<think>([^]*?)(?:<\/think>\s*|$)/;

export const questionOf = (turn) => turn.messages.find(({ role }) => role === 'user')?.text ?? '';

/**
 * @param place attempts, siblings: the numbers of the turns of its place, and replaced: the
 * turn whose place it was to take, or null
 * @param known gives the node of an answer that is on the page already, or undefined
 * @param actions retry(turn), inspect(number), edit(turn, text), again(turn), choose(number,
 * step), menu(turn, button)
 */
export function turnNode(turn, approvals, place, known, actions) {
	const messages = turn.messages.flatMap((message, index) => messageNodes(message, turn, index, approvals, known, actions));
	const node = el('section', { class: 'turn', id: `turn-${turn.number}`, 'aria-label': `Turn ${turn.number}` }, ...messages);
	if (turn.status === 'AWAITING_APPROVAL') {
		node.classList.add('awaiting_approval');
		node.append(el('div', { class: 'approvals', id: 'approvals' }),
			note(turn, 'clock', place.replaced === null ? null : el('span', { class: 'replacing' }, `Its answer takes the place of turn ${place.replaced}.`)));
	}
	else if (turn.status !== 'COMPLETED') {
		node.classList.add('aside', turn.status.toLowerCase());
		node.append(asideNote(turn, place, actions));
	}
	else {
		if (turn.cutShort) {
			node.classList.add('cut-short');
			node.append(el('p', { class: 'cut' }, icon('stopped'), 'Stopped here.'));
		}
		node.append(meta(turn, approvals, place, actions));
	}
	return node;
}

function messageNodes(message, turn, index, approvals, known, actions) {
	if (message.role === 'user') {
		return [turn.messages.findIndex(({ role }) => role === 'user') < index ? joinedNode(message.text ?? '')
			: questionNode(message.text ?? '', isOpen(turn) ? null : (text) => actions.edit(turn, text))];
	}
	if (message.role !== 'assistant') {
		return [];
	}
	const nodes = answerNodes(message, known);
	if (message.calls.length > 0) {
		const results = resultsOf(turn.messages, index);
		const round = turn.messages.slice(0, index + 1).filter(({ role }) => role === 'assistant').length;
		nodes.push(el('div', { class: 'tools' }, ...message.calls.map((call, position) =>
			toolRow(call, resultOf(call, results, position), outcomeOf(approvals, turn, round, position)))));
	}
	return nodes;
}

const resultsOf = (messages, index) => messages[index + 1]?.role === 'tool' ? messages[index + 1].results : [];

/** Results name their call; where two calls have the same id, the place decides. */
const resultOf = (call, results, position) => results[position]?.id === call.id ? results[position]
	: results.find(({ id }) => id === call.id) ?? (call.id ? null : results[position] ?? null);

const isOpen = ({ status }) => status === 'AWAITING_APPROVAL' || status === 'INCOMPLETE';

/** @param edit sends another text in its place and gives whether it could; null where it cannot be edited */
export function questionNode(text, edit = null) {
	const node = el('div', { class: 'said' }, el('h2', { class: 'visually-hidden' }, 'You'),
		el('div', { class: 'bubble user text', dir: 'auto' }, ...markdown(text)),
		copyButton('Copy the question', () => text));
	if (edit) {
		const pencil = iconButton('pencil', 'Edit the question', () => editInPlace(node, text, edit, pencil));
		node.append(pencil);
	}
	return node;
}

/** What a person has said while the turn ran. */
export function joinedNode(text) {
	const node = questionNode(text);
	node.classList.add('joined');
	node.querySelector('h2').textContent = 'You, while it worked';
	return node;
}

function editInPlace(node, text, edit, pencil) {
	const parts = [...node.childNodes];
	const { form, focus } = editForm(text, edit, () => {
		node.classList.remove('editing');
		node.replaceChildren(...parts);
		if (node.isConnected) {
			pencil.focus();
		}
	});
	node.classList.add('editing');
	node.replaceChildren(parts[0], form);
	focus();
}

function answerNodes(message, known) {
	const { thought, text } = split(message);
	const nodes = thought ? [thoughtNode(thought, false)] : [];
	if (text) {
		nodes.push(el('h2', { class: 'visually-hidden' }, 'Answer'), el('div', { class: 'bubble assistant' },
			known?.(text) ?? el('div', { class: 'text' }, ...markdown(text)), copyButton('Copy the answer', () => text)));
	}
	return nodes;
}

/** Separates what a model has thought from what it says. */
export function split({ text, reasoning }) {
	const whole = text ?? '';
	const found = whole.match(THOUGHT);
	return { thought: (reasoning || found?.[1] || '').trim(), text: found ? whole.slice(found[0].length) : whole };
}

export function thoughtNode(thought, isOpen) {
	return el('details', { class: 'thought', open: isOpen }, el('summary', {}, icon('thought'), el('span', {}, isOpen ? 'Thinking …' : 'Thought'),
		el('span', { class: 'chevron' }, icon('chevron'))),
		el('div', { class: 'text' }, ...markdown(thought)));
}

// What is to say about the turn itself

function meta(turn, approvals, { siblings }, actions) {
	const more = iconButton('more', `More for turn ${turn.number}`, () => actions.menu(turn, more));
	more.setAttribute('aria-haspopup', 'menu');
	more.setAttribute('aria-expanded', 'false');
	return el('p', { class: siblings.length > 1 ? 'meta placed' : 'meta' }, ...facts(turn, approvals).map((fact) => el('span', {}, fact)),
		el('span', { class: 'turn-actions' }, details(turn, actions), iconButton('retry', 'Another answer', () => actions.again(turn), 'icon-button small again'), more),
		siblings.length > 1 ? pager(turn.number, siblings, actions) : null);
}

/** The way to the other answers that stand in this place. */
function pager(number, siblings, actions) {
	const index = siblings.indexOf(number);
	const step = (label, name, by) => {
		const node = iconButton('chevron', label, () => actions.choose(siblings[index + by], name), `icon-button small ${name}`);
		node.disabled = siblings[index + by] === undefined;
		return node;
	};
	return el('span', { class: 'pager', role: 'group', 'aria-label': `Answers in the place of turn ${number}` }, step('Previous answer', 'previous', -1),
		el('span', { class: 'pager-place' }, placeOf(number, siblings)), step('Next answer', 'next', 1));
}

export const placeOf = (number, siblings) => `${siblings.indexOf(number) + 1} of ${siblings.length}`;

/** The numbers of the turns that stand in the place of a turn, itself among them. */
export const siblingsOf = ({ number, parent, status }, siblings) => status === 'COMPLETED'
	? [...new Set([...siblings[parent] ?? [], number])].sort((a, b) => a - b) : [number];

/**
 * The number of the turn whose place a turn was to take; null if it came to the end. One
 * that was there before it began is meant: another window may have been faster.
 */
export const replacedBy = (turn, turns) => turn.status === 'COMPLETED' ? null
	: turns.find(({ parent, status, endedAt }) => status === 'COMPLETED' && parent === turn.parent && new Date(endedAt) <= new Date(turn.startedAt))?.number ?? null;

/** The time that the turn took is its own: a person who decides takes as long as they like. */
function facts(turn, approvals) {
	const { input, output } = turn.tokens;
	const time = el('time', { datetime: turn.startedAt, title: exactTime(turn.startedAt) }, timeOfDay(turn.startedAt));
	return [time, duration(ownTime(turn, approvals)), plural(input + output, 'token')];
}

export const ownTime = (turn, approvals) => Math.max(0, (turn.millis ?? 0) - waitedFor(approvals, turn));

const details = (turn, actions) => iconButton('info', `Details of turn ${turn.number}`, () => actions.inspect(turn.number));

const note = (turn, name, ...more) => el('p', { class: 'note' }, icon(name), el('span', {}, noteOf(turn)), ...more);

function asideNote(turn, place, actions) {
	const name = turn.status === 'CANCELLED' ? 'stopped' : 'alert';
	const retry = turn.status === 'REFUSED' ? null
		: el('button', { type: 'button', class: 'quiet retry', onclick: () => actions.retry(turn) }, icon('retry'), 'Retry');
	const node = note(turn, name, place.attempts > 1 ? el('span', { class: 'attempts' }, `${place.attempts} attempts`) : null, retry, details(turn, actions));
	if (place.replaced !== null) {
		node.querySelector('span').append(' ', el('span', { class: 'replacing' }, `Turn ${place.replaced}, in whose place it was asked, stays as it was.`));
	}
	return node;
}
