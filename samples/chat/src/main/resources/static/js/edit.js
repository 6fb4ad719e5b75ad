import { button, el } from './dom.js';
import { limitNote } from './limit.js';

/**
 * A question that is being edited in its place, by the keys of the question field.
 * @param send gives whether the text could be sent
 * @param close called when it is sent, or when nothing shall change
 */
export function editForm(text, send, close) {
	const field = el('textarea', { class: 'edit-text', rows: '1', 'aria-label': 'Your question, edited', dir: 'auto', maxlength: '20000', enterkeyhint: 'send' });
	const submit = () => {
		if (field.value.trim() !== '' && send(field.value)) {
			close();
		}
	};
	field.value = text;
	const limit = limitNote(field);
	field.addEventListener('input', () => {
		limit.show();
		fit(field);
	});
	field.addEventListener('keydown', (event) => {
		if (event.isComposing) {
			return;
		}
		if (event.key === 'Enter' && !event.shiftKey) {
			event.preventDefault();
			submit();
		}
	});
	const form = el('form', { class: 'edit' }, field, limit.note, el('div', { class: 'edit-actions' }, button('Cancel', 'quiet', close),
		el('button', { type: 'submit', class: 'primary' }, 'Send')));
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		submit();
	});
	form.addEventListener('keydown', (event) => {
		if (event.key === 'Escape' && !event.isComposing) {
			event.preventDefault();
			event.stopPropagation(); // an answer that is being written goes on
			close();
		}
	});
	return {
		form,
		focus() {
			fit(field);
			field.focus();
			form.scrollIntoView({ block: 'nearest' });
			field.setSelectionRange(text.length, text.length);
		},
	};
}

function fit(field) {
	field.style.height = 'auto';
	field.style.height = `${field.scrollHeight + 2}px`;
}
