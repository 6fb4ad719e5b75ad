import * as api from './api.js';
import { decideOn, decidedElsewhere, openCalls, refuse, showApprovals, showStanding } from './approvals.js';
import { askName, freeName, showBranches } from './branches.js';
import { adoptDraft, compose, composeFor, focusQuestion, forgetDraft, putBackIn, setDraft, showBusy } from './composer.js';
import { drawn, focusPager, goTo, isAtEnd, keepEnd, onRead, showCard, showConversation, toEnd } from './conversation.js';
import { button, byId, el, icon, setText } from './dom.js';
import { showInboxOf } from './inbox.js';
import { inspect } from './inspector.js';
import { liveTurn } from './live.js';
import { showKeeping } from './keeping.js';
import { openMenu } from './menu.js';
import { hideProblem, offerUndo, problem } from './notices.js';
import { closeDialogs, closeDrawers } from './panels.js';
import * as queue from './queue.js';
import { showTakingBack, takeBack, warnOfUndo } from './rewind.js';
import './shortcuts.js';
import { say } from './speech.js';
import { keepStop, leftStops, ownStops } from './stops.js';
import { outcomeText, showSummarizer } from './summarizer.js';
import { showInbox, showThreads } from './threads.js';
import { markRead, showTimeline } from './timeline.js';
import { questionOf, replacedBy } from './turn.js';
import { isApprover, isAsking, meet, signOut } from './user.js';

const PAGE = 50;

/** A deleted thread can be had back for so many seconds. */
const UNDO = 6;

const NO_APPROVALS = { openTurn: 0, running: false, calls: [], standing: [] };

/** Turns that are being answered, by thread: one can look at another thread meanwhile. */
const running = new Map();

/** Turns that ended without being stored, as far as the page knows, by thread. */
const ended = new Map();

/** The newest turn that was shown, by thread: one that has lost it is another thread, or none. */
const seen = new Map();

const seenIn = (id) => seen.get(id) ?? 0;

/** Threads that are deleted once nobody wants them back: what to do when the page is left. */
const leaving = new Map();

let about = null;

/** The threads, and whether they are there: loading, failed or ready. */
let list = { threads: [], more: false, count: PAGE, status: 'loading' };

let waiting = [];

/** The thread that is shown. */
let view = blank(null, 'loading');

/** Whether the thread goes to another place at the moment. */
let moving = false;

/** The thread that is being summarized because somebody asked for it, and what came of it. */
let summarizing = null;
let outcome = '';

/** What came of another choice of what is kept. */
let keepOutcome = '';

function blank(id, status) {
	return { id, status, thread: null, turns: [], summaries: [], attributes: {}, earlier: 0, deleted: 0, siblings: {}, branches: [], forkedFrom: null,
		approvals: NO_APPROVALS, finished: null };
}

// Which thread

/** An address that nobody can mean names none: servers take no slash in a part of a path. */
function idInAddress() {
	try {
		const id = decodeURIComponent(location.hash.slice(1));
		return /[/\\]/.test(id) ? '' : id;
	}
	catch {
		return '';
	}
}

async function open(id, isNew = false) {
	if (idInAddress() !== id) {
		history[location.hash ? 'pushState' : 'replaceState'](null, '', `#${encodeURIComponent(id)}`);
	}
	view = blank(id, isNew ? 'new' : 'loading');
	outcome = '';
	keepOutcome = '';
	hideProblem();
	closeDialogs();
	closeDrawers();
	composeFor(id);
	if (isNew) {
		update();
	}
	await Promise.all([isNew ? null : reload(), readList(), queue.adopt(id), adoptDraft(id, true)]);
	goOn(id);
	if (id === view.id && matchMedia('(hover: hover)').matches && !document.querySelector('.approval:not(.decided)')) {
		focusQuestion();
	}
}

/** The application has a thread when its first turn is stored; until then it is an id. */
const newThread = () => open(crypto.randomUUID?.() ?? String(Date.now()) + Math.random(), true);

/** Reads the thread anew. What cannot be read stays as it is. */
async function reload() {
	const { id } = view;
	if (id === null) {
		await openNewest();
		return;
	}
	let read;
	let approvals;
	try {
		[read, approvals] = await Promise.all([api.read(id), api.approvals(id)]);
	}
	catch (error) {
		if (id === view.id) {
			unreachable(error);
		}
		return;
	}
	if (id !== view.id) {
		return;
	}
	if (read === null) {
		absent();
	}
	else {
		take(read, approvals);
	}
	update();
}

function take(read, approvals) {
	const isFirst = view.status === 'loading' || view.status === 'away';
	const first = read.turns[0]?.number ?? 0;
	const older = view.turns.filter(({ number }) => number < first);
	const joins = follow(older, read.turns) && read.earlier === view.earlier + older.length;
	const decisions = decidedElsewhere(view.approvals, approvals);
	decisions.forEach(say);
	seen.set(view.id, newest(read.turns));
	view = { ...view, status: 'ready', thread: read.thread, turns: joins ? [...older, ...read.turns] : read.turns,
		summaries: read.summaries.map((summary) => ({ ...summary, deleted: read.deleted })),
		attributes: read.attributes, earlier: joins ? view.earlier : read.earlier, deleted: read.deleted, siblings: read.siblings, branches: read.branches,
		forkedFrom: read.forkedFrom, approvals };
	if (isFirst) {
		update();
		showCard();
	}
	if (decisions.length > 0) {
		goOnAsDecided();
	}
}

const newest = (turns) => Math.max(0, ...turns.map(({ number }) => number));

/** Whether turns continue older ones: since those were read, the thread may have gone another way. */
function follow(older, newer) {
	const last = older.findLast(({ status }) => status === 'COMPLETED');
	return last !== undefined && newer.find(({ status }) => status === 'COMPLETED')?.parent === last.number;
}

