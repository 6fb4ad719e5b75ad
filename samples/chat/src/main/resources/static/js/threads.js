import { agoNode } from './approvals.js';
import { arrange, button, byId, el, icon, iconButton, setText } from './dom.js';
import { openMenu } from './menu.js';
import { ago, plural, STATES } from './words.js';

const place = byId('threads');

const none = el('li', { class: 'no-threads' }, 'No threads yet');

const loading = el('li', { class: 'no-threads' }, 'Reading the threads …');

let failed;

const failedNode = (actions) => {
	failed ??= el('li', { class: 'no-threads' }, el('p', {}, 'The threads cannot be read now.'), button('Try again', 'quiet', () => failed.reload()));
	failed.reload = actions.reload;
	return failed;
};

/** The rows by the id of their thread: each stays as it is, with what somebody does there. */
let rows = new Map();

/**
 * Shows the threads. Renaming happens in the row itself.
 * @param running the ids of the threads that are being answered
 * @param list more: whether there are older ones, and status: loading, failed or ready
 * @param actions open(id), rename(id, title), remove(id), more(), reload()
 */
export function showThreads(threads, current, running, { more, status }, actions) {
	rows = new Map(threads.map(({ id }) => [id, rows.get(id) ?? row(id, actions)]));
	threads.forEach((thread) => rows.get(thread.id).show(thread, thread.id === current, running.has(thread.id)));
	const nodes = [...rows.values()].map(({ node }) => node);
	const end = { loading, failed: failedNode(actions) }[status] ?? (nodes.length === 0 ? none : more ? moreNode(actions) : null);
	arrange(place, end === null ? nodes : [...nodes, end]);
}

let older;

const moreNode = (actions) => older ??= el('li', { class: 'more' }, el('button', { type: 'button', class: 'quiet', onclick: actions.more }, 'Show older threads'));

function row(id, actions) {
	let title;
	const name = el('span', { class: 'thread-title', dir: 'auto' });
	const facts = el('span', { class: 'thread-facts' });
	const mark = el('span', { class: 'thread-mark' });
	const open = el('button', { type: 'button', class: 'open', onclick: () => actions.open(id) }, name, facts, mark);
	const rename = iconButton('pencil', '', () => edit(node, title, restore, (changed) => actions.rename(id, changed)));
	const remove = iconButton('trash', '', () => actions.remove(id, title));
	const more = iconButton('more', '', () => openMenu(more, title, [['pencil', 'Rename', () => rename.click()], ['trash', 'Delete', () => remove.click()]]), 'icon-button small row-menu');
	more.setAttribute('aria-haspopup', 'menu');
	more.setAttribute('aria-expanded', 'false');
	const parts = [open, el('span', { class: 'row-actions' }, rename, remove, more)];
	const node = el('li', { class: 'thread' }, ...parts);
	const restore = () => node.replaceChildren(...parts);
	let marked = '';
	return {
		node,
		show(thread, active, isRunning) {
			title = thread.title;
			setText(name, title);
			setText(facts, `${plural(thread.turns, 'turn')} · ${ago(thread.updatedAt)}`);
			label(rename, `Rename “${title}”`);
			label(remove, `Delete “${title}”`);
			label(more, `More for “${title}”`);
			node.classList.toggle('active', active);
			open.ariaCurrent = active ? 'page' : null;
			const state = isRunning ? 'running' : thread.waiting > 0 ? 'waiting' : '';
			if (state !== marked) {
				marked = state;
				mark.replaceChildren(...markOf(state, thread.waiting));
				mark.className = `thread-mark ${state}`;
			}
		},
	};
}

function markOf(state, waiting) {
	switch (state) {
		case 'running':
			return [el('span', { class: 'visually-hidden' }, 'is being answered')];
		case 'waiting':
			return [icon('hand'), el('span', {}, waiting > 1 ? `${waiting} calls wait` : STATES.AWAITING_APPROVAL)];
		default:
			return [];
	}
}

function label(button, text) {
	button.title = text;
	button.ariaLabel = text;
}

function edit(row, title, restore, rename) {
	const input = el('input', { class: 'rename', 'aria-label': 'Title', maxlength: '120', dir: 'auto', value: title });
	let open = true;
	const close = (save) => {
		if (!open) {
			return;
		}
		open = false;
		const isHere = input === document.activeElement;
		restore();
		if (save && input.value.trim() !== title) {
			rename(input.value.trim());
		}
		if (isHere) {
			row.querySelector('.open').focus(); // the actions are shown only where the mouse or the keyboard is
			[...row.querySelectorAll('.row-actions button')].find((each) => each.checkVisibility())?.focus();
		}
	};
	input.addEventListener('keydown', (event) => {
		if (event.key === 'Enter' && !event.isComposing) {
			event.preventDefault(); // else the button that gets the keyboard is pressed
			close(true);
		}
		else if (event.key === 'Escape' && !event.isComposing) {
			event.stopPropagation();
			close(false);
		}
	});
	input.addEventListener('blur', () => close(true));
	row.replaceChildren(input);
	input.focus();
	input.select();
}

// The inbox: what waits for a person, in all threads

const inbox = byId('inbox');

let shownInbox = '';

/** @param calls thread, title, callTitle, requestedAt, expiresAt, oldest first */
export function showInbox(calls, open) {
	const shown = JSON.stringify(calls);
	inbox.hidden = calls.length === 0;
	if (shown === shownInbox) {
		return;
	}
	shownInbox = shown;
	setText(byId('inbox-count'), calls.length === 1 ? '1 call waits for you' : `${calls.length} calls wait for you`);
	byId('inbox-list').replaceChildren(...calls.map((call) => el('li', {}, el('button', { type: 'button', onclick: () => open(call.thread) },
		el('strong', {}, call.callTitle), el('span', { dir: 'auto' }, `${call.title} · `, agoNode(call.requestedAt))))));
}
