import * as api from './api.js';
import { approverName, openCalls, showApprovals, showStanding } from './approvals.js';
import { covered } from './summaries.js';
import { goTo, liveTurn, mark, replyText, show, showLive } from './conversation.js';
import { byId, el, icon, setText } from './dom.js';
import { closeDrawers } from './panels.js';
import { outcomeText, showSummarizer } from './summarizer.js';
import { showThreads } from './threads.js';
import { showTimeline } from './timeline.js';

const question = byId('question');
const banner = byId('banner');

/** Turns that are being answered, by thread: one can look at another thread meanwhile. */
const running = new Map();

/** A summary that is made in the background is looked for after so many milliseconds. */
const SUMMARY_WAITS = [250, 500, 1000, 2000, 4000, 8000, 16000];

/** Somebody may decide in another window: looks after so many milliseconds while a turn waits. */
const DECISION_WAIT = 2000;

const NO_APPROVALS = { openTurn: 0, running: false, calls: [], standing: [] };

let threads = [];
let turns = [];
let summaries = [];
let approvals = NO_APPROVALS;
let current;

/** The thread that is being summarized because somebody asked for it, and what came of it. */
let summarizing = null;
let outcome = '';

// Which thread

const idInAddress = () => decodeURIComponent(location.hash.slice(1));

async function open(id, isNew = false) {
	if (idInAddress() !== id) {
		history[location.hash ? 'pushState' : 'replaceState'](null, '', `#${encodeURIComponent(id)}`);
	}
	current = id;
	outcome = '';
	hideProblem();
	closeDrawers();
	await reload(isNew);
	if (matchMedia('(hover: hover)').matches) {
		question.focus();
	}
}

/** The application has a thread when its first turn is stored; until then it is an id. */
const newThread = () => open(crypto.randomUUID?.() ?? String(Date.now()) + Math.random(), true);

async function reload(isNew = false) {
	const id = current;
	const [stored, decided] = await Promise.all([isNew ? null : guarded(() => api.read(id)),
		isNew ? null : guarded(() => api.approvals(id)), reloadThreads()]);
	if (id !== current) {
		return;
	}
	turns = stored?.turns ?? [];
	summaries = stored?.summaries ?? [];
	approvals = decided ?? NO_APPROVALS;
	show(turns, summaries, approvals, running.get(id)?.live, ask);
	update();
	watchForSummary(id);
	watchForDecisions(id);
}

async function reloadThreads() {
	threads = await guarded(api.list) ?? threads;
	update();
}

function update() {
	const thread = threads.find(({ id }) => id === current);
	const title = thread?.title ?? 'New thread';
	setText(byId('title'), title);
	setText(document.querySelector('title'), `${title} · SessionKit Chat`);
	showThreads(threads, current, { open, rename, remove });
	const id = current;
	showTimeline(turns, summaries, {
		goTo: (number) => {
			closeDrawers();
			goTo(number);
		},
		history: (number) => guarded(() => api.history(id, number)),
	});
	showSummarizer(thread?.unsummarized, summarizing === current, outcome);
	const busy = running.has(current);
	showApprovals(approvals, turns, busy, { decide, resume });
	showStanding(approvals.standing, revoke);
	byId('send').hidden = busy;
	byId('stop').hidden = !busy;
	byId('send').disabled = question.value.trim() === '';
}

async function rename(id, title) {
	await guarded(() => api.rename(id, title));
	await reloadThreads();
}

async function remove(id) {
	running.get(id)?.stop();
	const removed = await guarded(() => api.remove(id));
	await reloadThreads();
	if (removed && id === current) {
		await (threads.length ? open(threads[0].id) : newThread());
	}
}

// One turn

async function ask(text) {
	const id = current;
	if (running.has(id) || text.trim() === '') {
		return;
	}
	hideProblem();
	outcome = '';
	const { live, signal } = begin(id, text);
	let waits = false;
	try {
		const turn = await listen(live, api.ask(id, text, signal));
		waits = turn.status === 'AWAITING_APPROVAL';
		await stored(id, live, turn);
	}
	catch (error) {
		ended(id, text, live, error);
	}
	running.delete(id);
	// A turn that was stopped just before may have been stored in between.
	const complete = id !== current || !waits && turns.every((turn, index) => index === 0 || turn.number === turns[index - 1].number + 1);
	await (complete ? reloadThreads() : reload());
	watchForSummary(id);
}

