import { byId, el } from './dom.js';

/*
 * What is said to those who listen: a reply sentence by sentence while it comes, and what
 * happens without being seen.
 */

const KEPT = 20;

const SENTENCE = /^[^]*(?:[.!?…:।؟۔](?=\s)|[。！？])|^[^]*\n/;

/** Says a sentence, after those that are being said. */
export function say(text) {
	const words = text.trim();
	if (words === '') {
		return;
	}
	const place = byId('announcer');
	place.append(el('p', {}, words));
	while (place.childElementCount > KEPT) {
		place.firstElementChild.remove();
	}
}

/** Collects a reply and says what is complete of it. */
export function reader() {
	let rest = '';
	return {
		add(text) {
			rest += text;
			const complete = rest.match(SENTENCE)?.[0] ?? '';
			rest = rest.slice(complete.length);
			say(spoken(complete));
		},
		end() {
			say(spoken(rest));
			rest = '';
		},
	};
}

/** Without the signs of Markdown, which nobody wants to hear. */
const spoken = (text) => text.replace(/\]\([^)]*\)/g, '').replace(/[*_`#>|~[\]]+/g, '').replace(/^\s*[-+]\s/gm, '');
