import { escapeHidden, layOut, shown } from './arguments.js';
import { arrange, button, byId, el, icon, setText } from './dom.js';
import { argumentsForm, fieldList, fieldsOf } from './fields.js';
import { local } from './storage.js';
import { isAsking, user } from './user.js';
import { ago, left, plural, waitingWords } from './words.js';

const STATES = {
	get PROPOSED() {
		return isAsking() ? 'waits for an approver' : 'waits for your decision';
	},
	/** Where somebody has approved it, that is said. */
	APPROVED: 'needs no decision, waits for the others',
	CLAIMED: 'runs',
	DONE: 'has run',
	REJECTED: 'rejected',
	DENIED: 'not allowed',
	CANCELLED: 'cancelled',
	EXPIRED: 'expired: it did not run',
	UNCERTAIN: 'may have run: nobody knows',
};

/** Calls that will not run, and did not unless they were claimed. */
const REFUSED = new Set(['REJECTED', 'DENIED', 'CANCELLED', 'EXPIRED']);

/** The cards by the id of their call, so that what somebody types there stays. */
const cards = new Map();

const approver = el('input', { id: 'approver', autocomplete: 'name', maxlength: '80', placeholder: 'Your name', value: local.get('approver') ?? '' });
const approverFault = el('span', { class: 'field-hint fault', id: 'approver-fault', hidden: true }, 'Write your name: the decision is stored under it.');
export const approverLabel = el('label', { class: 'approver' }, el('span', {}, 'You decide as'), approver, approverFault);
approver.setAttribute('aria-describedby', 'approver-fault');
approver.addEventListener('input', () => {
	local.set('approver', approver.value);
	approverFault.hidden = true;
});

const continueButton = button('Continue the turn', 'primary resume');

/** The calls of the turn that waits. */
export const openCalls = (approvals, turns) => approvals.calls.filter((call) =>
	call.turnId === turns.find((turn) => turn.number === approvals.openTurn)?.id);

/** What was decided on a call, as a sentence. */
export const decidedText = (call) => `${call.title ?? call.tool}: ${stateOf(call)}.`;

/** Who decided on a call of a turn that is over and how, and what ran if a person has edited it; nothing if nobody had to decide. */
export function outcomeOf(approvals, turn, round, index) {
	const call = approvals?.calls.find((each) => each.turnId === turn.id && each.round === round && each.index === index);
	return call && { words: stateOf(call), edited: editedIn(call), isRefused: REFUSED.has(call.status), isClaimed: call.claimed };
}

/** How long a turn has waited for people, in milliseconds. */
export function waitedFor(approvals, turn) {
	const rounds = new Map();
	for (const { turnId, round, requestedAt, decisions } of approvals?.calls ?? []) {
		if (turnId === turn.id && decisions.some(({ standing }) => !standing)) {
			const decided = Math.max(...decisions.map(({ at }) => Date.parse(at)));
			const [from, to] = rounds.get(round) ?? [Infinity, 0];
			rounds.set(round, [Math.min(from, Date.parse(requestedAt)), Math.max(to, decided)]);
		}
	}
	return [...rounds.values()].reduce((sum, [from, to]) => sum + Math.max(0, to - from), 0);
}

/** What others have decided since, one sentence for each call. */
export function decidedElsewhere(before, after) {
	const waited = new Set(before.calls.filter(({ pending }) => pending).map(({ id }) => id));
	return after.calls.filter(({ id, pending }) => waited.has(id) && !pending).map(decidedText);
}

function stateOf({ status, decisions, failed }) {
	if (failed && status === 'UNCERTAIN') {
		return 'failed';
	}
	return decisions.length === 0 || status === 'UNCERTAIN' ? STATES[status] : decisions.map(decided).join(', then ');
}

const VERBS = { APPROVE: 'approved', REJECT: 'rejected', RETRY: 'run again', ANSWER: 'answered' };

