import { ago, byId, el, icon, plural } from './dom.js';

const list = byId('threads');

/**
 * Shows the threads. Renaming and deleting happen in the row itself.
 * @param actions open(id), rename(id, title), remove(id)
 */
export function showThreads(threads, current, actions) {
	if (list.querySelector('.rename')) {
		return; // somebody is typing there; what follows shows the list again
	}
	list.replaceChildren(...threads.map((thread) => row(thread, thread.id === current, actions)));
	if (threads.length === 0) {
		list.append(el('li', { class: 'no-threads' }, 'No threads yet'));
	}
}

function row(thread, active, actions) {
	const item = el('li', { class: active ? 'thread active' : 'thread' });
	item.append(
		el('button', { type: 'button', class: 'open', 'aria-current': active ? 'page' : null, onclick: () => actions.open(thread.id) },
			el('span', { class: 'thread-title' }, thread.title),
			el('span', { class: 'thread-facts' }, `${plural(thread.turns, 'turn')} · ${ago(thread.updatedAt)}`)),
		el('span', { class: 'row-actions' },
			action('pencil', `Rename “${thread.title}”`, () => edit(item, thread, actions)),
			action('trash', `Delete “${thread.title}”`, () => confirm(item, thread, actions))));
	return item;
}

function action(name, label, onclick) {
	return el('button', { type: 'button', class: 'icon-button small', 'aria-label': label, title: label, onclick }, icon(name));
}

function edit(item, thread, actions) {
	const input = el('input', { class: 'rename', 'aria-label': 'Title', maxlength: '120', value: thread.title });
	const before = [...item.childNodes];
	let open = true;
	const close = (save) => {
		if (!open) {
			return;
		}
		open = false;
		item.replaceChildren(...before);
		const title = input.value.trim();
		if (save && title !== thread.title) {
			actions.rename(thread.id, title);
		}
		else {
			item.querySelector('.row-actions button').focus();
		}
	};
	input.addEventListener('keydown', (event) => {
		if (event.key === 'Enter' && !event.isComposing) {
			close(true);
		}
		else if (event.key === 'Escape') {
			event.stopPropagation();
			close(false);
		}
	});
	input.addEventListener('blur', () => close(true));
	item.replaceChildren(input);
	input.focus();
	input.select();
}

function confirm(item, thread, actions) {
	const before = [...item.childNodes];
	const keep = () => {
		item.replaceChildren(...before);
		item.querySelector('.row-actions button:last-child').focus();
	};
	const yes = el('button', { type: 'button', class: 'danger', onclick: () => actions.remove(thread.id) }, 'Delete');
	const question = el('div', { class: 'confirm', role: 'group', 'aria-label': `Delete “${thread.title}” for good?` },
		el('span', {}, 'Delete?'), el('button', { type: 'button', class: 'quiet', onclick: keep }, 'Keep'), yes);
	question.addEventListener('keydown', (event) => {
		if (event.key === 'Escape') {
			event.stopPropagation();
			keep();
		}
	});
	item.replaceChildren(question);
	yes.focus();
}
