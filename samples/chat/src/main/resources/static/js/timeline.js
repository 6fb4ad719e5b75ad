import { tokenChart } from './chart.js';
import { forksOf } from './branches.js';
import { arrange, byId, el, icon, setText } from './dom.js';
import { deletedWords } from './keeping.js';
import { covered, interleave, summaryNode } from './summaries.js';
import { toolNames } from './tools.js';
import { ownTime, placeOf, questionOf, siblingsOf } from './turn.js';
import { STATES, duration, plural } from './words.js';

const list = byId('turn-list');

const openedSummaries = new Set();

let entries = new Map();

let shown = {};

const total = ({ tokens }) => tokens.input + tokens.output;

/**
 * Shows every turn of the thread that is on the page, whatever became of it, with the
 * summaries between them. Entries that are as they were stay as they are.
 *
 * @param view id, turns, siblings, branches, forkedFrom, summaries, approvals, earlier, deleted, thread, live
 * @param actions goTo(number), inspect(number), open(id)
 */
export function showTimeline(view, actions) {
	if (shown.id !== view.id) {
		entries = new Map();
	}
	const isNew = shown.turns !== view.turns || shown.siblings !== view.siblings || shown.summaries !== view.summaries || shown.approvals !== view.approvals || shown.id !== view.id;
	if (!isNew && shown.live === view.live) {
		return;
	}
	const grows = shown.id !== view.id || shown.turns?.at(-1)?.number !== view.turns.at(-1)?.number || shown.live !== view.live;
	shown = { ...view };
	const summaries = near(view);
	showSum(view, summaries);
	showOrigin(view.forkedFrom, actions);
	byId('chart').replaceChildren(...(view.turns.length > 1 ? [tokenChart(view.turns, summaries, actions.goTo)] : []));
	arrange(list, nodesOf(view, summaries, actions));
	if (grows) {
		list.scrollTop = list.scrollHeight;
	}
}

/** Where the first turns of a thread come from. */
function showOrigin(forkedFrom, actions) {
	const place = byId('forked-from');
	place.hidden = !forkedFrom;
	if (forkedFrom) {
		place.replaceChildren(icon('fork'), el('span', {}, 'Forked from ', forkedFrom.title === null ? 'a thread that is gone'
			: el('button', { type: 'button', class: 'link', dir: 'auto', onclick: () => actions.open(forkedFrom.id) }, forkedFrom.title)));
	}
}

/** The summaries of the turns that are shown. */
const near = ({ turns, summaries, earlier }) => earlier === 0 ? summaries : summaries.filter(({ turn }) => turn >= turns[0].number);

function showSum({ turns, earlier }, summaries) {
	if (turns.length === 0) {
		setText(byId('timeline-sum'), 'A turn is one question and its answer.');
		return;
	}
	const tokens = [...turns, ...summaries].reduce((sum, each) => sum + total(each), 0);
	const cached = turns.reduce((sum, { tokens: { cacheRead } }) => sum + cacheRead, 0);
	setText(byId('timeline-sum'), [plural(turns.length + earlier, 'turn'), `${plural(tokens, 'token')}${earlier > 0 ? ` in the newest ${turns.length}` : ''}`,
		cached > 0 ? `${Math.round(100 * cached / turns.reduce((sum, turn) => sum + turn.tokens.input, 0))} % of the input from the cache` : null]
		.filter(Boolean).join(' · '));
}

function nodesOf(view, summaries, actions) {
	const last = covered(view.summaries);
	const forks = forksOf(view.branches);
	const nodes = interleave(view.turns, summaries,
		(turn) => entryOf(turn, view, turn.number <= last, forks.get(turn.number) ?? [], actions), summaryOf);
	if (view.deleted > 0 && view.earlier === 0 && view.turns.length > 0) {
		nodes.unshift(deletedNode(deletedWords(view.deleted, view.thread.kept)));
	}
	return view.live && view.live.question !== null ? [...nodes, running(view.live)] : nodes;
}