function decided({ verb, by, arguments: others, standing, reason }) {
	const what = others !== null && verb === 'APPROVE' ? 'edited and approved' : VERBS[verb];
	return `${standing ? 'always ' : ''}${what} by ${by}${reason ? `: ${escapeHidden(reason)}` : ''}`;
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
	if (isPending && user.name === null) {
		nodes.unshift(approverLabel);
	}
	else if (!isPending && !isAnswering && !approvals.running) {
		continueButton.onclick = actions.resume;
		nodes.push(continueButton);
	}
	arrange(place, nodes);
	const note = place.parentElement.querySelector(':scope > .note span');
	setText(note, isPending ? waitingWords()
		: isAnswering || approvals.running ? 'Decided. The turn goes on.' : 'Nothing waits any more. Continue the turn.');
}

/** The card of a call: takesBack and failed tell one that takes turns back. */
export const approvalCard = (call, actions) => cardOf(call, actions);

function cardOf(call, actions) {
	const known = cards.get(call.id);
	const shown = JSON.stringify(call);
	if (known?.shown === shown) {
		return known.node;
	}
	if (known && !call.pending && !known.isKept && known.node.querySelector('.approval-form') && !isAsSent(known, call)) {
		keep(known, call);
		known.isKept = true;
		return known.node;
	}
	if (known?.isKept) {
		return known.node;
	}
	const node = card(call, actions);
	cards.set(call.id, { node, shown });
	return node;
}

/** Whether what was decided is what this page has sent, so that nothing that was typed is lost. */
function isAsSent({ sent }, { decisions }) {
	const last = decisions.at(-1);
	return sent !== undefined && last !== undefined && last.verb === sent.verb && last.by === sent.by
		&& (sent.verb !== 'REJECT' || (last.reason ?? undefined) === sent.text);
}

/** Whether this page has sent a decision that was not refused, as far as it knows. */
export const isSent = (call) => cards.get(call.id)?.sent !== undefined;

/**
 * Decides on a call, and with a decision for calls to come on those of the same kind that wait already.
 * @param others the calls of its thread
 * @param send sends a decision on one call
 */
export async function decideOn(call, { always, ...decision }, others, send) {
	await send(call, { always, ...decision });
	const alike = others.filter((each) => always && each.pending && each.id !== call.id && each.tool === call.tool
		&& each.status === 'PROPOSED' && (always === 'TOOL' || each.digest === call.digest));
	for (const each of alike) {
		try {
			await send(each, { verb: decision.verb, by: decision.by, text: decision.text });
		}
		catch (error) {
			if (error.kind !== 'REFUSED') {
				throw error;
			} // somebody was faster there, or it waits on
		}
	}
}

/** Says at a card that somebody was faster, where nobody knows what was decided. */
export function overtaken(node) {
	if (!node.querySelector('.approval-overtaken')) {
		node.querySelectorAll('.approval-actions button').forEach((each) => { each.disabled = true; });
		node.append(el('p', { class: 'approval-overtaken', role: 'status' }, 'This call no longer waits. What you typed was not used.'));
	}
}

/** Somebody was faster. What was typed stays until it is no longer wanted. */
function keep(known, call) {
	known.node.querySelectorAll('.approval-actions button').forEach((each) => { each.disabled = true; });
	setText(known.node.querySelector('.approval-state'), stateOf(call));
	known.node.append(el('p', { class: 'approval-overtaken', role: 'status' }, `${overtakenBy(call)} What you typed was not used.`,
		button('Close', 'quiet', () => {
			cards.delete(call.id);
			known.node.dispatchEvent(new CustomEvent('closed', { bubbles: true }));
		})));
}

const overtakenBy = (call) => call.decisions.length > 0 ? `This call was decided meanwhile: ${stateOf(call)}.`
	: call.status === 'EXPIRED' ? 'Nobody decided on this call in time, so it does not run.' : `This call no longer waits: ${stateOf(call)}.`;

