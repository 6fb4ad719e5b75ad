import { byId, el } from './dom.js';
import { toggleTimeline } from './panels.js';
import { local } from './storage.js';

/* Keys, and the window that lists them. */

const dialog = byId('shortcuts');

const KEYS = [
	['Enter', 'sends the message'],
	['Shift + Enter', 'begins a new line'],
	['↑', 'in an empty field: brings the last question back'],
	['Escape', 'stops the answer, or closes what is open'],
	['Alt + N', 'new thread'],
	['Alt + U', 'takes the last turn back'],
	['Alt + R', 'brings back what was taken back'],
	['Alt + Z', 'brings back the thread that was just deleted'],
	['Alt + T', 'shows or hides the timeline'],
	['?', 'shows these keys'],
];

/** Fields undo what is typed by keys of their own. */
const BUTTONS = { KeyU: 'undo', KeyR: 'redo', KeyZ: 'undelete' };

const isOn = el('input', { type: 'checkbox', checked: local.get('question-mark') !== 'off' });
isOn.addEventListener('change', () => local.set('question-mark', isOn.checked ? 'on' : 'off'));

byId('shortcut-list').append(...KEYS.flatMap(([key, what]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)]));
byId('shortcut-option').append(isOn, el('span', {}, 'Open this list by ?'));

byId('show-shortcuts').addEventListener('click', () => dialog.showModal());
byId('close-shortcuts').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());

document.addEventListener('keydown', (event) => {
	if (document.querySelector('dialog[open]')) {
		return;
	}
	if (event.altKey && !event.ctrlKey && event.code === 'KeyN') {
		event.preventDefault();
		byId('new-thread').click();
	}
	else if (event.altKey && !event.ctrlKey && event.code === 'KeyT') {
		event.preventDefault();
		toggleTimeline();
	}
	else if (event.altKey && !event.ctrlKey && BUTTONS[event.code]) {
		event.preventDefault();
		byId(BUTTONS[event.code])?.click();
	}
	else if (event.key === '?' && isOn.checked && !event.target.closest('input, textarea, select')) {
		event.preventDefault();
		dialog.showModal();
	}
});