/** It was never stored, or it is gone. */
function absent() {
	if (view.thread === null || view.status === 'new') {
		view = blank(view.id, 'new');
		seen.delete(view.id);
		return;
	}
	view = { ...view, status: 'gone' };
	problem('This thread was deleted in another window. What you see is no longer stored.', ['New thread', newThread]);
}

function unreachable(error) {
	if (view.status === 'loading') {
		view = { ...view, status: 'away' };
	}
	problem(error.message, ['Try again', reload]);
	update();
}

async function readEarlier() {
	const { id, turns, thread } = view;
	const read = await guarded(() => api.read(id, turns[0].number));
	if (read && id === view.id && (read.thread.branch !== thread.branch || read.thread.head !== thread.head)) {
		await reload(); // it has gone another way meanwhile
	}
	else if (read && id === view.id) {
		view = { ...view, turns: [...read.turns, ...view.turns], earlier: read.earlier, deleted: read.deleted };
		update();
	}
}

// The list of threads

async function readList() {
	const read = await guarded(() => api.list(0, Math.min(100, list.count)));
	if (read) {
		const more = list.threads.slice(read.threads.length);
		list = { ...list, status: 'ready', threads: read.more ? [...read.threads, ...more.filter(({ id }) => !read.threads.some((each) => each.id === id))] : read.threads,
			more: list.threads.length > read.threads.length && read.more ? list.more : read.more };
		waiting = mayWait(read.threads) ? await api.inbox().catch(() => waiting) : [];
	}
	else if (list.status === 'loading') {
		list = { ...list, status: 'failed' };
	}
	update();
}

/** Those who only ask need no inbox, and those who decide for others always do. */
const mayWait = (threads) => !isAsking() && (isApprover() || waiting.length > 0 || threads.some((thread) => thread.waiting > 0));

async function readInbox() {
	const read = await api.inbox().catch(() => waiting);
	if (JSON.stringify(read) !== JSON.stringify(waiting)) {
		waiting = read;
		update();
	}
}

async function readMore() {
	const read = await guarded(() => api.list(list.threads.length, PAGE));
	if (read) {
		const known = new Set(list.threads.map(({ id }) => id));
		list = { ...list, threads: [...list.threads, ...read.threads.filter(({ id }) => !known.has(id))], more: read.more, count: list.count + PAGE };
		update();
	}
}

/** Threads as they are listed: without those that are being deleted, with the one that is new. */
function threads() {
	const listed = list.threads.filter(({ id }) => !leaving.has(id));
	const live = running.get(view.id)?.live;
	const isListed = listed.some(({ id }) => id === view.id);
	if (isListed || leaving.has(view.id)) {
		return listed;
	}
	if (view.thread && view.status === 'ready') {
		return [...listed, view.thread];
	}
	return live?.question ? [{ id: view.id, title: shortened(live.question), turns: 0, updatedAt: new Date().toISOString(), waiting: 0 }, ...listed] : listed;
}

const shortened = (text) => text.length > 48 ? `${text.slice(0, 48).trim()}…` : text;

async function rename(id, title) {
	await guarded(() => api.rename(id, title));
	await Promise.all([readList(), id === view.id ? reload() : null]);
}

/** The thread goes from the page at once, and from the store when nobody has wanted it back. */
async function remove(id, title) {
	running.get(id)?.stop();
	const finish = async (isLast) => {
		try {
			await api.remove(id, isLast);
			forgetDraft(id);
			queue.forget(id);
		}
		catch (error) {
			problem(error.message);
		}
		leaving.delete(id);
		await readList();
	};
	leaving.forEach((each) => each(false)); // one at a time can be had back
	leaving.set(id, finish);
	offerUndo(`Deleted “${title}”.`, UNDO, () => {
		leaving.delete(id);
		open(id);
	}, () => finish(false));
	const next = threads()[0];
	await (id !== view.id ? update() : next ? open(next.id) : newThread());
}

window.addEventListener('pagehide', () => leaving.forEach((finish) => finish(true)));

// What is on the page

function update() {
	const listed = threads();
	const thread = listed.find(({ id }) => id === view.id) ?? view.thread;
	const title = thread?.title ?? (view.status === 'loading' || view.status === 'away' ? 'Thread' : 'New thread');
	setText(byId('title'), title);
	const count = waiting.length;
	setText(document.querySelector('title'), `${count > 0 ? `(${count}) ` : ''}${title} · SessionKit Chat`);
	showThreads(listed, view.id, running, list, { open, rename, remove, more: readMore, reload: view.id === null ? openNewest : readList });
	if (isApprover()) {
		showInboxOf(waiting, { decide: api.decideOfOther, open, changed: readInbox });
	}
	else {
		showInbox(waiting, open);
	}
	const asked = running.get(view.id)?.live;
	const live = asked?.isQuiet ? null : asked ?? leftOver();
	const turns = live?.hides > 0 ? view.turns.filter(({ number }) => number < live.hides) : view.turns;
	showConversation({ ...view, turns, about, live }, conversationActions);
	showTimeline({ ...view, turns, live: asked && !asked.isQuiet ? asked : null }, timelineActions);
	showBranches(view, branchActions);
	showSummarizer(view.thread?.unsummarized, summarizing === view.id, outcome);
	showKeeping(view, keepOutcome, keep);
	const busy = running.has(view.id);
	showApprovals(view.approvals, view.turns, busy, { decide, resume });
	keepEnd();
	showStanding(view.approvals.standing, revoke);
	showBusy(busy);
	showWaiting();
	showTakingBack(view.thread?.takingBack ?? 0, { look: () => takeBackFrom(view.thread.takingBack), leave: leaveTakingBack });
	byId('app').classList.toggle('busy', busy);
	showMoves(busy);
}

/** What can be undone and redone: the turns that were left behind the head can come back. */
function showMoves(busy) {
	const { thread, siblings, status, deleted } = view;
	const canUndo = status === 'ready' && thread?.head > deleted;
	const canRedo = status === 'ready' && siblings[thread?.head] !== undefined;
	byId('moves').hidden = !canUndo && !canRedo;
	byId('undo').setAttribute('aria-disabled', String(!canUndo || busy));
	byId('redo').setAttribute('aria-disabled', String(!canRedo || busy));
}