function card(call, actions) {
	const name = `approval-${call.id}`;
	const text = layOut(effective(call));
	const fields = fieldsOf(effective(call), call.schema);
	const json = el('pre', { tabindex: '0', dir: 'ltr', role: 'group', 'aria-label': `Arguments: ${nameOf(call, fields)}` }, el('code', {}, shown(text)));
	const node = el('article', { class: `approval ${call.pending ? '' : 'decided'} ${REFUSED.has(call.status) ? 'refused' : ''}`, 'aria-labelledby': name },
		el('h3', { id: name }, icon(REFUSED.has(call.status) ? 'blocked' : 'hand'), el('span', {}, sentence(call, fields)), el('code', {}, call.tool),
			el('span', { class: 'approval-state' }, stateOf(call))),
		call.description ? el('p', { class: 'approval-what' }, escapeHidden(call.description)) : null,
		...(fields === null ? [json] : [fieldList(fields), jsonSwitch(json)]),
		isLong(text) ? el('p', { class: 'approval-facts' }, `${plural(text.length, 'character')}. Scroll to read all of them.`) : null,
		call.fault ? el('p', { class: 'approval-fault' }, icon('alert'), el('span', {}, `The tool cannot take these arguments as they are. ${escapeHidden(call.fault)}`)) : null,
		call.times > 1 ? el('p', { class: 'approval-facts' }, `The reply makes this very call ${call.times} times. It runs once.`) : null);
	if (call.pending) {
		node.append(facts(call));
		choose(node, call, actions, false);
	}
	return node;
}

/** What the call does, as a question. */
const sentence = (call, fields) => `${call.title ?? call.tool}${mainArgument(fields)}${call.pending ? '?' : ''}`;

function mainArgument(fields) {
	const first = fields?.find(({ token, isRequired }) => token !== undefined && isRequired) ?? fields?.[0];
	return first?.value !== undefined && first.value.length <= 24 && !first.value.includes('\n') ? ` ${first.value}` : '';
}

/** For those who hear one name after another: each call of a reply has its own. */
const nameOf = (call, fields = fieldsOf(effective(call), call.schema)) => `${call.title ?? call.tool}${mainArgument(fields) || `, call ${call.index + 1}`}`;

const jsonSwitch = (json) => el('details', { class: 'as-json' }, el('summary', {}, 'As JSON'), json);

/** It may be more than the card shows at once. */
const isLong = (text) => text.length > 500 || text.split('\n').length > 12;

function facts({ requestedAt, expiresAt }) {
	return el('p', { class: 'approval-facts' }, 'asked ', agoNode(requestedAt),
		...(expiresAt ? [' · ', el('span', { class: 'expiry', 'data-left': expiresAt }, `expires ${left(expiresAt)}`)] : []));
}

/** How long ago something was, as time goes by. */
export const agoNode = (instant) => el('span', { 'data-ago': instant }, ago(instant));

setInterval(() => {
	document.querySelectorAll('[data-left]').forEach((node) => setText(node, `expires ${left(node.dataset.left)}`));
	document.querySelectorAll('[data-ago]').forEach((node) => setText(node, ago(node.dataset.ago)));
}, 1000);

// What one can do with a card: the choices first, then the form of the one that needs more

function choose(node, call, actions, moveFocus) {
	if (isAsking()) {
		return;
	}
	const decide = (decision) => whoever((by) => {
		const known = cards.get(call.id);
		if (known.isBusy) {
			return; // a second click is no decision
		}
		known.isBusy = true;
		known.sent = { ...decision, by };
		actions.decide(call, known.sent).finally(() => { known.isBusy = false; });
	});
	const reject = [call.takesBack && call.status === 'UNCERTAIN' ? 'Leave it' : 'Reject', () => form(node, call, decide, reasonForm)];
	const choices = call.status === 'UNCERTAIN'
		? [['Run again', () => decide({ verb: 'RETRY' }), 'danger'], ['It has run: answer …', () => form(node, call, decide, answerForm)], reject]
		: call.takesBack ? [['Approve', () => decide({ verb: 'APPROVE' }), 'danger'], reject]
		: [['Approve', () => decide({ verb: 'APPROVE' }), call.fault ? 'quiet' : 'danger'], ['Edit & approve', () => form(node, call, decide, editForm)],
			reject, ['Always …', () => form(node, call, decide, alwaysForm)]];
	node.addEventListener('choose', () => choose(node, call, actions, true), { once: true });
	show(node, el('div', { class: 'approval-actions', role: 'group', 'aria-label': `Decide: ${nameOf(call)}` },
		call.status === 'UNCERTAIN' ? el('p', { class: 'approval-what' }, call.failed ? 'It may have done a part of its work. Find out what, then decide.'
			: 'The application stopped while this ran. Find out whether it has, then decide.') : null,
		...choices.map(([label, onclick, style = 'quiet']) => button(label, style, onclick))));
	if (moveFocus) {
		node.querySelector('.approval-actions button').focus();
	}
}

