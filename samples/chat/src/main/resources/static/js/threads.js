import { ago, arrange, byId, el, icon, plural, setText } from './dom.js';

const list = byId('threads');

const none = el('li', { class: 'no-threads' }, 'No threads yet');

/** The rows by the id of their thread: each stays as it is, with what somebody does there. */
let rows = new Map();

/**
 * Shows the threads. Renaming and deleting happen in the row itself.
 * @param actions open(id), rename(id, title), remove(id)
 */
export function showThreads(threads, current, actions) {
	rows = new Map(threads.map(({ id }) => [id, rows.get(id) ?? row(id, actions)]));
	threads.forEach((thread) => rows.get(thread.id).show(thread, thread.id === current));
	arrange(list, threads.length > 0 ? [...rows.values()].map(({ node }) => node) : [none]);
}

function row(id, actions) {
	let title;
	const name = el('span', { class: 'thread-title' });
	const facts = el('span', { class: 'thread-facts' });
	const open = el('button', { type: 'button', class: 'open', onclick: () => actions.open(id) }, name, facts);
	const rename = action('pencil', () => edit(node, title, restore, (changed) => actions.rename(id, changed)));
	const remove = action('trash', () => confirm(node, title, restore, () => actions.remove(id)));
	const parts = [open, el('span', { class: 'row-actions' }, rename, remove)];
	const node = el('li', { class: 'thread' }, ...parts);
	const restore = () => node.replaceChildren(...parts);
	return {
		node,
		show(thread, active) {
			title = thread.title;
			setText(name, title);
			setText(facts, `${plural(thread.turns, 'turn')} · ${ago(thread.updatedAt)}`);
			label(rename, `Rename “${title}”`);
			label(remove, `Delete “${title}”`);
			node.classList.toggle('active', active);
			open.ariaCurrent = active ? 'page' : null;
		},
	};
}

function action(name, onclick) {
	return el('button', { type: 'button', class: 'icon-button small', onclick }, icon(name));
}

function label(button, text) {
	button.title = text;
	button.ariaLabel = text;
}

function edit(row, title, restore, rename) {
	const input = el('input', { class: 'rename', 'aria-label': 'Title', maxlength: '120', value: title });
	let open = true;
	const close = (save) => {
		if (!open) {
			return;
		}
		open = false;
		const isHere = input === document.activeElement;
		restore();
		if (isHere) {
			row.querySelector('.row-actions button').focus();
		}
		if (save && input.value.trim() !== title) {
			rename(input.value.trim());
		}
	};
	input.addEventListener('keydown', (event) => {
		if (event.key === 'Enter' && !event.isComposing) {
			event.preventDefault(); // else the button that gets the keyboard is pressed
			close(true);
		}
		else if (event.key === 'Escape') {
			event.stopPropagation();
			close(false);
		}
	});
	input.addEventListener('blur', () => close(true));
	row.replaceChildren(input);
	input.focus();
	input.select();
}

function confirm(row, title, restore, remove) {
	const keep = () => {
		restore();
		row.querySelector('.row-actions button:last-child').focus();
	};
	const yes = el('button', { type: 'button', class: 'danger', onclick: () => {
		keep(); // until the thread is gone
		remove();
	} }, 'Delete');
	const question = el('div', { class: 'confirm', role: 'group', 'aria-label': `Delete “${title}” for good?` },
		el('span', {}, 'Delete?'), el('button', { type: 'button', class: 'quiet', onclick: keep }, 'Keep'), yes);
	question.addEventListener('keydown', (event) => {
		if (event.key === 'Escape') {
			event.stopPropagation();
			keep();
		}
	});
	row.replaceChildren(question);
	yes.focus();
}
