import { escapeHidden } from './arguments.js';
import { approvalCard, approverLabel } from './approvals.js';
import { arrange, button, byId, el, icon, setText } from './dom.js';
import { fieldsOf } from './fields.js';
import { isAsking, user } from './user.js';

/*
 * Taking turns back with what their tools have done: first the plan, then the calls that
 * need consent, then what came of each. One that waits or has stopped is found again
 * after a reload or a restart.
 */

const dialog = byId('rewind');
const body = byId('rewind-body');
const title = byId('rewind-title');

/** How often one looks for what others have decided. */
const LOOK = 2000;

/** What is shown: from, actions, view, whether it works at the moment, and the nodes of the steps. */
let shown = null;

const lead = el('p', { class: 'rewind-words', role: 'status' });
const stepList = el('ol', { class: 'rewind-steps', 'aria-label': 'What is taken back, in this order' });

/**
 * Shows what it takes to take back all turns from one of them on.
 * @param actions read(from), rewind(from, digest, accept), decide(call, decision), changed(view)
 */
export async function takeBack(from, actions) {
	shown = { from, actions, view: null, busy: false, accepted: false, problem: '', away: '', nodes: new Map() };
	setText(title, 'Take back');
	body.replaceChildren(el('p', { class: 'loading', role: 'status' }, 'Looking at what was done …'));
	open();
	await look(shown);
}

function open() {
	if (!dialog.open) {
		dialog.showModal();
	}
}

/** Reads the plan, or how far it has come. Where nothing has changed, nothing is drawn. */
async function look(mine) {
	try {
		const view = await mine.actions.read(mine.from);
		mine.away = '';
		if (mine.view?.status !== 'COMPLETED' && !mine.busy) {
			mine.view = { ...view, status: mine.view?.status ?? null };
		}
	}
	catch (error) {
		mine.away = error.message;
	}
	if (mine === shown && stateOf(mine) !== mine.drawn) {
		draw();
	}
}

const stateOf = ({ view, busy, problem, away }) => JSON.stringify([view, busy, problem, away]);

setInterval(() => {
	if (shown !== null && dialog.open && shown.view?.begun && shown.view.status !== 'COMPLETED' && !shown.busy && !document.hidden) {
		look(shown);
	}
}, LOOK);

async function goOn() {
	const mine = shown;
	if (mine.busy) {
		return;
	}
	mine.busy = true;
	mine.problem = '';
	draw();
	try {
		mine.view = await mine.actions.rewind(mine.from, mine.view.digest, mine.accepted);
		mine.busy = false;
	}
	catch (error) {
		mine.busy = false;
		mine.problem = error.message;
		await look(mine);
	}
	mine.actions.changed(mine.view);
	if (mine === shown) {
		draw();
		(body.querySelector('.approval-actions button') ?? body.querySelector('.rewind-actions button:last-child'))?.focus();
	}
}

async function decide(call, decision) {
	const mine = shown;
	mine.problem = '';
	try {
		await mine.actions.decide(call, decision);
	}
	catch (error) {
		mine.problem = error.message;
	}
	await look(mine);
	if (mine === shown && mine.problem === '' && mine.away === '' && mine.view.steps.every(({ call: { pending } }) => !pending) && !needsConsent(mine)) {
		await goOn();
	}
}

const needsConsent = ({ view, accepted }) => view.stays.length > 0 && !accepted;