/** A decision is stored under a name. */
function whoever(decide) {
	if (user.name !== null) {
		decide(user.name);
		return;
	}
	const name = approver.value.trim();
	approverFault.hidden = name !== '';
	if (name === '') {
		approver.focus();
		return;
	}
	decide(name);
}

function form(node, call, decide, fields) {
	const { content, buttons } = fields(call, decide);
	const back = () => node.dispatchEvent(new CustomEvent('choose'));
	const whole = el('form', { class: 'approval-form', novalidate: true }, ...content,
		el('div', { class: 'approval-actions' }, ...buttons, button('Back', 'quiet', back)),
		el('p', { class: 'approval-problem', role: 'alert', hidden: true }));
	whole.addEventListener('submit', (event) => {
		event.preventDefault();
		buttons[0].click();
	});
	whole.addEventListener('keydown', (event) => {
		if (event.key === 'Escape' && !event.isComposing) {
			event.stopPropagation();
			back();
		}
	});
	show(node, whole);
	whole.querySelector('textarea, input, select').focus();
}

function show(node, part) {
	node.querySelector(':scope > .approval-actions, :scope > .approval-form')?.remove();
	node.classList.toggle('editing', part.querySelector('.arguments-form') !== null);
	node.append(part);
}

/** What a rule of a schema means to who has written the value. */
const RULES = { required: 'This is missing.', type: 'This is the wrong kind of value.', additionalProperties: 'The tool does not know this field.' };

/** Says at the form of a call why the application refuses a decision; false if no form is open. */
export function refuse(call, problem) {
	const known = cards.get(call.id);
	const form = known?.node.querySelector('.approval-form');
	if (known && !problem.isAway) {
		known.sent = undefined;
	}
	if (!form) {
		return false;
	}
	for (const { field, rule } of problem.faults ?? []) {
		const input = form.querySelector(`[data-field="${CSS.escape(field)}"]`);
		const hint = input && byId(input.getAttribute('aria-describedby'));
		if (hint) {
			hint.textContent = RULES[rule] ?? 'This is not allowed here.';
			hint.classList.add('fault');
			input.setAttribute('aria-invalid', 'true');
		}
	}
	const place = form.querySelector('.approval-problem');
	place.textContent = problem.message;
	place.hidden = false;
	return true;
}

function field(label, input) {
	return el('label', { class: 'approval-field' }, el('span', {}, label), input);
}

function editForm(call, decide) {
	const { content, value } = argumentsForm(effective(call), call.schema);
	return {
		content,
		buttons: [button('Approve these', 'danger', () => {
			const edited = value();
			if (edited !== null) {
				decide({ verb: 'APPROVE', arguments: edited === effective(call) ? undefined : edited });
			}
		})],
	};
}

function reasonForm(call, decide) {
	const reason = el('input', { class: 'reason', maxlength: '500', autocomplete: 'off', dir: 'auto' });
	return {
		content: [field(call.takesBack ? 'Why? (optional)' : 'Why? The model is told (optional)', reason)],
		buttons: [button(call.takesBack && call.status === 'UNCERTAIN' ? 'Leave it' : 'Reject', 'primary', () => decide({ verb: 'REJECT', text: reason.value.trim() || undefined }))],
	};
}

function answerForm(call, decide) {
	const result = el('input', { class: 'reason', maxlength: '500', autocomplete: 'off', dir: 'auto' });
	return {
		content: [field(call.takesBack ? 'What came of it' : 'What came of it, as the model is told', result)],
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
		buttons: [button('Always approve', 'danger', () => decide({ verb: 'APPROVE', always: always() })),
			button('Always reject', 'primary', () => decide({ verb: 'REJECT', always: always() }))],
	};
}

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
			isAsking() ? null : el('button', { type: 'button', class: 'quiet', 'aria-label': `Revoke: ${decision.tool} ${words}`, onclick: () => revoke(decision) }, 'Revoke'));
	}));
}
