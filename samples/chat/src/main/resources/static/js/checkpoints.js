import { ago, el, icon, plural } from './dom.js';
import { markdown } from './markdown.js';

/**
 * The nodes of turns, oldest first, with those of the checkpoints between them: each in
 * front of the first turn that it does not cover.
 */
export function interleave(turns, checkpoints, turnNode, checkpointNode) {
	const left = [...checkpoints];
	const nodes = turns.flatMap((turn) => {
		const ended = left.splice(0, left.filter((checkpoint) => checkpoint.turn < turn.number).length);
		return [...ended.map(checkpointNode), turnNode(turn)];
	});
	return [...nodes, ...left.map(checkpointNode)];
}

/** The last turn that the model sees as a summary only; 0 if it sees all of them. */
export const covered = (checkpoints) => checkpoints.find((checkpoint) => checkpoint.current)?.turn ?? 0;

/**
 * A summary, which opens to show its text and what it cost.
 * @param opened the ids of those that are open, kept while the page draws its lists anew
 */
export function checkpointNode(checkpoint, opened) {
	const { id, turn, since, text, model, tokens, at, current } = checkpoint;
	const facts = [model ?? 'no model', `${tokens.input.toLocaleString('en')} in`, `${plural(tokens.output, 'token')} out`, ago(at)];
	const node = el('details', { class: current ? 'checkpoint' : 'checkpoint older', open: opened.has(id) },
		el('summary', {}, icon('summary'), el('span', {}, `Summary up to turn ${turn}`),
			el('span', { class: 'chevron' }, icon('chevron'))),
		el('div', { class: 'checkpoint-body' },
			el('p', { class: 'checkpoint-why' }, why(turn, since, current)),
			el('div', { class: 'text' }, ...markdown(text)),
			el('p', { class: 'checkpoint-facts', title: new Date(at).toLocaleString('en') }, facts.join(' · '))));
	node.addEventListener('toggle', () => (node.open ? opened.add(id) : opened.delete(id)));
	return node;
}

function why(turn, since, current) {
	if (!current) {
		return 'A newer summary has taken this one in.';
	}
	const turns = turn === 1 ? 'turn 1' : `turns 1 to ${turn}`;
	const folded = since > 0 ? ` It goes on from the summary up to turn ${since}.` : '';
	return `The model gets this in the place of ${turns}. They are kept in the log.${folded}`;
}
