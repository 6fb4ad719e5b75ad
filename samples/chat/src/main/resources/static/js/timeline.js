import { escapeHidden } from './arguments.js';
import { summaryNode, covered, interleave } from './summaries.js';
import { byId, duration, el, icon, plural } from './dom.js';

const WORDS = {
	COMPLETED: 'completed',
	AWAITING_APPROVAL: 'awaits approval',
	FAILED: 'failed',
	CANCELLED: 'cancelled',
	REFUSED: 'refused',
	INCOMPLETE: 'incomplete',
};

const ROLES = { user: 'you', assistant: 'model', tool: 'tool' };

const opened = new Set();

let shown = {};

const total = (turn) => turn.tokens.input + turn.tokens.output;

/**
 * Shows every turn of the thread, whatever became of it, and the summaries between them.
 * @param actions goTo(turn), history(turn)
 */
export function showTimeline(turns, summaries, actions) {
	if (shown.turns === turns && shown.summaries === summaries) {
		return; // nobody loses the place where they read
	}
	shown = { turns, summaries };
	const most = Math.max(1, ...turns.map(total));
	byId('timeline-sum').textContent = turns.length === 0 ? 'No turns yet. A turn is one question and its answer.'
		: `${plural(turns.length, 'turn')} · ${plural(turns.reduce((sum, turn) => sum + total(turn), 0), 'token')}`;
	const last = covered(summaries);
	byId('turn-list').replaceChildren(...interleave(turns, summaries,
		(turn) => entry(turn, most, turn.number <= last, actions),
		(summary) => el('li', { class: 'mark' }, summaryNode(summary, opened))));
}

function entry(turn, most, isCovered, actions) {
	const tools = toolCounts(turn);
	const question = turn.messages.find((message) => message.role === 'user')?.text ?? '';
	const facts = [turn.model ?? 'no model', plural(turn.rounds, 'round'), turn.millis === null ? null : duration(turn.millis)];
	const inLog = isCovered && turn.status === 'COMPLETED';
	return el('li', { class: `entry ${turn.status.toLowerCase()}${inLog ? ' covered' : ''}` },
		el('button', { type: 'button', onclick: () => actions.goTo(turn.number) },
			el('span', { class: 'entry-head' },
				el('span', { class: 'number' }, `Turn ${turn.number}`),
				el('span', { class: 'status' }, inLog ? 'kept in the log' : WORDS[turn.status] ?? turn.status)),
			el('span', { class: 'entry-question' }, question),
			tools.length ? el('span', { class: 'entry-tools' }, ...tools.map((tool) => el('code', {}, tool))) : null,
			total(turn) > 0 ? bar(turn, most) : null,
			el('span', { class: 'entry-facts' }, facts.filter(Boolean).join(' · '))),
		turn.history?.messages > 0 ? sawNode(turn, actions) : null);
}

/** What the model was shown of the turns before, read when somebody wants to see it. */
function sawNode(turn, actions) {
	const { messages, summarized } = turn.history;
	const list = el('ol', { class: 'saw-list' });
	const label = summarized ? `Saw a summary + ${messages - 2} messages` : `Saw ${plural(messages, 'message')}`;
	const node = el('details', { class: 'saw' }, el('summary', {}, label, el('span', { class: 'chevron' }, icon('chevron'))), list);
	node.addEventListener('toggle', async () => {
		if (node.open && !list.hasChildNodes()) {
			list.replaceChildren(...sawRows(await actions.history(turn.number)));
		}
	});
	return node;
}

function sawRows(history) {
	if (!history) {
		return [];
	}
	const end = history.complete ? 'Complete: all that was sent before the question.'
		: `${plural(history.missing, 'message')} deleted since.`;
	return [...history.messages.map((message) => el('li', {}, el('b', {}, ROLES[message.role] ?? message.role), el('span', {}, words(message)))),
		el('li', { class: 'saw-end' }, end)];
}

function words(message) {
	const tools = [...message.calls.map((call) => `${call.name}()`), ...message.results.map((result) => `${result.name}: ${result.data}`)];
	return (message.text || escapeHidden(tools.join(', '))).slice(0, 120);
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
