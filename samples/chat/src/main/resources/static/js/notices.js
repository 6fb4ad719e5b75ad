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
 * Says what has happened, with a way back for some seconds.
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
	toast.replaceChildren(el('span', {}, text), button('Undo', 'quiet', () => end(undo)));
	toast.hidden = false;
	timer = setTimeout(() => end(done), seconds * 1000);
}
