import { outcomeOf } from './approvals.js';
import { escapeHidden, shown } from './arguments.js';
import { summaryNode, covered } from './summaries.js';
import { byId, duration, el, icon, plural } from './dom.js';
import { markdown } from './markdown.js';

const SUGGESTIONS = [
	['My name is Ada', 'Known later, also after a restart'],
	['Roll two dice', 'Two tool calls in one turn'],
	['Tell me a story', 'Long enough to press stop'],
	['Cancel order 4711', 'Waits until you approve it'],
];

const NOTES = {
	CANCELLED: 'Stopped. Kept beside the history; the next question does not see it.',
	FAILED: 'This turn failed. It is not part of the history.',
	REFUSED: 'A guard refused this turn.',
	INCOMPLETE: 'This turn was not finished.',
	AWAITING_APPROVAL: 'This turn waits for a decision. It can be made in any window, also after a restart.',
};

const opened = new Set();

const conversation = byId('conversation');
const scroller = byId('scroller');
const jump = byId('jump');

/** Shows the stored turns of a thread, and the one that is being answered, if any. */
export function show(turns, summaries, approvals, live, onAsk) {
	conversation.replaceChildren(...turns.map((turn) => turnNode(turn, approvals)));
	if (live) {
		conversation.append(live.node);
	}
	else if (turns.length === 0) {
		conversation.append(emptyState(onAsk));
	}
	mark(turns, summaries);
	toEnd(false);
	jump.hidden = true;
}

/** Puts the summaries between the turns that are shown, which stay as they are. */
export function mark(turns, summaries) {
	const atEnd = isAtEnd();
	const last = covered(summaries);
	conversation.querySelectorAll('.summary-card').forEach((node) => node.remove());
	turns.forEach((turn) => byId(`turn-${turn.number}`)?.classList.toggle('covered', turn.number <= last));
	for (const summary of summaries) {
		const next = turns.find((turn) => turn.number > summary.turn);
		conversation.insertBefore(summaryNode(summary, opened), next ? byId(`turn-${next.number}`) : conversation.querySelector('.live'));
	}
	if (atEnd) {
		toEnd(false);
	}
}

/**
 * A turn while it is being answered. Its node is replaced when it is stored.
 * @param question null if the turn goes on and its question is shown already
 */
export function liveTurn(question) {
	const text = el('div', { class: 'text' });
	const reply = el('div', { class: 'bubble assistant waiting' }, text, el('span', { class: 'dots' }, el('i'), el('i'), el('i')));
	const node = el('section', { class: 'turn live', 'aria-label': 'New turn' }, question === null ? null : userBubble(question), reply);
	let whole = '';
	return {
		node,
		add(delta) {
			const atEnd = isAtEnd();
			whole += delta;
			reply.classList.remove('waiting');
			text.replaceChildren(...markdown(whole));
			if (atEnd) {
				toEnd(false);
			}
		},
		finish(turn, approvals) {
			const atEnd = isAtEnd();
			const stored = turnNode(turn, approvals);
			node.replaceWith(stored);
			this.node = stored;
			if (atEnd) {
				toEnd(false);
			}
		},
		stop(note, status) {
			node.classList.remove('live');
			node.classList.add('aside', status);
			reply.classList.remove('waiting');
			reply.hidden = !whole;
			node.append(el('p', { class: 'note' }, note));
		},
	};
}

export const showLive = (live) => {
	conversation.querySelector('.empty')?.remove();
	conversation.append(live.node);
	toEnd(true);
};

export function goTo(number) {
	const node = byId(`turn-${number}`);
	node?.scrollIntoView({ block: 'start', behavior: motion() });
	node?.classList.add('flash');
	node?.addEventListener('animationend', () => node.classList.remove('flash'), { once: true });
}

/** What was said at the end of a turn, for those who listen. */
export function replyText(turn) {
	if (turn.status === 'AWAITING_APPROVAL') {
		return NOTES.AWAITING_APPROVAL;
	}
	return turn.messages.filter((message) => message.role === 'assistant').at(-1)?.text ?? '';
}

