import { byId } from './dom.js';
import { local } from './storage.js';

/*
 * The list of threads is a column on a wide window and a drawer on a narrow one; the
 * timeline is a column on a wide window and a sheet on others.
 */

const app = byId('app');
const roomForThreads = matchMedia('(min-width: 800px)');
const roomForTimeline = matchMedia('(min-width: 1180px)');

const threads = panel('sidebar', 'open-sidebar', roomForThreads);
const timeline = panel('timeline', 'toggle-timeline', roomForTimeline);

function panel(id, buttonId, room) {
	const node = byId(id);
	const button = byId(buttonId);
	return {
		room,
		isOpen: () => app.classList.contains(`${id}-open`),
		set(open, moveFocus) {
			app.classList.toggle(`${id}-open`, open);
			button.setAttribute('aria-expanded', String(open));
			node.inert = !open;
			if (moveFocus) {
				(open ? node.querySelector('button') : button).focus();
			}
			update();
		},
	};
}

/** What lies under a drawer cannot be reached until the drawer is closed. */
function update() {
	const covered = [threads, timeline].some((each) => each.isOpen() && !each.room.matches);
	app.classList.toggle('covered', covered);
	byId('main').inert = covered;
}

export function closeDrawers() {
	for (const each of [threads, timeline]) {
		if (each.isOpen() && !each.room.matches) {
			each.set(false, true);
		}
	}
}

/** What is open over the page belongs to the thread for which it was opened. */
export function closeDialogs() {
	document.querySelectorAll('dialog[open]').forEach((each) => each.close());
	document.querySelectorAll(':popover-open').forEach((each) => each.hidePopover());
}

export function showTimelinePanel() {
	if (!timeline.isOpen()) {
		toggleTimeline();
	}
}

export function toggleTimeline() {
	const open = !timeline.isOpen();
	if (roomForTimeline.matches) {
		local.set('timeline', open ? 'open' : 'closed');
	}
	timeline.set(open, !roomForTimeline.matches);
}

function arrange() {
	threads.set(roomForThreads.matches, false);
	timeline.set(roomForTimeline.matches && local.get('timeline') !== 'closed', false);
}

byId('open-sidebar').addEventListener('click', () => threads.set(true, true));
byId('close-sidebar').addEventListener('click', () => threads.set(false, true));
byId('toggle-timeline').addEventListener('click', toggleTimeline);
byId('close-timeline').addEventListener('click', toggleTimeline);
byId('backdrop').addEventListener('click', closeDrawers);
document.addEventListener('keydown', (event) => {
	if (event.key === 'Escape' && app.classList.contains('covered') && !document.querySelector(':popover-open')) {
		event.preventDefault();
		closeDrawers();
	}
});
roomForThreads.addEventListener('change', arrange);
roomForTimeline.addEventListener('change', arrange);
arrange();