/** A turn that ended is shown as it ended until it is there as it was stored. */
function leftOver() {
	const live = ended.get(view.id);
	if (live && view.turns.some((turn) => isOutcome(turn, live))) {
		ended.delete(view.id);
		return null;
	}
	return live ?? null;
}

/** Whether this is what was stored of it. One that was stopped may have been complete by then. */
function isOutcome({ number, status, cutShort, messages }, live) {
	const isEnded = status !== 'COMPLETED' || cutShort || live.isStopped;
	if (live.question === null) {
		return number === live.after && status !== 'AWAITING_APPROVAL' && isEnded;
	}
	return number > live.after && isEnded && messages.some(({ role, text }) => role === 'user' && text === live.question);
}

function look(number) {
	const { id } = view;
	inspect(number, (each) => guarded(() => api.turn(id, each)), view);
}

const conversationActions = { ask, retry, inspect: look, earlier: readEarlier, reload, edit, again, choose, menu };

const timelineActions = {
	goTo(number) {
		closeDrawers();
		goTo(number);
	},
	inspect: look,
	open,
};

const branchActions = { switchTo, deleteBranch };

// One turn

function ask(text) {
	const { id } = view;
	if (text.trim() === '' || moving || isDeleted(id)) {
		return false;
	}
	if (running.has(id) || queue.waitingIn(id).some(({ held }) => held === null)) {
		queue.add(id, text, seenIn(id));
		say('The question waits.');
		update();
		return true;
	}
	if (!mayAsk(id)) {
		return false;
	}
	send(id, queue.add(id, text, seenIn(id)));
	return true;
}

/** Asks another question in the place of a turn. */
function edit(turn, text, isSame = false) {
	const { id } = view;
	if (!mayAsk(id)) {
		return false;
	}
	send(id, queue.addInPlace(id, text, { turn: turn.number, isSame, hides: placeOf(turn) }));
	focusAfterSend();
	return true;
}

/** Asks the question of a turn again, in its place. */
function again(turn) {
	edit(turn, questionOf(turn), true);
}

/** A turn that was to take the place of another one tries that again. */
function retry(turn) {
	return replacedBy(turn, view.turns) === null ? ask(questionOf(turn)) : again(turn);
}

/** The first turn that is hidden while another one is asked in the place of this one. */
function placeOf({ number, parent }) {
	return Math.min(number, ...view.turns.filter((turn) => turn.status === 'COMPLETED' && turn.parent === parent).map((turn) => turn.number));
}

/** What the keyboard was on is gone. */
function focusAfterSend() {
	matchMedia('(hover: hover)').matches ? focusQuestion() : byId('scroller').focus({ preventScroll: true });
}

/** Nothing is asked, and paid for, in a thread that is gone in a moment. */
function isDeleted(id) {
	if (leaving.has(id)) {
		problem('You have deleted this thread. Undo that first, then send your message.');
	}
	return leaving.has(id);
}

function mayAsk(id) {
	if (running.has(id) || moving || isDeleted(id)) {
		return false;
	}
	if (view.status === 'gone' || view.status === 'away' || id === null) {
		problem(view.status === 'gone' ? 'This thread was deleted in another window.' : 'The thread cannot be read now, so nothing is sent.', ['New thread', newThread]);
		return false;
	}
	if (openCalls(view.approvals, view.turns).some(({ pending }) => pending)) {
		problem(`A tool call of this thread waits for a decision. ${isAsking() ? 'Send your message after that.' : 'Approve or reject it first, then send your message.'}`);
		return false;
	}
	return true;
}

async function resume() {
	const { id } = view;
	if (!running.has(id)) {
		await answer(id, { question: null, call: (signal) => api.resume(id, signal) });
	}
}

/** Where others decide, the turn goes on without a button: in one window of this browser. */
function goOnAsDecided() {
	const { id, approvals, turns } = view;
	if (isAsking() && approvals.openTurn > 0 && !approvals.running && !openCalls(approvals, turns).some(({ pending }) => pending)) {
		navigator.locks?.request(`resume:${id}`, { ifAvailable: true }, (lock) => lock && id === view.id ? resume() : null)
			.catch((error) => error.name === 'SecurityError' ? resume() : Promise.reject(error));
	}
}

/** Threads whose answer is looked for. */
const looked = new Set();

/** A decided turn may go on by another window, or by this one before it was loaded: it is shown as it goes on. */
async function showRunning() {
	const { id, approvals } = view;
	if (approvals.openTurn === 0 || !approvals.running || running.has(id) || looked.has(id)) {
		return;
	}
	looked.add(id);
	const abort = new AbortController();
	const events = api.running(id, abort.signal);
	const first = await events.next().catch(() => ({ done: true }));
	looked.delete(id);
	if (first.done || first.value.name === 'problem' || id !== view.id || running.has(id)) {
		abort.abort();
		return;
	}
	await answer(id, { question: null, call: async function* (signal) {
		signal.addEventListener('abort', () => abort.abort());
		yield first.value;
		yield* events;
	} });
}

/**
 * @param question null if the turn that waited goes on
 * @param hides the first turn that is not shown meanwhile; 0 for none
 * @param name the name of the request; undefined if it has none
 * @param entry the question among those that wait; undefined if it is none of them
 * @param isQuiet whether it was sent before, so that its answer may be there already
 */
