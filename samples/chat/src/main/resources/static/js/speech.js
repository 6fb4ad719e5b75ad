import { byId, el } from './dom.js';

/*
 * What is said to those who listen: a reply sentence by sentence while it comes, and what
 * happens without being seen.
 */

const KEPT = 20;

/** Up to the last end of a sentence. */
const SENTENCES = /^[^]*(?:[.!?…:।؟۔](?=\s)|[。！？\n])/;

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
	/** The end of the rest: a sign at which a sentence ends, if white space follows. */
	let last = '';
	return {
		/** The rest has no end of a sentence, so it is not looked through again. */
		add(text) {
			const end = (last + text).match(SENTENCES)?.[0].length;
			if (end === undefined) {
				rest += text;
			}
			else {
				say(spoken(rest + text.slice(0, end - last.length)));
				rest = text.slice(end - last.length);
			}
			last = (last + text).slice(-1);
		},
		end() {
			say(spoken(rest));
			rest = '';
			last = '';
		},
	};
}

/** Without the signs of Markdown, which nobody wants to hear. */
const spoken = (text) => text.replace(/\]\([^)]*\)/g, '').replace(/[*_`#>|~[\]]+/g, '').replace(/^\s*[-+]\s/gm, '');
