import { button, byId, el, icon, iconButton } from './dom.js';

const banner = byId('banner');
const toast = byId('toast');

/** Says what is wrong, and offers what can be done about it. */
export function problem(text, ...actions) {
	banner.replaceChildren(icon('alert'), el('span', {}, text),
		...actions.map(([label, action]) => button(label, 'quiet', () => {
			hideProblem();
			action();
		})),
		iconButton('close', 'Close this message', hideProblem));
	banner.hidden = false;
}

export function hideProblem() {
	banner.hidden = true;
	banner.replaceChildren();
}

let timer;

/**
 * Says what has happened, with a way back for some seconds, and as long as the mouse or
 * the keyboard is there.
 * @param undo what the way back does
 * @param done what happens when nobody took it
 */
export function offerUndo(text, seconds, undo, done) {
	clearTimeout(timer);
	const end = (action) => {
		clearTimeout(timer);
		toast.hidden = true;
		toast.replaceChildren();
		action();
	};
	const wait = () => {
		timer = setTimeout(() => toast.matches(':hover, :focus-within') ? wait() : end(done), seconds * 1000);
	};
	toast.replaceChildren(el('span', {}, text), el('button', { type: 'button', class: 'quiet', id: 'undelete', title: 'Alt + Z', 'aria-keyshortcuts': 'Alt+Z',
		onclick: () => end(undo) }, 'Undo'));
	toast.hidden = false;
	wait();
}
