import * as api from './api.js';
import { goTo, liveTurn, replyText, show, showLive } from './conversation.js';
import { byId, el, icon } from './dom.js';
import { closeDrawers } from './panels.js';
import { showThreads } from './threads.js';
import { showTimeline } from './timeline.js';

const question = byId('question');
const banner = byId('banner');

/** Turns that are being answered, by thread: one can look at another thread meanwhile. */
const running = new Map();

let threads = [];
let turns = [];
let current;

// Which thread

const idInAddress = () => decodeURIComponent(location.hash.slice(1));

async function open(id, isNew = false) {
	if (idInAddress() !== id) {
		history[location.hash ? 'pushState' : 'replaceState'](null, '', `#${encodeURIComponent(id)}`);
	}
	current = id;
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
	const [stored] = await Promise.all([isNew ? null : guarded(() => api.read(id)), reloadThreads()]);
	if (id !== current) {
		return;
	}
	turns = stored?.turns ?? [];
	show(turns, running.get(id)?.live, ask);
	update();
}

async function reloadThreads() {
	threads = await guarded(api.list) ?? threads;
	update();
}

function update() {
	const title = threads.find((thread) => thread.id === current)?.title ?? 'New thread';
	byId('title').textContent = title;
	document.title = `${title} · SessionKit Chat`;
	showThreads(threads, current, { open, rename, remove });
	showTimeline(turns, (number) => {
		closeDrawers();
		goTo(number);
	});
	const busy = running.has(current);
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
	await guarded(() => api.remove(id));
	await reloadThreads();
	if (id === current) {
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
	const abort = new AbortController();
	const live = liveTurn(text);
	running.set(id, { live, stop: () => abort.abort() });
	showLive(live);
	update();
	try {
		await listen(id, text, live, abort.signal);
	}
	catch (error) {
		ended(id, text, live, error);
	}
	running.delete(id);
	// A turn that was stopped just before may have been stored in between.
	const complete = id !== current || turns.every((turn, index) => index === 0 || turn.number === turns[index - 1].number + 1);
	await (complete ? reloadThreads() : reload());
}

async function listen(id, text, live, signal) {
	for await (const { name, data } of api.ask(id, text, signal)) {
		if (name === 'text') {
			live.add(data.text);
		}
		else if (name === 'turn') {
			stored(id, live, data);
			return;
		}
		else if (name === 'problem') {
			throw new Error(data.detail);
		}
	}
	throw new Error('The reply ended early. Look at the timeline to see whether it was stored.');
}

function stored(id, live, turn) {
	live.finish(turn);
	byId('announcer').textContent = replyText(turn);
	if (id === current) {
		turns = [...turns, turn];
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
		show(turns, null, ask);
		await reloadThreads();
	}
	else if (times > 1) {
		await refreshTurns(id, before, times - 1);
	}
}

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
