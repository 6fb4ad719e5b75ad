import { escapeHidden, layOut, shown } from './arguments.js';
import { ago, arrange, byId, el, icon, plural } from './dom.js';

const STATES = {
	PROPOSED: 'waits for a decision',
	APPROVED: 'approved',
	CLAIMED: 'runs',
	DONE: 'has run',
	REJECTED: 'rejected',
	DENIED: 'not allowed',
	CANCELLED: 'cancelled',
	EXPIRED: 'expired, so it does not run',
	UNCERTAIN: 'may have run or not; somebody has to find out',
};

/** The cards by the id of their call, so that what somebody types there stays. */
const cards = new Map();

const approver = el('input', { id: 'approver', autocomplete: 'name', maxlength: '80', value: localStorage.getItem('approver') ?? 'Somebody' });
approver.addEventListener('change', () => localStorage.setItem('approver', approver.value));
const approverLabel = el('label', { class: 'approver' }, el('span', {}, 'You decide as'), approver);

const continueButton = el('button', { type: 'button', class: 'primary resume' }, 'Continue the turn');

/** The calls of the turn that waits. */
export const openCalls = (approvals, turns) => approvals.calls.filter((call) =>
	call.turnId === turns.find((turn) => turn.number === approvals.openTurn)?.id);

/** Who decided on a call of a turn that is over and how, and what ran if a person has edited it; nothing if nobody had to decide. */
export function outcomeOf(approvals, turn, round, index) {
	const call = approvals?.calls.find((each) => each.turnId === turn.id && each.round === round && each.index === index);
	return call && { words: stateOf(call), edited: editedIn(call) };
}

function stateOf({ status, decisions }) {
	return decisions.length === 0 || status === 'UNCERTAIN' ? STATES[status] : decisions.map(decided).join(', then ');
}

const VERBS = { APPROVE: 'approved', REJECT: 'rejected', RETRY: 'run again', ANSWER: 'answered' };

function decided({ verb, by, arguments: others, standing, reason }) {
	const what = others !== null && verb === 'APPROVE' ? 'edited and approved' : VERBS[verb];
	return `${what} by ${by}${standing ? ', for always' : ''}${reason ? `: ${reason}` : ''}`;
}

/** What a person wants to run in the place of the model's arguments. */
const editedIn = ({ decisions }) => decisions.findLast((each) => each.arguments !== null)?.arguments;

const effective = (call) => editedIn(call) ?? call.arguments;

/**
 * Shows a card for each call of the turn that waits, in that turn.
 * @param actions decide(call, decision), resume()
 */
export function showApprovals(approvals, turns, isAnswering, actions) {
	const place = byId('approvals');
	if (!place) {
		return;
	}
	const calls = openCalls(approvals, turns);
	const nodes = calls.map((call) => cardOf(call, actions));
	const isPending = calls.some((call) => call.pending);
	if (isPending) {
		nodes.unshift(approverLabel);
	}
	else if (!isAnswering && !approvals.running) {
		continueButton.onclick = actions.resume;
		nodes.push(continueButton);
	}
	arrange(place, nodes);
}

function cardOf(call, actions) {
	const known = cards.get(call.id);
	const shown = JSON.stringify(call);
	if (known?.shown === shown) {
		return known.node;
	}
	const node = card(call, actions);
	cards.set(call.id, { node, shown });
	return node;
}

function card(call, actions) {
	const name = `approval-${call.id}`;
	const text = layOut(effective(call));
	const node = el('article', { class: call.pending ? 'approval' : 'approval decided', 'aria-labelledby': name },
		el('h3', { id: name }, icon('tool'), el('code', {}, call.tool), el('span', { class: 'approval-state' }, stateOf(call))),
		call.description ? el('p', { class: 'approval-what' }, escapeHidden(call.description)) : null,
		el('pre', { tabindex: '0', dir: 'ltr', 'aria-label': `Arguments of ${call.tool}` }, el('code', {}, shown(text))),
		isLong(text) ? el('p', { class: 'approval-facts' }, `${plural(text.length, 'character')}. Scroll to read all of them.`) : null,
		call.times > 1 ? el('p', { class: 'approval-facts' }, `The reply makes this very call ${call.times} times. It runs once.`) : null);
	if (call.pending) {
		node.append(el('p', { class: 'approval-facts' }, facts(call)));
		choose(node, call, actions, false);
	}
	return node;
}

/** It may be more than the card shows at once. */
const isLong = (text) => text.length > 500 || text.split('\n').length > 12;

const facts = ({ requestedAt, expiresAt }) => `Asked ${ago(requestedAt)}${expiresAt ? ` · expires ${ago(expiresAt)}` : ''}`;

// What one can do with a card: the choices first, then the form of the one that needs more