async function answer(id, { question, hides = 0, name, entry, isQuiet = false, call, retry: askAgain }) {
	hideProblem();
	const wasSeen = ended.delete(id);
	outcome = '';
	keepOutcome = '';
	const abort = new AbortController();
	const live = liveTurn(question, id === view.id ? view.turns.at(-1)?.number ?? 0 : 0, {
		isAtEnd: () => id === view.id && isAtEnd(),
		drawn: (wasAtEnd) => id === view.id && drawn(wasAtEnd),
	});
	live.hides = hides;
	live.isQuiet = isQuiet && !wasSeen;
	let aside = null;
	let end;
	const done = new Promise((resolve) => { end = resolve; });
	running.set(id, { live, entry, name, done, stop: () => stop(id, name, live, abort),
		/** Not as one that was answered or has failed: it is kept to be sent otherwise, or dropped. */
		async withdraw(isKept) {
			aside = { isKept };
			const isStopped = await told(() => api.stop(id, name));
			if (isStopped) {
				abort.abort();
			}
			else {
				aside = null; // it is over, and its end says how
			}
			return isStopped;
		} });
	update();
	if (id === view.id && !live.isQuiet) {
		toEnd(true);
	}
	let failure = null;
	let turn;
	try {
		turn = await listen(id, live, entry, call(abort.signal));
	}
	catch (error) {
		failure = error;
	}
	live.isTold = await soon(live.told);
	running.delete(id);
	end();
	// sent before, and the turn is not there any more: its place is taken already
	const isTaken = isQuiet && entry.place && failure?.status === 404;
	if (isTaken || aside !== null && failure !== null) {
		aside?.isKept || queue.drop(id, entry.id);
	}
	else if (entry) {
		settle(id, entry, failure, turn);
	}
	if (failure && aside === null && !isTaken && !(entry && SET_ASIDE.has(failure.kind))) {
		broken(id, { question, entry }, live, failure, () => askAgain(failure));
	}
	watchClosely();
	// A thread whose first turn has failed may not be there yet.
	await Promise.all([id === view.id && (failure === null || view.thread !== null) ? reload() : null, readList()]);
	if (isTaken && aside === null) {
		await giveBack(id, entry.text);
	}
	goOn(id);
}

/** The place of a question is taken: by its own answer, unless it has never arrived. */
async function giveBack(id, text) {
	const { turns = [] } = id === view.id ? view : await api.read(id).catch(() => null) ?? {};
	if (turns.some((turn) => questionOf(turn) === text)) {
		return;
	}
	putBackIn(id, text);
	if (id === view.id) {
		problem('The turn in whose place you asked is not there any more. What you wrote is in the field again: it was not asked, or was undone since.');
	}
}

/** The application goes on with an answer, whoever listens: so it is told. */
function stop(id, name, live, abort) {
	if (name === undefined && live.event === undefined) {
		live.atFirstEvent = () => stop(id, name, live, abort);
		return;
	}
	queue.waitingIn(id).filter((entry) => joining.has(entry.id) && !entry.joined).forEach((entry) => {
		leaveJoining(entry);
		queue.change(id, entry.id, { sent: false, steers: false, held: 'asked' });
		told(() => api.stop(id, entry.id)).then((isLeft) => isLeft && unasked(id, entry));
	});
	queue.hold(id, 'stopped');
	live.told ??= toldSurely({ thread: id, name, event: live.event });
	abort.abort();
}

/** The application has not asked it, and will not, unless it was sent once more meanwhile. */
function unasked(id, entry) {
	if (queue.waitingIn(id).some((each) => each.id === entry.id && each.held === 'asked')) {
		queue.change(id, entry.id, { sentAt: null, held: 'stopped' });
		update();
	}
}

/** Also if this window is closed before the application has heard of it. */
async function toldSurely(stop) {
	const { thread, name, event } = stop;
	const forget = keepStop(stop);
	const found = await told(() => name !== undefined ? api.stop(thread, name) : api.stopRunning(thread, event));
	forget();
	return found;
}

/** A stop that finds nothing may be faster than what it stops. */
const SEARCHES = 4;

/**
 * Tells the application to end a request until it has answered: it may work although
 * nobody reaches it.
 * @return whether there was something to end
 */
async function told(tell) {
	for (let times = 0, searches = 0; ; times++) {
		try {
			if (await tell()) {
				return true;
			}
			searches++;
		}
		catch (error) {
			if (!isLost(error) && error.kind !== 'UNSTORED') {
				return false;
			}
			await later(untilWanted(error));
		}
		if (searches === SEARCHES) {
			return false;
		}
		await later(Math.min(LONGEST, 250 * 2 ** times));
	}
}

const later = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** Whether there was something to end, waited for as long as nobody notices; undefined if that is not known yet. */
const soon = (telling) => telling === undefined ? true : Promise.race([telling, later(300)]);

const wordsOfStop = (found) => found === undefined ? 'Stops as soon as the application answers.'
	: found ? 'Stopped.' : 'It had ended already, or could not be stopped.';

/** Shows the reply as it comes, then the turn as it was stored, and gives that. */
async function listen(id, live, entry, events) {
	for await (const { name, data, id: event } of events) {
		live.event = event;
		const wanted = live.atFirstEvent;
		live.atFirstEvent = null;
		wanted?.();
		if (name === 'turn' || name === 'steered') {
			seen.set(id, Math.max(seenIn(id), data.number));
			await live.end();
			await stored(id, live, entry, data);
			return data;
		}
		if (name === 'problem') {
			throw api.failure(data, 'The model did not answer.');
		}
		if (name === 'waiting') {
			live.waits(...entry && !entry.place ? [button('Join its answer', 'quiet', () => joinOther(id, entry)),
				button('Back into the field', 'quiet', () => callBack(id, entry))] : []);
		}
		else {
			live.begun();
		}
		if (name === 'waiting' || name === 'begun') {
			update();
		}
		({ text: () => live.text(data.text), reasoning: () => live.reasoning(data.text), tool: () => live.tool(data),
			joined: () => joined(id, live, data.text) })[name]?.();
		if (live.isQuiet) {
			live.isQuiet = false;
			update();
		}
	}
	throw new Error('The reply ended early. It is looked up whether it was stored.');
}

