import { outcomeOf, waitedFor } from './approvals.js';
import { copyButton, el, icon, iconButton } from './dom.js';
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
 * @param known gives the node of an answer that is on the page already, or undefined
 * @param actions retry(question), inspect(number)
 */
export function turnNode(turn, approvals, attempts, known, actions) {
	const messages = turn.messages.flatMap((message, index) => messageNodes(message, turn, index, approvals, known));
	const node = el('section', { class: 'turn', id: `turn-${turn.number}`, 'aria-label': `Turn ${turn.number}` }, ...messages);
	if (turn.status === 'AWAITING_APPROVAL') {
		node.classList.add('awaiting_approval');
		node.append(el('div', { class: 'approvals', id: 'approvals' }), note(turn, 'clock'));
	}
	else if (turn.status !== 'COMPLETED') {
		node.classList.add('aside', turn.status.toLowerCase());
		node.append(asideNote(turn, attempts, actions));
	}
	else {
		node.append(meta(turn, approvals, actions));
	}
	return node;
}

function messageNodes(message, turn, index, approvals, known) {
	if (message.role === 'user') {
		return [questionNode(message.text ?? '')];
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

export function questionNode(text) {
	return el('div', { class: 'said' }, el('h2', { class: 'visually-hidden' }, 'You'),
		el('div', { class: 'bubble user text', dir: 'auto' }, ...markdown(text)),
		copyButton('Copy the question', () => text));
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

function meta(turn, approvals, actions) {
	return el('p', { class: 'meta' }, ...facts(turn, approvals).map((fact) => el('span', {}, fact)), details(turn, actions));
}

/** The time that the turn took is its own: a person who decides takes as long as they like. */
function facts(turn, approvals) {
	const { input, output } = turn.tokens;
	const time = el('time', { datetime: turn.startedAt, title: exactTime(turn.startedAt) }, timeOfDay(turn.startedAt));
	return [time, duration(ownTime(turn, approvals)), plural(input + output, 'token')];
}

export const ownTime = (turn, approvals) => Math.max(0, (turn.millis ?? 0) - waitedFor(approvals, turn));

const details = (turn, actions) => iconButton('info', `Details of turn ${turn.number}`, () => actions.inspect(turn.number));

const note = (turn, name, ...more) => el('p', { class: 'note' }, icon(name), el('span', {}, noteOf(turn)), ...more);

function asideNote(turn, attempts, actions) {
	const name = turn.status === 'CANCELLED' ? 'stopped' : 'alert';
	const retry = turn.status === 'REFUSED' ? null
		: el('button', { type: 'button', class: 'quiet retry', onclick: () => actions.retry(questionOf(turn)) }, icon('retry'), 'Retry');
	return note(turn, name, attempts > 1 ? el('span', { class: 'attempts' }, `${attempts} attempts`) : null, retry, details(turn, actions));
}
