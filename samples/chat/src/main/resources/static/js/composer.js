import { byId } from './dom.js';
import * as kept from './kept.js';
import { limitNote } from './limit.js';
import { forget, ofClosedWindows, own } from './windows.js';

/*
 * The question field. What is typed there belongs to its thread, also over a reload, and
 * to this window: what is sent in another one does not touch it.
 */

const question = byId('question');

const ofThread = (id) => `draft:${encodeURIComponent(id)}`;

const drafts = {
	read: (id) => kept.read(own(ofThread(id))) ?? '',
	write: (id, text) => kept.write(own(ofThread(id)), text === '' ? null : text),
};

let thread;

/** Whether something was typed here since the thread is shown: it may be empty on purpose. */
let isTouched = false;

/** @param actions send(text), stop(), last(): the question before, isBusy() */
export function compose(actions) {
	const submit = () => {
		const text = question.value;
		if (text.trim() !== '' && actions.send(text)) {
			setDraft('');
		}
	};
	question.addEventListener('input', () => {
		isTouched = true;
		drafts.write(thread, question.value);
		fit();
	});
	question.addEventListener('keydown', (event) => {
		if (event.isComposing) {
			return;
		}
		if (event.key === 'Enter' && !event.shiftKey) {
			event.preventDefault();
			submit();
		}
		else if (event.key === 'ArrowUp' && question.value === '') {
			const last = actions.last();
			if (last) {
				event.preventDefault();
				setDraft(last);
			}
		}
	});
	byId('composer').addEventListener('submit', (event) => {
		event.preventDefault();
		submit();
	});
	byId('stop').addEventListener('click', () => {
		actions.stop();
		question.focus();
	});
	document.addEventListener('keydown', (event) => {
		if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented && actions.isBusy() && !document.querySelector('dialog[open], :popover-open')) {
			actions.stop();
		}
	});
	// Its own height is what fit() changes: only another width is news.
	let width = 0;
	new ResizeObserver(() => {
		if (width !== question.offsetWidth) {
			width = question.offsetWidth;
			fit();
		}
	}).observe(question);
}

/** Shows the draft of a thread. */
export function composeFor(id) {
	isTouched = false;
	if (thread !== id) {
		thread = id;
		question.value = drafts.read(id);
		fit();
	}
}

/**
 * What was typed in a window that is closed is had back, unless something was typed here.
 * @param isOpened whether the thread was opened now: where nobody knows which windows are closed, the draft of any
 * other one is had then
 */
export function adoptDraft(id, isOpened) {
	const take = (name) => takeDraft(id, name);
	kept.read(ofAllWindows(id)) === null || take(ofAllWindows(id));
	return ofClosedWindows(ofThread(id), take, isOpened ? take : undefined);
}

/** A former version of this page had one for all windows. */
const ofAllWindows = (id) => `draft:${id}`;

function takeDraft(id, name) {
	if (id === thread && question.value === '' && !isTouched) {
		setDraft(kept.read(name) ?? '');
		kept.write(name, null);
	}
}

export function setDraft(text) {
	isTouched = true;
	question.value = text;
	drafts.write(thread, text);
	fit();
}

/** Puts a text before what is written in a thread, which may not be shown any more. Who writes elsewhere goes on there. */
export function putBackIn(id, text) {
	const before = (draft) => draft.trim() === '' ? text : `${text}\n${draft}`;
	if (id === thread) {
		setDraft(before(question.value));
		document.activeElement?.matches('input, textarea') || question.focus();
	}
	else {
		drafts.write(id, before(drafts.read(id)));
	}
}

/** Those of all windows. */
export function forgetDraft(id) {
	forget(ofThread(id));
	kept.write(ofAllWindows(id), null);
}

/** What is sent while an answer runs waits for it. */
export function showBusy(isBusy) {
	const label = isBusy ? 'Send when this answer is there' : 'Send';
	byId('send').ariaLabel = label;
	byId('send').title = label;
	byId('stop').hidden = !isBusy;
	byId('send').disabled = question.value.trim() === '';
}

export const focusQuestion = () => question.focus();

const limit = limitNote(question);
byId('composer').before(limit.note);

function fit() {
	limit.show();
	question.style.height = 'auto';
	question.style.height = `${question.scrollHeight}px`;
	byId('send').disabled = question.value.trim() === '';
}