async function stored(id, live, entry, turn) {
	const approvals = turn.rounds > 1 || turn.status === 'AWAITING_APPROVAL' ? await api.approvals(id).catch(() => null) : view.approvals;
	if (id !== view.id || approvals === null) {
		return;
	}
	running.delete(id);
	entry && queue.drop(id, entry.id); // so that it is not shown as one that waits
	const before = view.turns.filter(({ number }) => number !== turn.number && !(turn.status === 'COMPLETED' && live.hides > 0 && number >= live.hides));
	view = { ...view, status: 'ready', turns: [...before, turn].sort((a, b) => a.number - b.number), approvals, finished: live };
	update();
	const waits = openCalls(approvals, view.turns).filter(({ pending }) => pending);
	waits.forEach((call) => say(`${call.title ?? call.tool} needs ${isAsking() ? 'the decision of an approver' : 'your decision'}.`));
	if (waits.length > 0) {
		showCard();
	}
}

function broken(id, { question, entry }, live, error, askAgain) {
	const isStopped = error.name === 'AbortError';
	const isSentAgain = entry !== undefined && isLost(error);
	const isEdit = live.hides > 0;
	live.isStopped = isStopped;
	const actions = isStopped || question === null ? []
		: isSentAgain ? [button('Do not send it again', 'quiet', () => cancel({ ...entry, sent: true }))]
			: [el('button', { type: 'button', class: 'quiet retry', onclick: askAgain }, icon('retry'), 'Retry')];
	live.stop(isStopped ? wordsOfStop(live.isTold) : isSentAgain ? wordsOfWait(error) : wordsOf(error), isStopped ? 'stopped' : 'alert', ...actions);
	if (isStopped && live.isTold === undefined) {
		live.told.then((found) => live.says(wordsOfStop(found)));
	}
	if (!isStopped || !live.hasText()) {
		live.hides = 0; // the turns in whose place it stood are the history still
	}
	ended.set(id, live);
	if (!isStopped && !isSentAgain && !SAID_BESIDE.has(error.kind) && id === view.id) {
		problem(error.message, error.kind === 'DELETED' ? ['New thread', newThread] : question === null ? ['Look again', reload] : isEdit ? ['Try again', askAgain] : ['Edit', () => {
			setDraft(question);
			focusQuestion();
		}]);
	}
}

const wordsOfWait = ({ status }) => status === TOO_MANY
	? 'The application takes no more questions at the moment. This one is sent again by itself, and asked once.'
	: 'The connection is lost. The question is sent again as soon as the application answers, and asked once.';

/** What the turn itself says is not said twice. */
const SAID_BESIDE = new Set(['MODEL', 'REFUSED']);

function wordsOf({ kind, isAway, message }) {
	if (isAway) {
		return 'Not sent, or the answer was lost.';
	}
	if (SAID_BESIDE.has(kind)) {
		return message;
	}
	if (kind === 'DELETED') {
		return 'This thread was deleted. This answer was not stored.';
	}
	return kind === 'CONFLICT' ? 'Another window was faster. This answer was not stored.' : 'Not answered.';
}

// The questions that wait

/** With these a question waits once more, in place of having failed. */
const SET_ASIDE = new Set(['WAITS', 'RUNS']);

/** The status of an application, or of what is before it, that has been asked too often. */
const TOO_MANY = 429;

/** With these it is not the application that answers, or it takes the same request later. */
const LATER = new Set([TOO_MANY, 502, 503, 504]);

/** The connection broke, so that nobody knows whether the question was answered, or it may be sent again later. */
const isLost = ({ isAway, name, kind, status }) => Boolean(isAway) || kind === 'SIGNED_OUT'
	|| (name !== 'AbortError' && kind === undefined && (status === undefined || LATER.has(status)));

/** It may be in a turn with which another window goes on: the same request gets that. */
const mayHaveJoined = ({ steers }, { kind }) => steers && kind === 'RUNS';

/** How long the application wants to hear nothing more, in milliseconds. Where it has been asked too often and does not say so, a while. */
const untilWanted = ({ status, wait = 0 }) => wait === 0 && status === TOO_MANY ? 2 * LONGEST : wait;

/** When a question is sent again, by its id: how often it was, and not before, by a clock that nobody sets. */
const attempts = new Map();

function send(id, entry) {
	const sent = { ...entry, sentAt: entry.sentAt ?? Date.now(), seen: Math.max(entry.seen, seenIn(id)) };
	queue.change(id, entry.id, { sent: true, sentAt: sent.sentAt, seen: sent.seen, held: null });
	answer(id, { question: entry.text, entry, name: entry.id, isQuiet: entry.sent, hides: entry.place?.hides, call: (signal) => request(id, sent, signal),
		retry: (error) => id === view.id && mayAsk(id) && send(id, queue.addAgain(id, { ...entry, seen: 0, id: error.kind === 'REPEATED' ? queue.newId() : entry.id })) });
}

/** The same question has the same name, whenever it is sent. */
const request = (id, { id: name, text, seen: known, place }, signal) => !place ? api.ask(id, text, name, known, signal)
	: place.isSame ? api.again(id, place.turn, name, signal) : api.edit(id, place.turn, text, name, signal);

/** What becomes of a question that was sent, and of those behind it. */
function settle(id, entry, failure, turn) {
	if (failure === null) {
		queue.drop(id, entry.id);
		if (turn.status !== 'COMPLETED' && turn.status !== 'AWAITING_APPROVAL') {
			queue.hold(id, 'failed');
		}
	}
	else if (isLost(failure) || mayHaveJoined(entry, failure)) {
		pause(entry, failure);
	}
	else if (SET_ASIDE.has(failure.kind)) {
		// this time it was refused, but what was sent before may have been asked then
		queue.change(id, entry.id, { sent: false, sentAt: entry.sentAt, steers: false, held: failure.kind === 'RUNS' ? 'runs' : null });
		pause(entry, failure);
	}
	else {
		queue.drop(id, entry.id);
		queue.hold(id, failure.name === 'AbortError' ? 'stopped' : 'failed');
	}
}

