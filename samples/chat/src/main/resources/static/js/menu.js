import { byId, el, icon } from './dom.js';

/* The menu of a turn or a thread: one for all of them, over the page. */

const menu = byId('turn-menu');

/** From the edge of the window, and from the button. */
const GAP = 6;

let opener;

/** The button that is pressed while its menu is open: that closes the menu before it is a click. */
let pressed = null;

/** @param items name of the picture, words, and what to do */
export function openMenu(from, label, items) {
	if (from === pressed) {
		pressed = null;
		return;
	}
	opener = from;
	menu.setAttribute('aria-label', label);
	menu.replaceChildren(...items.map(([name, words, action]) => el('button', { type: 'button', role: 'menuitem', onclick: () => {
		menu.hidePopover();
		action();
	} }, icon(name), el('span', {}, words))));
	from.closest('main, aside').append(menu); // the other one may be out of reach
	menu.showPopover();
	from.setAttribute('aria-expanded', 'true');
	place(from.getBoundingClientRect());
	menu.firstElementChild.focus();
}

function place({ left, top, bottom }) {
	const { offsetWidth: width, offsetHeight: height } = menu;
	const below = bottom + GAP;
	menu.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
	menu.style.top = `${below + height < innerHeight ? below : Math.max(GAP, top - GAP - height)}px`;
}

menu.addEventListener('keydown', (event) => {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	if (step) {
		event.preventDefault();
		const items = [...menu.children];
		items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
	}
	else if (event.key === 'Tab') {
		menu.hidePopover();
	}
});

document.addEventListener('pointerdown', ({ target }) => {
	pressed = menu.matches(':popover-open') && opener.contains(target) ? opener : null;
}, true);

menu.addEventListener('toggle', ({ newState }) => {
	if (newState === 'closed') {
		opener?.setAttribute('aria-expanded', 'false');
	}
});
