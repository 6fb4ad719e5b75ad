import { arrange, button, byId, el, icon, motion } from './dom.js';
import { deletedWords } from './keeping.js';
import { covered, interleave, summaryNode } from './summaries.js';
import { questionOf, replacedBy, siblingsOf, turnNode } from './turn.js';
import { day } from './words.js';

const conversation = byId('conversation');
const scroller = byId('scroller');
const jump = byId('jump');

/** Closer to the end than this, one follows what comes. */
const NEAR = 80;

/** Farther than so many windows, going there would take too long to watch. */
const FAR = 3;

/** The nodes of the turns by their number, with what they show. */
let known = new Map();

/** Which thread they belong to. */
let shownThread;

/** Whether its turns, or its start page, have been seen. */
let isBegun = false;

const openedSummaries = new Set();

let follows = true;

/**
 * Shows a thread. Turns that are as they were stay as they are.
 *
 * @param view id, status, turns, siblings, summaries, approvals, earlier, deleted, thread, live
 * @param actions ask(text), earlier(), reload(), and those of a turn
 */
export function showConversation(view, actions) {
	const isAnother = shownThread !== view.id;
	if (isAnother) {
		known = new Map();
		shownThread = view.id;
		isBegun = false;
	}
	const wasAtEnd = isAtEnd();
	arrange(conversation, nodesOf(view, actions));
	if (!isBegun) {
		begin(view);
	}
	else if (wasAtEnd && view.turns.length > 0) {
		toEnd(false);
	}
	jump.hidden = follows || view.turns.length === 0;
}

/** What has become higher since the conversation was shown, such as a card, does not hide the end. */
export function keepEnd() {
	if (follows && conversation.querySelector('.turn')) {
		scroller.scrollTop = scroller.scrollHeight;
	}
}

/** A thread opens at its end, the start page at its beginning. */
function begin(view) {
	follows = view.turns.length > 0 || Boolean(view.live);
	isBegun = follows;
	scroller.scrollTop = follows ? scroller.scrollHeight : 0;
}

function nodesOf(view, actions) {
	if (view.turns.length === 0 && !view.live) {
		return [placeholder(view, actions)];
	}
	const attempts = attemptsOf(view.turns);
	const turns = view.turns.filter(({ number }) => attempts.get(number) > 0);
	const last = covered(view.summaries);
	let before = null;
	// The timeline has the older summaries too; here they would be litter.
	const nodes = interleave(turns, view.summaries.filter(({ current, turn }) => current && turn > view.earlier), (turn) => {
		const node = nodeOf(turn, view, attempts.get(turn.number), actions);
		node.classList.toggle('covered', turn.number <= last && turn.status === 'COMPLETED');
		const today = day(turn.startedAt);
		const both = today === before ? [node] : [dayNode(today), node];
		before = today;
		return both;
	}, (summary) => [summaryOf(summary)]).flat();
	if (view.earlier > 0) {
		nodes.unshift(earlierNode(view.earlier, actions));
	}
	else if (view.deleted > 0) {
		nodes.unshift(deletedNode(deletedWords(view.deleted, view.thread.kept)));
	}
	if (view.live) {
		nodes.push(view.live.node);
	}
	return nodes;
}

/**
 * How often a question was asked until something came of it, by the last of these turns.
 * The ones before it have 0: nobody needs to see each failure.
 */
function attemptsOf(turns) {
	const attempts = new Map();
	turns.forEach((turn, index) => {
		const previous = turns[index - 1];
		const again = previous !== undefined && (previous.status === 'FAILED' || previous.status === 'CANCELLED')
			&& questionOf(previous) === questionOf(turn);
		attempts.set(turn.number, again ? attempts.get(previous.number) + 1 : 1);
		if (again) {
			attempts.set(previous.number, 0);
		}
	});
	return attempts;
}

function nodeOf(turn, view, attempts, actions) {
	const calls = view.approvals.calls.filter(({ turnId }) => turnId === turn.id);
	// The card of a call that waits shows itself what changes.
	const place = { attempts, siblings: siblingsOf(turn, view.siblings), replaced: replacedBy(turn, view.turns) };
	const shown = JSON.stringify([turn, place, turn.status === 'AWAITING_APPROVAL' ? null : calls]);
	const found = known.get(turn.number);
	// Whoever edits a question there goes on.
	if (found?.shown === shown || found?.node.querySelector('.edit')) {
		return found.node;
	}
	const node = turnNode(turn, view.approvals, place, view.finished?.known, actions);
	known.set(turn.number, { node, shown });
	return node;
}

const dayNodes = new Map();

function dayNode(name) {
	return remembered(dayNodes, `${shownThread} ${name}`, () => el('p', { class: 'day' }, el('span', {}, name)));
}

const deletedNodes = new Map();

/** Where the thread begins now. */
const deletedNode = (words) => remembered(deletedNodes, `${shownThread} ${words}`, () => el('p', { class: 'deleted' }, words));

const summaryNodes = new Map();

function summaryOf(summary) {
	return remembered(summaryNodes, `${shownThread} ${JSON.stringify(summary)}`, () => summaryNode(summary, openedSummaries));
}

function remembered(nodes, key, make) {
	if (nodes.size > 500) {
		nodes.clear();
	}
	return nodes.get(key) ?? nodes.set(key, make()).get(key);
}

let earlierButton;

