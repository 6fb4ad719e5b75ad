import { approvalCard, decideOn, decidedText, isSent, overtaken, refuse } from './approvals.js';
import { arrange, button, byId, el, icon, setText } from './dom.js';
import { say } from './speech.js';
import { user } from './user.js';
import { ago, plural } from './words.js';

/*
 * The inbox of somebody who decides on the calls of others: each call as its owner's
 * thread has it, and nothing else of that thread.
 */

const dialog = byId('inbox-dialog');
const list = byId('inbox-calls');
const opener = byId('open-inbox');
const fault = byId('inbox-problem');

/** The rows by the id of their call. */
let rows = new Map();

/** What this user has decided since the inbox was opened, by the id of the call. */
const decided = new Map();

let waiting = [];

let actions = {};

/**
 * @param calls owner, thread, title, requestedAt, takesBack, call; oldest first
 * @param given decide(entry, call, decision), open(thread), changed()
 */
export function showInboxOf(calls, given) {
	waiting = calls;
	actions = given;
	opener.hidden = false;
	setText(byId('inbox-badge'), calls.length === 0 ? '' : String(calls.length));
	byId('inbox-badge').hidden = calls.length === 0;
	opener.ariaLabel = calls.length === 0 ? 'Inbox: nothing waits' : `Inbox: ${plural(calls.length, 'call')} ${calls.length === 1 ? 'waits' : 'wait'} for you`;
	if (dialog.open) {
		draw();
	}
}

function draw() {
	const before = rows;
	waiting.filter(({ call }) => waitsAgain(call)).forEach(({ call }) => decided.delete(call.id));
	const isThere = new Set(waiting.map(({ call }) => call.id));
	const left = [...before.values()].filter(({ entry: { call } }) => !isThere.has(call.id) && (decided.has(call.id) || isTypedIn(before.get(call.id))));
	const entries = [...left.map(({ entry }) => entry), ...waiting];
	rows = new Map(entries.map((entry) => [entry.call.id, renewed(before.get(entry.call.id), entry) ?? row(entry)]));
	left.filter(({ entry: { call } }) => !decided.has(call.id) && !isSent(call)).forEach(({ card }) => overtaken(card));
	rows.forEach((each) => each.show());
	arrange(list, [...rows.values()].map(({ node }) => node));
	byId('inbox-empty').hidden = rows.size > 0;
}

/** Whether the decision that was made here is among those of a call that waits all the same. */
const waitsAgain = ({ id, decisions }) => decided.has(id) && decisions.length >= decided.get(id).decisions.length;

function renewed(row, entry) {
	return row && Object.assign(row, { entry });
}

/** What somebody types stays, though the call was decided meanwhile. */
const isTypedIn = ({ card }) => card?.querySelector('.approval-form') !== null && card !== undefined;

function row(entry) {
	const whose = el('p', { class: 'inbox-whose' });
	const node = el('li', {}, whose);
	const made = { entry, node, card: undefined, show };
	function show() {
		const { owner, title, thread, requestedAt, call, takesBack } = made.entry;
		const isOwn = owner === user.name;
		setText(whose, isOwn ? `Your thread “${title}” · ${ago(requestedAt)}` : `${owner} ${takesBack ? 'takes turns back' : 'asks'}`);
		const card = isOwn ? made.card ?? el('div', { class: 'inbox-own' }, icon('hand'), el('strong', {}, call.title),
			button('Open the thread', 'quiet', () => {
				dialog.close();
				actions.open(thread);
			})) : approvalCard({ ...decided.get(call.id) ?? call, takesBack }, { decide: (shown, decision) => decide(made.entry, shown, decision) });
		if (card !== made.card) {
			made.card?.remove();
			node.append(card);
			made.card = card;
		}
	}
	return made;
}

async function decide(entry, call, decision) {
	fault.hidden = true;
	try {
		const others = waiting.filter(({ owner, thread, takesBack }) => !takesBack && owner === entry.owner && thread === entry.thread).map((each) => each.call);
		await decideOn(call, decision, others, async (each, sent) => {
			const result = await actions.decide(entry, each, sent);
			decided.set(each.id, result);
			say(decidedText(result));
		});
	}
	catch (error) {
		if (!refuse(call, error)) {
			setText(fault, error.message);
			fault.hidden = false;
		}
	}
	draw();
	const next = list.querySelector('.approval:not(.decided) .approval-actions button');
	if (!dialog.contains(document.activeElement) || document.activeElement === dialog) {
		(next ?? byId('close-inbox')).focus();
	}
	actions.changed();
}

opener.addEventListener('click', () => {
	decided.clear();
	rows = new Map();
	fault.hidden = true;
	draw();
	dialog.showModal();
	list.querySelector('.approval-actions button')?.focus();
	actions.changed();
});
byId('close-inbox').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