/** Each time longer. */
function pause({ id }, failure) {
	const times = (attempts.get(id)?.times ?? 0) + 1;
	attempts.set(id, { times, notBefore: performance.now() + Math.max(untilWanted(failure), Math.min(LONGEST, 250 * 2 ** times)) });
}

/** Sends the next question that waits, if nothing is in its way. */
function goOn(id) {
	showRunning();
	if (!running.has(id) && queue.holdOld(id)) {
		ended.delete(id); // it says that it is sent again
		update();
	}
	const all = queue.waitingIn(id);
	all.filter((entry) => entry.steers && mayTry(entry) && !joining.has(entry.id)).forEach((entry) => join(id, entry));
	const next = all.find(({ held }) => held === null);
	const isInTheWay = running.has(id) || all.some((entry) => joining.has(entry.id)) || moving || leaving.has(id)
		|| id === view.id && (!['ready', 'new'].includes(view.status) || view.approvals.openTurn > 0);
	if (next && !isInTheWay && mayTry(next)) {
		send(id, next);
	}
}

const mayTry = ({ id }) => performance.now() >= (attempts.get(id)?.notBefore ?? 0);

// Steering: a question joins the turn that runs, before the model is called again

/** Requests that are about to join a turn, by the id of their question. */
const joining = new Map();

function steer(entry) {
	const { id } = view;
	const steered = { ...entry, seen: Math.max(entry.seen, seenIn(id)), steers: true };
	queue.change(id, entry.id, { ...steered, sent: true, sentAt: entry.sentAt ?? Date.now() });
	join(id, steered);
	say('It joins the answer before the next step.');
	update();
	focusQuestion();
}

/**
 * If there is no next step, the question is asked behind that turn.
 * @param entry as it was before it is sent
 */
async function join(id, entry) {
	const abort = new AbortController();
	joining.set(entry.id, abort);
	try {
		const events = api.steer(id, entry.text, entry.id, entry.seen, abort.signal);
		for await (const event of events) {
			if (event.name === 'problem') {
				throw api.failure(event.data, 'The model did not answer.');
			}
			if (event.name === 'steered') {
				queue.drop(id, entry.id);
				return;
			}
			if (event.name !== 'waiting') {
				await becomeTurn(id, entry, event, events);
				return;
			}
		}
		throw new Error('The reply ended early.');
	}
	catch (error) {
		if (error.name !== 'AbortError') {
			settle(id, entry, error);
			isLost(error) || mayHaveJoined(entry, error) || problem(error.message);
		}
	}
	finally {
		joining.delete(entry.id);
		update();
		goOn(id);
	}
}

async function becomeTurn(id, entry, first, rest) {
	await running.get(id)?.done;
	queue.change(id, entry.id, { steers: false });
	joining.delete(entry.id);
	await answer(id, { question: entry.text, entry, name: entry.id, retry: () => ask(entry.text), call: async function* () {
		yield first;
		yield* rest;
	} });
}

/** What has joined is a part of the turn, and is shown there. */
function joined(id, live, text) {
	const entry = queue.waitingIn(id).find((each) => each.steers && !each.joined && each.text === text);
	if (entry) {
		queue.change(id, entry.id, { joined: true });
	}
	live.joined(text);
	update();
}

function leaveJoining(entry) {
	joining.get(entry.id)?.abort();
	joining.delete(entry.id);
}

/** Joins the answer of another window in place of waiting for it. */
function joinOther(id, entry) {
	queue.change(id, entry.id, { steers: true });
	running.get(id)?.withdraw(true);
}

/** Shows them, but for the one that is shown as a turn. */
function showWaiting() {
	const { id } = view;
	const shown = running.get(id)?.entry?.id ?? (ended.has(id) ? queue.waitingIn(id).find(({ sent }) => sent)?.id : undefined);
	const why = running.has(id) ? 'for this answer' : view.approvals.openTurn > 0 ? `for ${isAsking() ? 'a' : 'your'} decision` : isAway || view.status === 'away' ? 'until the application answers' : 'to be asked';
	const mine = running.get(id);
	const canSteer = mine?.name !== undefined && !mine.live.isWaiting();
	queue.showQueue(queue.waitingIn(id).filter((entry) => entry.id !== shown && !entry.joined), why, canSteer, { steer, edit: takeOut, cancel, send: sendHeld });
}

/**
 * Nobody wants it any more. If it was sent, the application need not answer it.
 * @return whether it is not asked, when that is known
 */
async function cancel(entry) {
	const { id } = view;
	leaveJoining(entry);
	const left = entry.sent ? toldSurely({ thread: id, name: entry.id }) : Promise.resolve(entry.sentAt === null);
	queue.drop(id, entry.id);
	ended.delete(id);
	update();
	focusQuestion();
	if (await soon(left) === undefined) {
		say('It is taken back as soon as the application answers.');
	}
	const isLeft = await left;
	say(isLeft ? 'It is not asked.' : 'It is not sent again, but may have been asked.');
	return isLeft;
}

/** What is being asked already would be asked twice. */
async function takeOut(entry) {
	const { id } = view;
	const left = cancel(entry);
	if (!entry.sent || await left) {
		putBackIn(id, entry.text);
	}
}

/** Takes a question back that waits for another window. */
async function callBack(id, entry) {
	if (await running.get(id)?.withdraw(false)) {
		putBackIn(id, entry.text);
	}
	else {
		say('It is asked already.');
	}
}

function sendHeld() {
	queue.release(view.id);
	update();
	goOn(view.id);
}

// Back and forth

/** Takes the thread to another place, and shows what is there. */
async function move(work) {
	const { id } = view;
	if (moving || running.has(id)) {
		return undefined;
	}
	moving = true;
	hideProblem();
	try {
		const moved = await work(id) ?? true;
		ended.delete(id);
		return moved;
	}
	catch (error) {
		problem(error.message);
		return undefined;
	}
	finally {
		moving = false;
		await Promise.all([id === view.id ? reload() : null, readList()]);
	}
}

