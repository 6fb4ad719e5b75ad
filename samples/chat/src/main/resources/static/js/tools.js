import { escapeHidden, shown } from './arguments.js';
import { el, icon } from './dom.js';

/**
 * A tool call: its name and result in a line, and all of it when it is opened.
 * @param result undefined while it runs, null if there is none
 * @param outcome what people decided, if they had to
 */
export function toolRow(call, result, outcome) {
	const state = stateOf(result, outcome);
	return el('details', { class: `tool ${state}` },
		el('summary', {}, icon(state === 'refused' ? 'blocked' : 'tool'), el('code', {}, call.name),
			el('span', { class: 'tool-result', dir: 'auto' }, lineOf(result, outcome, state)),
			el('span', { class: 'chevron' }, icon('chevron'))),
		el('dl', {}, ...rows(call, result, outcome)));
}

function stateOf(result, outcome) {
	if (outcome?.isRefused) {
		return 'refused';
	}
	return result === undefined ? 'runs' : 'done';
}

function lineOf(result, outcome, state) {
	switch (state) {
		case 'refused':
			return `${outcome.isClaimed ? 'may have run' : 'did not run'}: ${outcome.words}`;
		case 'runs':
			return 'runs …';
		default:
			return result ? escapeHidden(plain(result.data)) : 'no result';
	}
}

function rows(call, result, outcome) {
	const rows = [['Arguments', el('code', {}, shown(call.data))]];
	if (outcome?.edited !== undefined) {
		rows.push(['Edited to', el('code', {}, shown(outcome.edited))]);
	}
	if (result !== undefined) {
		rows.push([outcome?.isRefused ? 'The model was told' : 'Result', el('code', {}, result ? shown(result.data) : 'none')]);
	}
	if (outcome) {
		rows.push(['Decision', outcome.words]);
	}
	return rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', { class: name === 'Decision' ? 'decision' : null }, value)]);
}

/** A result that is nothing but a JSON string, without its quotes. */
function plain(data) {
	return data.match(/^"([^"\\]*)"$/)?.[1] ?? data;
}

/** The names of a turn's tools, each once. */
export function toolNames(turn) {
	const counts = new Map();
	for (const { name } of turn.messages.flatMap((message) => message.calls)) {
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return [...counts].map(([name, count]) => count > 1 ? `${name} ×${count}` : name);
}