function begin(id, text) {
	const abort = new AbortController();
	const live = liveTurn(text);
	running.set(id, { live, stop: () => abort.abort() });
	showLive(live);
	update();
	return { live, signal: abort.signal };
}

/** Shows the reply as it comes, and gives the turn as it was stored. */
async function listen(live, events) {
	for await (const { name, data } of events) {
		if (name === 'text') {
			live.add(data.text);
		}
		else if (name === 'turn') {
			return data;
		}
		else if (name === 'problem') {
			throw new Error(data.detail);
		}
	}
	throw new Error('The reply ended early. Look at the timeline to see whether it was stored.');
}

async function stored(id, live, turn) {
	byId('announcer').textContent = replyText(turn);
	if (turn.status === 'AWAITING_APPROVAL') {
		return; // what is stored of it is read with what it waits for
	}
	const calls = turn.rounds > 1 ? await api.approvals(id).catch(() => approvals) : approvals;
	live.finish(turn, calls);
	if (id === current) {
		turns = [...turns, turn];
		approvals = calls;
	}
}

function ended(id, text, live, error) {
	const stopped = error.name === 'AbortError';
	live.stop(stopped ? 'Stopped.' : 'Not answered.', stopped ? 'cancelled' : 'failed');
	if (id !== current) {
		return;
	}
	if (!stopped) {
		problem(error.message, ['Try again', () => ask(text)]);
	}
	refreshTurns(id, turns.length, 6);
}

/**
 * The application notices a closed stream when it writes the next word: looks for the turn
 * a few times.
 */
async function refreshTurns(id, before, times) {
	await new Promise((resolve) => setTimeout(resolve, 400));
	const fresh = await api.read(id).catch(() => null);
	if (id !== current || running.has(id)) {
		return;
	}
	if (fresh && fresh.turns.length > before) {
		turns = fresh.turns;
		summaries = fresh.summaries;
		show(turns, summaries, approvals, null, ask);
		await reloadThreads();
	}
	else if (times > 1) {
		await refreshTurns(id, before, times - 1);
	}
}

// Decisions on tool calls

/** Decides, and goes on with the turn once nothing waits any more. */
async function decide(call, decision) {
	const id = current;
	try {
		await api.decide(id, call, { ...decision, by: approverName() });
		hideProblem();
	}
	catch (error) {
		problem(error.message, ['Look again', () => {
			hideProblem();
			readApprovals(id);
		}]);
		await readApprovals(id);
		return;
	}
	await readApprovals(id);
	if (id !== current) {
		return;
	}
	if (approvals.openTurn > 0 && !openCalls(approvals, turns).some(({ pending }) => pending)) {
		await resume();
	}
	(document.querySelector('.approval-actions button') ?? question).focus();
}

async function resume() {
	const id = current;
	if (running.has(id)) {
		return;
	}
	hideProblem();
	const { live, signal } = begin(id, null);
	let failure = null;
	try {
		byId('announcer').textContent = replyText(await listen(live, api.resume(id, signal)));
	}
	catch (error) {
		failure = error;
	}
	running.delete(id);
	if (id === current) {
		await reload();
	}
	if (failure && failure.name !== 'AbortError' && id === current) {
		problem(failure.message, ['Look again', () => {
			hideProblem();
			reload();
		}]);
	}
}

async function revoke(decision) {
	const id = current;
	await guarded(() => api.revoke(id, decision));
	await readApprovals(id);
}

/** Looks at what others have decided. Where a turn went on or began to wait elsewhere, all is read anew. */
async function readApprovals(id) {
	const fresh = await api.approvals(id).catch(() => null);
	if (!fresh || id !== current || running.has(id)) {
		return;
	}
	const moved = fresh.openTurn !== approvals.openTurn;
	approvals = fresh;
	await (moved ? reload() : update());
}

let decisionWatch = 0;

