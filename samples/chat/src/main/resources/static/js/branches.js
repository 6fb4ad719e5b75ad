import { arrange, button, byId, el, icon, iconButton, setText } from './dom.js';
import { showTimelinePanel } from './panels.js';
import { plural } from './words.js';

/*
 * The branches of a thread as a tree, which is where one goes from one to another, and
 * the name of the one that is shown.
 */

const card = byId('branches');
const list = byId('branch-list');
const here = byId('on-branch');
const dialog = byId('branch-dialog');
const field = byId('branch-name');

let rows = new Map();

/** @param actions switchTo(name), deleteBranch(branch) */
export function showBranches({ id, branches }, actions) {
	const isHidden = branches.length < 2;
	card.hidden = isHidden;
	here.hidden = isHidden;
	if (isHidden) {
		rows = new Map();
		return;
	}
	const active = branches.find((branch) => branch.active);
	setText(byId('on-branch-name'), active.name);
	here.setAttribute('aria-label', `Branch ${active.name}, one of ${branches.length}. Show the branches`);
	const before = rows;
	rows = new Map();
	arrange(list, inOrder(branches).map(([branch, depth]) => {
		const key = JSON.stringify([id, branch, depth]);
		const known = before.get(key);
		rows.set(key, known ?? row(branch, depth, actions));
		return rows.get(key);
	}));
}

/** Each branch behind the one from which it parts, with how deep it stands. */
function inOrder(branches, of = null, depth = 0) {
	return branches.filter((branch) => branch.of === of)
		.flatMap((branch) => [[branch, depth], ...inOrder(branches, branch.name, depth + 1)]);
}

function row(branch, depth, actions) {
	const open = el('button', { type: 'button', class: 'branch', 'aria-current': branch.active ? 'true' : null, onclick: () => actions.switchTo(branch.name) },
		icon('branch'), el('span', { class: 'branch-label', dir: 'auto' }, branch.name), el('span', { class: 'branch-facts', dir: 'auto' }, factsOf(branch)));
	const remove = branch.of === null ? null : iconButton('trash', `Delete the branch “${branch.name}”`, () => confirm());
	const node = el('li', {}, open, remove);
	node.style.setProperty('--depth', Math.min(depth, 4));
	const restore = () => {
		node.replaceChildren(open, remove);
		remove.focus();
	};
	function confirm() {
		const keep = button('Keep', 'quiet', restore);
		const box = el('div', { class: 'branch-confirm', role: 'group', 'aria-label': `Delete the branch “${branch.name}”` },
			el('p', {}, `Delete “${branch.name}”, with the messages that no other branch has? This cannot be undone.`),
			button('Delete', 'danger', () => actions.deleteBranch(branch)), keep);
		box.addEventListener('keydown', (event) => {
			if (event.key === 'Escape') {
				event.preventDefault();
				event.stopPropagation();
				restore();
			}
		});
		node.replaceChildren(box);
		keep.focus();
	}
	return node;
}

function factsOf({ turns, of, after }) {
	return [plural(turns, 'turn'), of === null ? null : after === 0 ? 'from the beginning' : `from “${of}” after turn ${after}`].filter(Boolean).join(' · ');
}

here.addEventListener('click', () => {
	showTimelinePanel();
	list.querySelector('[aria-current]')?.focus();
});

/** The other branches that part behind a turn, by its number. */
export function forksOf(branches) {
	const forks = new Map();
	branches.filter(({ of }) => of !== null).forEach(({ name, active, of, after }) =>
		forks.set(after, [...forks.get(after) ?? [], active ? of : name]));
	return forks;
}

// The name of a new branch

let make;

/** @param action makes a branch of this name; what it throws is shown */
export function askName(where, suggestion, action) {
	make = action;
	setText(byId('branch-where'), where);
	setText(byId('branch-problem'), '');
	field.value = suggestion;
	dialog.showModal();
	field.select();
}

export function freeName(branches) {
	const names = new Set(branches.map(({ name }) => name));
	let number = branches.length + 1;
	while (names.has(`branch ${number}`)) {
		number++;
	}
	return `branch ${number}`;
}

byId('branch-form').addEventListener('submit', async (event) => {
	event.preventDefault();
	try {
		await make(field.value.trim());
		dialog.close();
		byId('question').focus();
	}
	catch (error) {
		setText(byId('branch-problem'), error.message);
		field.focus();
	}
});
byId('cancel-branch').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