function choose(node, call, actions, moveFocus) {
	const decide = (decision) => actions.decide(call, decision);
	const reject = ['Reject', () => form(node, call, actions, reasonForm)];
	const choices = call.status === 'UNCERTAIN'
		? [['Run again', () => decide({ verb: 'RETRY' }), 'primary'], ['Answer …', () => form(node, call, actions, answerForm)], reject]
		: [['Approve', () => decide({ verb: 'APPROVE' }), 'primary'], ['Edit & approve', () => form(node, call, actions, editForm)],
			reject, ['Always …', () => form(node, call, actions, alwaysForm)]];
	show(node, el('div', { class: 'approval-actions', role: 'group', 'aria-label': `Decide on ${call.tool}` },
		...choices.map(([label, onclick, style = 'quiet']) => el('button', { type: 'button', class: style, onclick }, label))));
	if (moveFocus) {
		node.querySelector('.approval-actions button').focus();
	}
}

function form(node, call, actions, fields) {
	const { content, buttons } = fields(call, (decision) => actions.decide(call, decision));
	const back = () => choose(node, call, actions, true);
	const whole = el('form', { class: 'approval-form' }, ...content,
		el('div', { class: 'approval-actions' }, ...buttons, el('button', { type: 'button', class: 'quiet', onclick: back }, 'Back')));
	whole.addEventListener('submit', (event) => {
		event.preventDefault();
		buttons[0].click();
	});
	whole.addEventListener('keydown', (event) => {
		if (event.key === 'Escape') {
			event.stopPropagation();
			back();
		}
	});
	show(node, whole);
	whole.querySelector('textarea, input').focus();
}

function show(node, part) {
	node.querySelector(':scope > .approval-actions, :scope > .approval-form')?.remove();
	node.classList.toggle('editing', part.querySelector('.arguments') !== null);
	node.append(part);
}

const button = (label, style, onclick) => el('button', { type: 'button', class: style, onclick }, label);

function field(label, input) {
	return el('label', { class: 'approval-field' }, el('span', {}, label), input);
}

function editForm(call, decide) {
	const text = escapeHidden(layOut(effective(call)));
	const area = el('textarea', { class: 'arguments', dir: 'ltr', rows: String(Math.min(12, text.split('\n').length + 1)), spellcheck: 'false' });
	area.value = text;
	return {
		content: [field('Arguments, as JSON', area)],
		buttons: [button('Approve these', 'primary', () => decide({ verb: 'APPROVE', arguments: area.value }))],
	};
}

function reasonForm(call, decide) {
	const reason = el('input', { class: 'reason', maxlength: '500', autocomplete: 'off' });
	return {
		content: [field('Why? The model is told (optional)', reason)],
		buttons: [button('Reject', 'danger', () => decide({ verb: 'REJECT', text: reason.value.trim() || undefined }))],
	};
}

function answerForm(call, decide) {
	const result = el('input', { class: 'reason', maxlength: '500', autocomplete: 'off' });
	return {
		content: [field('What came of it, as the model is told', result)],
		buttons: [button('Answer', 'primary', () => decide({ verb: 'ANSWER', text: result.value }))],
	};
}

function alwaysForm(call, decide) {
	const scope = (value, label, checked) => el('label', { class: 'approval-scope' },
		el('input', { type: 'radio', name: `scope-${call.id}`, value, checked }), el('span', {}, label));
	const scopes = el('fieldset', {}, el('legend', {}, 'From now on in this thread, for'),
		scope('TOOL', `every call of ${call.tool}`, true), scope('ARGUMENTS', 'calls with exactly these arguments', false));
	const always = () => scopes.querySelector(':checked').value;
	return {
		content: [scopes],
		buttons: [button('Always approve', 'primary', () => decide({ verb: 'APPROVE', always: always() })),
			button('Always reject', 'danger', () => decide({ verb: 'REJECT', always: always() }))],
	};
}

/** Who decides, as the page knows it: this sample has no login. */
export const approverName = () => approver.value;

// Decisions on calls to come

let shownStanding = '';

export function showStanding(standing, revoke) {
	const shown = JSON.stringify(standing);
	byId('standing').hidden = standing.length === 0;
	if (shown === shownStanding) {
		return;
	}
	shownStanding = shown;
	byId('standing-list').replaceChildren(...standing.map((decision) => {
		const words = `${decision.approved ? 'always approved' : 'always rejected'}${decision.exact ? ' with these arguments' : ''}`;
		return el('li', {}, el('span', {}, el('code', {}, decision.tool), ` ${words}, by ${decision.by}`),
			el('button', { type: 'button', class: 'quiet', 'aria-label': `Revoke: ${decision.tool} ${words}`, onclick: () => revoke(decision) }, 'Revoke'));
	}));
}