function draw() {
	const { view, busy } = shown;
	const problem = shown.problem || shown.away;
	const fault = problem === '' ? null : el('p', { class: 'rewind-problem', role: 'alert' }, icon('alert'), el('span', {}, problem));
	shown.drawn = stateOf(shown);
	if (view === null) {
		body.replaceChildren(fault, actionsOf(button('Close', 'quiet', () => dialog.close())));
		return;
	}
	if (view.from === 0) {
		setText(title, 'Taken back');
		body.replaceChildren(el('p', { class: 'rewind-words' }, 'These turns have left the thread.'), actionsOf(button('Close', 'primary', () => dialog.close())));
		return;
	}
	const isDone = view.status === 'COMPLETED';
	setText(title, `${isDone ? 'Taken back:' : 'Take back'} ${turnsOf(view)}`);
	const isWaiting = view.begun && view.steps.some(({ call }) => call.pending);
	setText(lead, wordsOf(view, busy));
	arrange(stepList, view.steps.map((step) => stepNode(step, view.begun)));
	arrange(body, [lead, isWaiting && user.name === null ? approverLabel : null, view.steps.length > 0 ? stepList : null,
		...staysOf(view, isDone), fault, actionsOf(...buttonsOf(view, isDone, isWaiting, busy))].filter((node) => node !== null));
}

const actionsOf = (...buttons) => el('div', { class: 'rewind-actions' }, ...buttons);

function buttonsOf(view, isDone, isWaiting, busy) {
	const close = button(isDone || view.begun ? 'Close' : 'Cancel', isDone ? 'primary' : 'quiet', () => dialog.close());
	if (isDone || isWaiting) {
		return [close];
	}
	const go = button(busy ? 'Taking back …' : view.begun ? 'Go on' : 'Take back', 'danger', goOn);
	go.setAttribute('aria-disabled', String(busy || needsConsent(shown)));
	go.addEventListener('click', (event) => {
		if (go.getAttribute('aria-disabled') === 'true') {
			event.stopImmediatePropagation();
		}
	}, true);
	return [close, go];
}

function turnsOf({ turns }) {
	const [last, first] = [turns[0], turns.at(-1)];
	return turns.length === 1 ? `turn ${first}` : `turns ${first} ${turns.length === 2 ? 'and' : 'to'} ${last}`;
}

function wordsOf(view, busy) {
	if (busy) {
		return 'Taking back …';
	}
	const { steps, stays, begun, status } = view;
	if (status === 'COMPLETED') {
		return `${turnsOf(view)} left the thread.`.replace(/^t/, 'T');
	}
	const open = steps.find(({ done }) => !done);
	if (begun && open?.failed) {
		return 'It has stopped here: a call has failed. Decide what becomes of it. The turns are in the thread still.';
	}
	if (begun && open?.call.status === 'UNCERTAIN') {
		return 'It has stopped here: nobody knows whether a call has run. The turns are in the thread still.';
	}
	if (begun && open?.call.pending) {
		return `A call waits for ${isAsking() ? 'somebody who may decide' : 'your decision'}. The turns leave the thread when all is taken back. It can wait: also over a restart.`;
	}
	if (steps.length === 0 && stays.length === 0) {
		return `Leaves the thread: ${turnsOf(view)}. Their tools have done nothing that stays.`;
	}
	return `Leaves the thread: ${turnsOf(view)}. ${steps.length > 0 ? `First ${steps.length === 1 ? 'this is done' : 'these are done, in this order'}.` : ''}`;
}

const STATES = {
	get PROPOSED() {
		return `asks for ${isAsking() ? 'a' : 'your'} decision first`;
	},
	APPROVED: 'is approved and will run',
	CLAIMED: 'runs',
	DONE: 'done',
	UNCERTAIN: 'may have run',
};

/** What somebody types in it stays. */
function stepNode({ call, effect, done, failed, outcome }, begun) {
	const state = failed ? 'failed' : begun && call.status === 'PROPOSED' ? isAsking() ? 'waits for an approver' : 'waits for your decision' : STATES[call.status] ?? call.status.toLowerCase();
	const what = el('p', { class: 'rewind-what' }, icon(done ? 'check' : failed ? 'alert' : 'undo'), el('strong', {}, sentence(call.title, call.arguments, call.schema)),
		el('span', { class: 'rewind-state' }, state));
	const why = el('p', { class: 'rewind-why', dir: 'auto' }, `Turn ${effect.turn}: ${effect.result ? escapeHidden(effect.result) : sentence(effect.title, effect.arguments)}`);
	const came = outcome === null ? null : el('p', { class: failed ? 'rewind-outcome fault' : 'rewind-outcome', dir: 'auto' }, escapeHidden(outcome));
	const card = begun && call.pending ? approvalCard({ ...call, description: null, takesBack: true, failed }, { decide }) : null;
	const node = shown.nodes.get(call.id) ?? el('li');
	shown.nodes.set(call.id, node);
	node.className = done ? 'done' : failed ? 'failed' : '';
	arrange(node, [what, why, came, card].filter((part) => part !== null));
	return node;
}