function entryOf(turn, view, isCovered, forks, actions) {
	const calls = view.approvals.calls.filter(({ turnId }) => turnId === turn.id);
	const siblings = siblingsOf(turn, view.siblings);
	const key = JSON.stringify([turn, isCovered, calls, siblings, forks]);
	const known = entries.get(turn.number);
	if (known?.key === key) {
		return known.node;
	}
	const node = entry(turn, view.approvals, isCovered, calls, { siblings, forks }, actions);
	entries.set(turn.number, { key, node });
	return node;
}

function entry(turn, approvals, isCovered, calls, { siblings, forks }, actions) {
	const inSummary = isCovered && turn.status === 'COMPLETED';
	const status = inSummary ? 'summarized' : turn.status === 'COMPLETED' ? (turn.cutShort ? 'stopped here' : null) : STATES[turn.status] ?? turn.status;
	const names = [...new Set(calls.flatMap(({ decisions }) => decisions.map(({ by }) => by)))];
	const facts = [turn.millis === null ? null : duration(ownTime(turn, approvals)), total(turn) > 0 ? plural(total(turn), 'token') : null,
		names.length > 0 ? `decided by ${names.join(', ')}` : null, ...toolNames(turn)].filter(Boolean);
	return el('li', { class: `entry ${turn.status.toLowerCase()}${inSummary ? ' covered' : ''}`, 'data-turn': turn.number },
		el('button', { type: 'button', onclick: () => actions.goTo(turn.number) },
			el('span', { class: 'entry-head' }, el('span', { class: 'number' }, `Turn ${turn.number}`), status ? el('span', { class: 'status' }, status) : null),
			el('span', { class: 'entry-question', dir: 'auto' }, questionOf(turn)),
			el('span', { class: 'entry-facts' }, facts.join(' · ')),
			siblings.length > 1 ? mark('retry', `Answer ${placeOf(turn.number, siblings)}`) : null,
			forks.length > 0 ? mark('branch', `${forks.map((name) => `“${name}”`).join(', ')} ${forks.length > 1 ? 'part' : 'parts'} here`) : null),
		el('button', { type: 'button', class: 'entry-details', onclick: () => actions.inspect(turn.number) },
			turn.history?.messages > 0 ? contextOf(turn.history) : 'Details'));
}

const mark = (name, words) => el('span', { class: 'entry-mark', dir: 'auto' }, icon(name), words);

/** What the model was sent of the turns before. */
const contextOf = ({ messages, summarized }) => summarized ? `Context: summary + ${plural(messages - 2, 'message')}` : `Context: ${plural(messages, 'message')}`;

let runningEntry = {};

function running(live) {
	if (runningEntry.live !== live) {
		runningEntry = { live, node: el('li', { class: 'entry running' }, el('span', { class: 'entry-head' }, el('span', { class: 'number' }, 'Now'),
			el('span', { class: 'status' }, 'answering')), el('span', { class: 'entry-question', dir: 'auto' }, live.question)) };
	}
	return runningEntry.node;
}

const summaryNodes = new Map();

function summaryOf(summary) {
	const key = JSON.stringify(summary);
	return summaryNodes.get(key) ?? summaryNodes.set(key, el('li', { class: 'mark' }, summaryNode(summary, openedSummaries))).get(key);
}

let beginning = {};

/** Where the thread begins now. */
function deletedNode(words) {
	if (beginning.words !== words) {
		beginning = { words, node: el('li', { class: 'deleted' }, words) };
	}
	return beginning.node;
}

/** Marks the turn that is read, and keeps it in sight. */
export function markRead(number) {
	list.querySelector('.entry.read')?.classList.remove('read');
	const node = entries.get(number)?.node;
	node?.classList.add('read');
	if (node?.isConnected && !list.contains(document.activeElement)) {
		const top = node.offsetTop - list.offsetTop;
		if (top < list.scrollTop || top + node.offsetHeight > list.scrollTop + list.clientHeight) {
			list.scrollTop = top - list.clientHeight / 2;
		}
	}
}