function earlierNode(count, actions) {
	earlierButton ??= button('', 'quiet earlier', () => {
		const height = scroller.scrollHeight - scroller.scrollTop;
		earlierButton.onread().then(() => { scroller.scrollTop = scroller.scrollHeight - height; });
	});
	earlierButton.onread = actions.earlier;
	earlierButton.textContent = `Show earlier turns (${count.toLocaleString('en')} more)`;
	return earlierButton;
}

// What stands where there are no turns

let placeholders = {};

function placeholder({ id, status, about }, actions) {
	const key = `${id} ${status} ${about !== null}`;
	if (placeholders.key !== key) {
		const make = { loading, away, gone, new: emptyState }[status] ?? emptyState;
		placeholders = { key, node: make(actions, about, id) };
	}
	return placeholders.node;
}

const loading = () => el('p', { class: 'loading', role: 'status' }, 'Reading the thread …');

const away = (actions, about, id) => el('div', { class: 'away' }, icon('alert'),
	el('h2', {}, id === null ? 'The threads cannot be read now' : 'This thread cannot be read now'),
	el('p', {}, `${id === null ? 'They are' : 'It is'} not lost: the application or its store does not answer. The page tries again by itself.`),
	button('Try again', 'quiet', actions.reload));

const gone = () => el('div', { class: 'away' }, icon('trash'), el('h2', {}, 'This thread was deleted'));

function emptyState(actions, about) {
	return el('div', { class: 'empty' },
		el('span', { class: 'empty-mark' }, icon('mark')),
		el('h2', {}, 'A thread that remembers'),
		el('p', {}, 'Whatever you say here is stored turn by turn. Stop the application, start it again, and go on.'),
		el('div', { class: 'suggestions' }, ...(about?.suggestions ?? []).map(({ text, why }) =>
			el('button', { type: 'button', class: 'suggestion', onclick: () => actions.ask(text) },
				el('strong', {}, text), el('span', {}, why)))),
		el('p', { class: 'what' }, 'SessionKit is the session layer of this chat: a Spring Boot starter that stores what an agent and its users say, and gives the model the part it needs. ',
			el('a', { href: 'https://docs.spring.io/spring-ai/reference/', target: '_blank', rel: 'noopener noreferrer' }, 'Spring AI'),
			' calls the model. The repository’s README says how to use both.'));
}

// Where one reads

export function goTo(number) {
	const node = byId(`turn-${number}`) ?? byId(`turn-${nextShown(number)}`);
	if (!node) {
		return;
	}
	const distance = Math.abs(node.getBoundingClientRect().top - scroller.getBoundingClientRect().top);
	node.scrollIntoView({ block: 'start', behavior: distance > FAR * scroller.clientHeight ? 'auto' : motion() });
	node.classList.add('flash');
	node.addEventListener('animationend', () => node.classList.remove('flash'), { once: true });
}

/** The last attempt stands for the ones before it. */
const nextShown = (number) => [...known.keys()].sort((a, b) => a - b).find((each) => each > number && byId(`turn-${each}`));

/** Puts the keyboard on the way to the other answers of a turn. */
export function focusPager(number, name) {
	const node = byId(`turn-${number}`);
	const button = node?.querySelector(`.${name}:not(:disabled)`) ?? node?.querySelector('.pager button:not(:disabled)');
	button?.focus({ preventScroll: true });
	button?.scrollIntoView({ block: 'nearest' });
}

export const isAtEnd = () => follows;

export function toEnd(smoothly) {
	scroller.scrollTo({ top: scroller.scrollHeight, behavior: smoothly ? motion() : 'auto' });
	follows = true;
}

/** Where something was drawn below what one reads, one follows if one was at the end. */
export function drawn(wasAtEnd) {
	if (wasAtEnd) {
		scroller.scrollTop = scroller.scrollHeight;
	}
	else {
		jump.hidden = false;
	}
}

/** A card that waits is what a person has come for. */
export function showCard() {
	const card = conversation.querySelector('.approval:not(.decided)');
	if (card && card.getBoundingClientRect().top < scroller.getBoundingClientRect().top) {
		card.scrollIntoView({ block: 'start' });
		follows = false; // the end comes after the decision
	}
}

/** Calls back with the number of the turn that is read, whenever it is another one. */
export function onRead(callback) {
	const inSight = new Set();
	const observer = new IntersectionObserver((entries) => {
		entries.forEach(({ target, isIntersecting }) => isIntersecting ? inSight.add(target) : inSight.delete(target));
		const numbers = [...inSight].filter((node) => node.isConnected).map((node) => Number(node.id.slice('turn-'.length)));
		if (numbers.length > 0) {
			callback(Math.max(...numbers));
		}
	}, { root: scroller, rootMargin: '-30% 0px -30% 0px' });
	new MutationObserver((records) => records.flatMap(({ addedNodes }) => [...addedNodes])
		.filter((node) => node.id?.startsWith('turn-')).forEach((node) => observer.observe(node))).observe(conversation, { childList: true });
}

scroller.addEventListener('scroll', () => {
	follows = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
	jump.hidden = follows || !conversation.querySelector('.turn');
}, { passive: true });

jump.addEventListener('click', () => toEnd(true));

new ResizeObserver(() => {
	document.documentElement.style.setProperty('--scrollbar', `${scroller.offsetWidth - scroller.clientWidth}px`);
	if (follows && conversation.querySelector('.turn')) {
		scroller.scrollTop = scroller.scrollHeight; // the window or the question field has another height
	}
}).observe(scroller);