/** What cannot be taken back, and of what nobody knows. */
function staysOf({ stays }, isDone) {
	if (stays.length === 0) {
		return [];
	}
	const group = (words, each) => each.length === 0 ? [] : [el('h3', {}, words), el('ul', { class: 'rewind-stays' }, ...each.map(({ effect, detail }) =>
		el('li', {}, icon('blocked'), el('span', {}, el('strong', {}, sentence(effect.title, effect.arguments)), ` (turn ${effect.turn}). ${escapeHidden(detail)}`))))];
	const uncertain = stays.filter(({ reason }) => reason === 'UNCERTAIN');
	const agree = el('input', { type: 'checkbox', checked: shown.accepted });
	agree.addEventListener('change', () => {
		shown.accepted = agree.checked;
		body.querySelector('.rewind-actions .danger')?.setAttribute('aria-disabled', String(needsConsent(shown)));
	});
	return [...group('Stays as it is', stays.filter(({ reason }) => reason !== 'UNCERTAIN')), ...group('Not known, so it stays as it is', uncertain),
		isDone ? null : el('label', { class: 'rewind-accept' }, agree, el('span', {}, `Take the turns back although ${stays.length === 1 ? 'this stays' : 'these stay'}`))];
}

/** What a call does, such as “Restore order 4711”. */
function sentence(name, text, schema) {
	const first = fieldsOf(text, schema)?.find(({ value }) => value !== undefined);
	return first && first.value.length <= 24 ? `${name} ${first.value}` : name;
}

// An undo that leaves what tools have done

/** @param actions undo(), takeBack() */
export function warnOfUndo(plan, actions) {
	shown = null;
	setText(title, `Undo turn ${plan.from}?`);
	const effects = [...plan.steps, ...plan.stays].map(({ effect }) => effect);
	const end = (action) => () => {
		dialog.close();
		action();
	};
	body.replaceChildren(el('p', { class: 'rewind-words' }, 'Undo takes the turn out of the thread. What its tools have done stays done:'),
		el('ul', { class: 'rewind-stays' }, ...effects.map((effect) => el('li', {}, icon('tool'),
			el('span', {}, el('strong', {}, sentence(effect.title, effect.arguments)), effect.result ? `: ${escapeHidden(effect.result)}` : '')))),
		actionsOf(button('Keep the turn', 'quiet', () => dialog.close()), button('Undo, it stays done', 'danger', end(actions.undo)),
			plan.steps.length > 0 ? button('Take it back …', 'primary', end(actions.takeBack)) : null));
	open();
	body.querySelector('.rewind-actions button:last-child').focus();
}

// What waits is said above the question field, too

const bar = byId('taking-back');
let shownBar = '';

/** @param from the turn from which on turns are being taken back; 0 for none */
export function showTakingBack(from, actions) {
	bar.hidden = from === 0;
	if (from > 0 && shownBar !== String(from)) {
		bar.replaceChildren(icon('undo'), el('span', {}, `Taking back from turn ${from} on is not finished.`),
			button('Show', 'quiet', actions.look), button('Leave it', 'quiet', actions.leave));
	}
	shownBar = String(from);
}

byId('close-rewind').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
dialog.addEventListener('close', () => {
	if (!dialog.open) { // it may be open again by now
		shown = null;
		byId('question').focus();
	}
});