async function watchForDecisions(id) {
	const mine = ++decisionWatch;
	while (mine === decisionWatch && id === current && approvals.openTurn > 0) {
		await new Promise((resolve) => setTimeout(resolve, DECISION_WAIT));
		if (mine === decisionWatch) {
			await readApprovals(id);
		}
	}
}

window.addEventListener('focus', () => current && readApprovals(current));

// Summaries

let watch = 0;

/**
 * A summary in the background comes a moment after the answer, and nobody says so: looks
 * for it a few times while one is due.
 */
async function watchForSummary(id) {
	const mine = ++watch;
	for (const wait of SUMMARY_WAITS) {
		const { since, messages, limit } = threads.find((thread) => thread.id === id)?.unsummarized ?? {};
		const isThere = since !== covered(summaries);
		const isDue = limit > 0 && messages >= limit;
		if (mine !== watch || id !== current || since === undefined || !(isThere || isDue)) {
			return;
		}
		if (!isThere) {
			await new Promise((resolve) => setTimeout(resolve, wait));
		}
		await readSummaries(id);
	}
}

async function readSummaries(id) {
	const fresh = await api.read(id).catch(() => null);
	if (!fresh || id !== current) {
		return;
	}
	threads = threads.map((thread) => thread.id === id ? fresh.thread : thread);
	if (fresh.summaries.length !== summaries.length || covered(fresh.summaries) !== covered(summaries)) {
		summaries = fresh.summaries;
		mark(turns, summaries);
	}
	update();
}

async function summarize() {
	const id = current;
	if (summarizing !== null) {
		return;
	}
	summarizing = id;
	outcome = '';
	update();
	const result = await guarded(() => api.summarize(id));
	summarizing = null;
	if (result && id === current) {
		outcome = outcomeText(result);
	}
	await readSummaries(id);
	update();
}

byId('summarize').addEventListener('click', summarize);

// Problems

async function guarded(work) {
	try {
		return await work();
	}
	catch (error) {
		problem(error.message, ['Try again', () => {
			hideProblem();
			reload();
		}]);
		return undefined;
	}
}

function problem(text, [label, action]) {
	banner.replaceChildren(icon('alert'), el('span', {}, text),
		el('button', { type: 'button', class: 'quiet', onclick: action }, label),
		el('button', { type: 'button', class: 'icon-button small', 'aria-label': 'Close this message', onclick: hideProblem }, icon('close')));
	banner.hidden = false;
}

function hideProblem() {
	banner.hidden = true;
}

// The question field

function fit() {
	question.style.height = 'auto';
	question.style.height = `${question.scrollHeight}px`;
	byId('send').disabled = question.value.trim() === '';
}

function submit() {
	const text = question.value;
	if (text.trim() === '' || running.has(current)) {
		return;
	}
	question.value = '';
	fit();
	ask(text);
}

question.addEventListener('input', fit);

// Its own height is what fit() changes: only another width is news.
let width = 0;
new ResizeObserver(() => {
	if (width !== question.offsetWidth) {
		width = question.offsetWidth;
		fit();
	}
}).observe(question);

question.addEventListener('keydown', (event) => {
	if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
		event.preventDefault();
		submit();
	}
});
byId('composer').addEventListener('submit', (event) => {
	event.preventDefault();
	submit();
});
byId('stop').addEventListener('click', () => {
	running.get(current)?.stop();
	question.focus();
});
byId('new-thread').addEventListener('click', newThread);
window.addEventListener('popstate', () => idInAddress() && open(idInAddress()));

// Start

async function showAbout() {
	const about = await guarded(api.about);
	if (about) {
		byId('badges').replaceChildren(
			el('span', { class: about.offline ? 'badge offline' : 'badge', title: 'The model that answers' }, about.model),
			el('span', { class: 'badge store', title: 'Where the threads are' }, `Stored in ${about.store}`));
	}
}

async function start() {
	showAbout();
	if (idInAddress()) {
		await open(idInAddress());
		return;
	}
	const newest = (await guarded(api.list))?.[0]?.id;
	await (newest ? open(newest) : newThread());
}

start();