/** What tools have done stays, so who undoes is told. */
async function undo() {
	const { id, turns, thread, status } = view;
	const head = turns.find(({ number }) => number === thread?.head);
	if (moving || running.has(id) || status !== 'ready' || !head?.messages.some(({ calls }) => calls.length > 0) || view.approvals.openTurn > 0) {
		return undoAnyway();
	}
	const plan = await guarded(() => api.rewindPlan(id, head.number));
	if (!plan || id !== view.id) {
		return undefined;
	}
	return plan.steps.length + plan.stays.length === 0 ? undoAnyway()
		: warnOfUndo(plan, { undo: () => undoAnyway((thread) => undoLast(thread, head.number)), takeBack: () => takeBackFrom(head.number) });
}

/** Another turn may have come since this one was shown as the last one. */
async function undoLast(id, number) {
	const thread = await api.head(id);
	if (thread?.head !== number) {
		throw new Error(`Turn ${number} is not the last one any more, so nothing is undone.`);
	}
	return api.undo(id);
}

async function undoAnyway(work = api.undo) {
	const moved = await move(work);
	if (moved) {
		say(moved.turns.length === 0 ? 'Nothing to undo.' : `Turn ${moved.turns.at(-1)} is undone.`);
	}
}

async function redo() {
	const moved = await move(api.redo);
	if (moved) {
		say(moved.turns.length === 0 ? 'Nothing to redo.' : `Turn ${moved.turns.at(-1)} is back.`);
	}
}

for (const [button, action] of [['undo', undo], ['redo', redo]]) {
	byId(button).addEventListener('click', ({ currentTarget }) => currentTarget.getAttribute('aria-disabled') === 'true' || action());
}

/** @param step the button by which one came there: previous or next */
async function choose(number, step) {
	if (await move((id) => api.choose(id, number))) {
		focusPager(number, step);
		say(`Turn ${number} is shown.`);
	}
}

async function switchTo(name) {
	if (await move((id) => api.switchTo(id, name))) {
		say(`Branch ${name} is shown.`);
		byId('branch-list').querySelector('[aria-current]')?.focus();
	}
}

async function deleteBranch(branch) {
	if (await move((id) => api.deleteBranch(id, branch))) {
		say(`Branch ${branch.name} is deleted.`);
		(byId('branch-list').querySelector('[aria-current]') ?? byId('toggle-timeline')).focus();
	}
}

function menu(turn, button) {
	openMenu(button, `Turn ${turn.number}`, [
		['branch', 'Branch from here', () => branchFrom(turn)],
		['undo', 'Take back from here', () => takeBackFrom(turn.number)],
		['fork', 'Fork into a new thread', () => forkFrom(turn)],
	]);
}

function branchFrom({ number }) {
	const { id } = view;
	const next = view.turns.find(({ parent, status }) => status === 'COMPLETED' && parent === number)?.number ?? null;
	askName(`It has the turns up to turn ${number}. What follows stays on “${view.thread.branch}”.`, freeName(view.branches), async (name) => {
		await api.branch(id, name, next);
		hideProblem();
		await Promise.all([id === view.id ? reload() : null, readList()]);
	});
}

function takeBackFrom(number) {
	const { id } = view;
	if (running.has(id)) {
		problem('An answer is being written. Stop it, or wait for it.');
		return;
	}
	hideProblem();
	takeBack(number, {
		read: (from) => api.rewindPlan(id, from),
		rewind: (from, digest, accept) => api.rewind(id, from, digest, accept),
		decide: (call, decision) => api.decideRewind(id, call, decision),
		async changed(plan) {
			if (plan?.status === 'COMPLETED') {
				ended.delete(id);
				say(`Turn ${plan.from} and what came after it are taken back.`);
			}
			await Promise.all([id === view.id ? reload() : null, readList()]);
		},
	});
}

async function leaveTakingBack() {
	await guarded(() => api.leaveRewind(view.id));
	await Promise.all([reload(), readList()]);
	focusQuestion();
}

async function forkFrom({ number }) {
	const copy = await guarded(() => api.fork(view.id, number));
	if (copy) {
		await open(copy);
		say('This is the copy.');
	}
}

// Decisions on tool calls

/** Decides, and goes on with the turn once nothing waits any more. */
async function decide(call, decision) {
	const { id } = view;
	try {
		await decideOn(call, decision, openCalls(view.approvals, view.turns), (each, sent) => api.decide(id, each, sent));
		hideProblem();
	}
	catch (error) {
		if (!refuse(call, error)) {
			problem(error.message);
		}
		await guarded(() => readApprovals(id));
		return;
	}
	await guarded(() => readApprovals(id));
	if (id !== view.id) {
		return;
	}
	if (view.approvals.openTurn > 0 && !openCalls(view.approvals, view.turns).some(({ pending }) => pending)) {
		resume();
	}
	const next = document.querySelector('.approval:not(.decided) .approval-actions button');
	next ? next.focus() : focusQuestion();
	readList();
}

async function revoke(decision) {
	const { id } = view;
	await guarded(() => api.revoke(id, decision));
	await guarded(() => readApprovals(id));
}

/** Looks at what others have decided. Where a turn went on or began to wait elsewhere, all is read anew. */
async function readApprovals(id) {
	const fresh = await api.approvals(id);
	if (id !== view.id || running.has(id)) {
		return;
	}
	if (fresh.openTurn !== view.approvals.openTurn) {
		await reload();
	}
	else if (JSON.stringify(fresh) !== JSON.stringify(view.approvals)) {
		const decisions = decidedElsewhere(view.approvals, fresh);
		decisions.forEach(say);
		view = { ...view, approvals: fresh };
		update();
		if (decisions.length > 0) {
			goOnAsDecided();
		}
	}
}

byId('conversation').addEventListener('closed', update);

// What happens elsewhere: looked for every few seconds, until the application can say so itself

