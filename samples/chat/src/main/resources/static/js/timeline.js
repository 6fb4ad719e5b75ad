import { byId, duration, el, plural } from './dom.js';

const WORDS = {
	COMPLETED: 'completed',
	AWAITING_APPROVAL: 'awaits approval',
	FAILED: 'failed',
	CANCELLED: 'cancelled',
	REFUSED: 'refused',
	INCOMPLETE: 'incomplete',
};

const total = (turn) => turn.tokens.input + turn.tokens.output;

/** Shows every turn of the thread, whatever became of it. */
export function showTimeline(turns, onGoTo) {
	const most = Math.max(1, ...turns.map(total));
	byId('timeline-sum').textContent = turns.length === 0 ? 'No turns yet. A turn is one question and its answer.'
		: `${plural(turns.length, 'turn')} · ${plural(turns.reduce((sum, turn) => sum + total(turn), 0), 'token')}`;
	byId('turn-list').replaceChildren(...turns.map((turn) => entry(turn, most, onGoTo)));
}

function entry(turn, most, onGoTo) {
	const tools = toolCounts(turn);
	const question = turn.messages.find((message) => message.role === 'user')?.text ?? '';
	const facts = [turn.model ?? 'no model', plural(turn.rounds, 'round'), turn.millis === null ? null : duration(turn.millis)];
	return el('li', { class: `entry ${turn.status.toLowerCase()}` },
		el('button', { type: 'button', onclick: () => onGoTo(turn.number) },
			el('span', { class: 'entry-head' },
				el('span', { class: 'number' }, `Turn ${turn.number}`),
				el('span', { class: 'status' }, WORDS[turn.status] ?? turn.status)),
			el('span', { class: 'entry-question' }, question),
			tools.length ? el('span', { class: 'entry-tools' }, ...tools.map((tool) => el('code', {}, tool))) : null,
			total(turn) > 0 ? bar(turn, most) : null,
			el('span', { class: 'entry-facts' }, facts.filter(Boolean).join(' · '))));
}

function toolCounts(turn) {
	const counts = new Map();
	for (const { name } of turn.messages.flatMap((message) => message.calls)) {
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return [...counts].map(([name, count]) => count > 1 ? `${name} ×${count}` : name);
}

function bar(turn, most) {
	const share = (tokens) => `${(100 * tokens / most).toFixed(1)}%`;
	const input = el('i', { class: 'in' });
	const output = el('i', { class: 'out' });
	input.style.width = share(turn.tokens.input);
	output.style.width = share(turn.tokens.output);
	return el('span', { class: 'entry-tokens' },
		el('span', { class: 'bar', 'aria-hidden': 'true' }, input, output),
		el('span', { class: 'key in' }, `${turn.tokens.input.toLocaleString('en')} in`),
		el('span', { class: 'key out' }, `${turn.tokens.output.toLocaleString('en')} out`));
}
