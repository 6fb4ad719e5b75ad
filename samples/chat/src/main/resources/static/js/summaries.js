import { el, icon } from './dom.js';
import { markdown } from './markdown.js';
import { amount, day, exactTime, timeOfDay } from './words.js';

/**
 * The nodes of turns, oldest first, with those of the summaries between them: each in
 * front of the first turn that it does not cover.
 */
export function interleave(turns, summaries, turnNode, summaryNode) {
	const left = [...summaries];
	const nodes = turns.flatMap((turn) => {
		const ended = left.splice(0, left.filter((summary) => summary.turn < turn.number).length);
		return [...ended.map(summaryNode), turnNode(turn)];
	});
	return [...nodes, ...left.map(summaryNode)];
}

/** The last turn that the model sees as a summary only; 0 if it sees all of them. */
export const covered = (summaries) => summaries.find((summary) => summary.current)?.turn ?? 0;

/**
 * A summary, which opens to show its text and what it cost.
 * @param opened the ids of those that are open, kept while the page draws its lists anew
 */
export function summaryNode(summary, opened) {
	const { id, turn, text, model, tokens, at, current } = summary;
	const facts = [model ?? 'no model', `${amount(tokens.input)} tokens in`, `${amount(tokens.output)} out`, `${day(at)}, ${timeOfDay(at)}`];
	const node = el('details', { class: current ? 'summary-card' : 'summary-card older', open: opened.has(id) },
		el('summary', {}, icon('summary'), el('span', {}, `Summary up to turn ${turn}`),
			el('span', { class: 'chevron' }, icon('chevron'))),
		el('div', { class: 'summary-body' },
			el('p', { class: 'summary-why' }, why(summary)),
			el('div', { class: 'text' }, ...markdown(text)),
			el('p', { class: 'summary-facts', title: exactTime(at) }, facts.join(' · '))));
	node.addEventListener('toggle', () => (node.open ? opened.add(id) : opened.delete(id)));
	return node;
}

function why({ turn, since, current, deleted }) {
	if (!current) {
		return 'A newer summary contains this one.';
	}
	const turns = turn === 1 ? 'turn 1' : `turns 1 to ${turn}`;
	const folded = since > 0 ? ` It continues the summary up to turn ${since}.` : '';
	return `The model is sent this in place of ${turns}, ${deleted >= turn ? `which ${turn === 1 ? 'was' : 'were'} deleted` : deleted > 0 ? `of which those up to ${deleted} were deleted` : 'which stay stored'}.${folded}`;
}