const CALM = 3000;

const CLOSE = 500;

const LONGEST = 12_000;

/** The list shows other threads: looked for every so many times. */
const LIST_EVERY = 5;

let closely = 0;

let wait = CALM;

let rounds = 0;

let isAway = false;

/** Something follows soon: a summary in the background, or a turn that was stopped. */
function watchClosely() {
	closely = 12;
	clearTimeout(timer);
	timer = setTimeout(watch, CLOSE);
}

let timer = setTimeout(watch, CALM);

async function watch() {
	clearTimeout(timer);
	try {
		if (!document.hidden) {
			await lookAround();
			if (isAway) {
				isAway = false;
				hideProblem();
				await Promise.all([reload(), readList()]);
			}
			await Promise.all([queue.adopt(view.id), adoptDraft(view.id, false), leftStops(toldSurely)]);
			goOn(view.id);
		}
		wait = closely > 0 ? CLOSE : view.approvals.openTurn > 0 ? CALM * 2 / 3 : CALM;
		closely = Math.max(0, closely - 1);
	}
	catch (error) {
		if (error.isAway && !isAway) {
			isAway = true;
			problem('The application does not answer. The page tries again by itself.', ['Try now', watch]);
		}
		wait = Math.min(LONGEST, wait * 2);
	}
	clearTimeout(timer);
	timer = setTimeout(watch, wait);
}

async function lookAround() {
	const { id, status, thread } = view;
	if (status === 'away' || isAway) {
		await reloadOrThrow();
	}
	else if (status === 'ready' && !running.has(id)) {
		const head = await api.head(id);
		if (id !== view.id || running.has(id) || view.thread !== thread) {
			return;
		}
		if (head === null) {
			absent();
			update();
		}
		else if (JSON.stringify(head) !== JSON.stringify(thread)) {
			await Promise.all([reload(), readList()]);
		}
		else if (head.open > 0) {
			await readApprovals(id);
		}
	}
	const isAwaited = status === 'new' && closely > 0;
	if (++rounds % LIST_EVERY === 0 || isAwaited) {
		await readListQuietly();
	}
	else if (isApprover()) {
		await readInbox();
	}
	if (isAwaited && id === view.id && !running.has(id) && list.threads.some((each) => each.id === id)) {
		await reload();
	}
}

async function reloadOrThrow() {
	const { id } = view;
	if (id === null) {
		await readListQuietly();
		await openListed();
		return;
	}
	const [read, approvals] = await Promise.all([api.read(id), api.approvals(id)]);
	if (id === view.id && read !== null) {
		take(read, approvals);
		update();
	}
	else if (id === view.id && view.status === 'away') {
		absent();
		update();
	}
}

async function readListQuietly() {
	const before = list;
	const read = await api.list(0, Math.min(100, list.count));
	if (before === list) {
		list = { ...list, status: 'ready', threads: [...read.threads, ...list.threads.slice(read.threads.length).filter(({ id }) => !read.threads.some((each) => each.id === id))].slice(0, Math.max(read.threads.length, list.threads.length)), more: list.more && read.more };
		waiting = mayWait(read.threads) ? await api.inbox() : [];
		update();
	}
}

window.addEventListener('focus', watch);
document.addEventListener('visibilitychange', () => !document.hidden && watch());

// Summaries

async function summarize() {
	const { id } = view;
	if (summarizing !== null) {
		return;
	}
	summarizing = id;
	outcome = '';
	update();
	const result = await guarded(() => api.summarize(id));
	summarizing = null;
	if (id === view.id) {
		outcome = result ? outcomeText(result) : '';
		await reload();
	}
}

byId('summarize').addEventListener('click', summarize);

// What is kept

async function keep(choice) {
	const { id } = view;
	const isSet = await guarded(() => api.keep(id, choice)) !== undefined;
	if (id === view.id) {
		keepOutcome = isSet ? 'This applies after the next answer.' : '';
		await reload();
	}
}

// Problems

async function guarded(work) {
	try {
		return await work();
	}
	catch (error) {
		problem(error.message, ['Try again', () => {
			reload();
			readList();
		}]);
		return undefined;
	}
}

// The question field, and the start

compose({
	send: ask,
	stop: () => running.get(view.id)?.stop(),
	last: () => questionOf(view.turns.at(-1) ?? { messages: [] }),
	isBusy: () => running.has(view.id),
});
byId('new-thread').addEventListener('click', newThread);
byId('skip').addEventListener('click', (event) => {
	event.preventDefault(); // the address belongs to the thread
	focusQuestion();
});
window.addEventListener('popstate', () => (idInAddress() ? open(idInAddress()) : newThread()));
onRead(markRead);

async function showAbout() {
	about = await guarded(api.about) ?? null;
	if (about) {
		byId('badges').replaceChildren(
			el('span', { class: about.offline ? 'badge offline' : 'badge', title: 'The model that answers' }, about.model),
			el('span', { class: 'badge store', title: 'Where the threads are stored' }, `Stored in ${about.store}`));
		update();
	}
}

/** Whoever leaves does not want back what is being deleted. */
byId('sign-out').addEventListener('click', async () => {
	await Promise.all([...leaving.values()].map((finish) => finish(false)));
	await guarded(signOut);
});

async function start() {
	try {
		if (!await meet()) {
			return;
		}
	}
	catch (error) {
		problem(error.message, ['Try again', start]);
		return;
	}
	ownStops(toldSurely);
	showAbout();
	update();
	if (idInAddress()) {
		await open(idInAddress());
		return;
	}
	await openNewest();
}

/** Opens the newest thread, or a new one. Where the threads cannot be read, nobody knows whether there are any. */
async function openNewest() {
	await readList();
	if (list.status === 'ready') {
		await openListed();
	}
	else {
		view = blank(null, 'away');
		update();
	}
}

async function openListed() {
	const newest = list.threads[0]?.id;
	await (newest ? open(newest) : newThread());
}

start();