function turnNode(turn, approvals) {
	const node = el('section', { class: 'turn', id: `turn-${turn.number}`, 'aria-label': `Turn ${turn.number}` },
		...turn.messages.flatMap((message, index) => messageNodes(message, turn, index, approvals)));
	if (turn.status === 'AWAITING_APPROVAL') {
		node.classList.add('awaiting_approval');
		node.append(el('div', { class: 'approvals', id: 'approvals' }), el('p', { class: 'note' }, NOTES.AWAITING_APPROVAL));
	}
	else if (turn.status !== 'COMPLETED') {
		node.classList.add('aside', turn.status.toLowerCase());
		node.append(el('p', { class: 'note' }, NOTES[turn.status] ?? turn.status));
	}
	else {
		const cost = [`Turn ${turn.number}`, plural(turn.tokens.input + turn.tokens.output, 'token'), duration(turn.millis ?? 0)];
		node.append(el('p', { class: 'meta' }, cost.join(' · ')));
	}
	return node;
}

function messageNodes(message, turn, index, approvals) {
	if (message.role === 'user') {
		return [userBubble(message.text ?? '')];
	}
	if (message.role !== 'assistant') {
		return [];
	}
	const results = turn.messages[index + 1]?.results ?? [];
	const round = turn.messages.slice(0, index + 1).filter(({ role }) => role === 'assistant').length;
	const nodes = message.text ? [el('div', { class: 'bubble assistant' }, el('div', { class: 'text' }, ...markdown(message.text)))] : [];
	if (message.calls.length > 0) {
		nodes.push(el('div', { class: 'tools' }, ...message.calls.map((call, position) => toolRow(call, results[position], outcomeOf(approvals, turn, round, position)))));
	}
	return nodes;
}

function userBubble(text) {
	return el('div', { class: 'bubble user' }, text);
}

function toolRow(call, result, outcome) {
	return el('details', { class: 'tool' },
		el('summary', {}, icon('tool'), el('code', {}, call.name), el('span', { class: 'tool-result' }, result ? escapeHidden(plain(result.data)) : 'no result'),
			el('span', { class: 'chevron' }, icon('chevron'))),
		el('dl', {},
			el('dt', {}, 'Arguments'), el('dd', {}, el('code', {}, shown(call.data))),
			...(outcome?.edited !== undefined ? [el('dt', {}, 'Edited to'), el('dd', {}, el('code', {}, shown(outcome.edited)))] : []),
			el('dt', {}, 'Result'), el('dd', {}, el('code', {}, result ? shown(result.data) : 'none')),
			...(outcome ? [el('dt', {}, 'Decision'), el('dd', { class: 'decision' }, outcome.words)] : [])));
}

/** A result that is nothing but a JSON string, without its quotes. */
function plain(data) {
	return data.match(/^"([^"\\]*)"$/)?.[1] ?? data;
}

function emptyState(onAsk) {
	return el('div', { class: 'empty' },
		el('span', { class: 'empty-mark' }, icon('mark')),
		el('h2', {}, 'A thread that remembers'),
		el('p', {}, 'Whatever you say here is stored turn by turn. Stop the application, start it again, and go on.'),
		el('div', { class: 'suggestions' }, ...SUGGESTIONS.map(([text, why]) =>
			el('button', { type: 'button', class: 'suggestion', onclick: () => onAsk(text) },
				el('strong', {}, text), el('span', {}, why)))));
}

const motion = () => matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';

const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;

function toEnd(smoothly) {
	scroller.scrollTo({ top: scroller.scrollHeight, behavior: smoothly ? motion() : 'auto' });
}

scroller.addEventListener('scroll', () => { jump.hidden = isAtEnd(); }, { passive: true });
jump.addEventListener('click', () => toEnd(true));

new ResizeObserver(() => document.documentElement.style.setProperty('--scrollbar',
	`${scroller.offsetWidth - scroller.clientWidth}px`)).observe(scroller);
