import { el } from './dom.js';
import { amount } from './words.js';

/** A note that says when a field is full, since browsers cut what is pasted without a word. */
export function limitNote(field) {
	const note = el('p', { class: 'limit', role: 'status' });
	return {
		note,
		show() {
			const words = field.value.length < field.maxLength ? ''
				: `The field is full: it takes ${amount(field.maxLength)} characters. What was typed or pasted beyond that is left out.`;
			if (note.textContent !== words) {
				note.textContent = words;
			}
		},
	};
}
