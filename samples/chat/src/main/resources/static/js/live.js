import { el, icon, setText } from './dom.js';
import { growingText } from './markdown.js';
import { reader, say } from './speech.js';
import { toolRow } from './tools.js';
import { joinedNode, questionNode, thoughtNode } from './turn.js';

/** So many characters are drawn at once, so that the page never stands still. */
const PIECE = 3000;

/** Where drawing takes longer, it is done less often: so many times as long must lie between. */
const REST = 4;

/**
 * A turn while it is being answered. What arrives is drawn once for each picture that the
 * screen shows, in the order in which it arrived.
 *
 * @param question null if the turn goes on and its question is shown already
 * @param drawn called after each change, with whether the end was in sight before
 */
export function liveTurn(question, number, page) {
	const dots = el('span', { class: 'dots', role: 'img', 'aria-label': 'The model works' }, el('i'), el('i'), el('i'));
	const node = el('section', { class: 'turn live', 'aria-label': 'New turn' }, question === null ? null : questionNode(question), dots);
	const voice = reader();
	const parts = [];
	const waiting = [];
	let planned = null;
	let waits = null;
	let next = 0;
	let drained = () => {};

	say(question === null ? 'The turn goes on.' : 'Asked. The model works.');

	function plan() {
		// A window in the background has no pictures, and each window can go there.
		planned ??= { picture: requestAnimationFrame(draw), time: setTimeout(draw, 200) };
	}

	function unplan() {
		cancelAnimationFrame(planned?.picture);
		clearTimeout(planned?.time);
		planned = null;
	}

	function draw() {
		unplan();
		const begun = performance.now();
		if (begun < next) {
			plan();
			return;
		}
		flush(PIECE);
		next = begun + REST * (performance.now() - begun);
		if (waiting.length > 0) {
			plan();
		}
		else {
			drained();
		}
	}

	function flush(limit) {
		const atEnd = page.isAtEnd();
		for (let left = limit; waiting.length > 0 && left > 0;) {
			const [kind, value] = waiting.shift();
			if (kind === 'tool') {
				tool(value);
				continue;
			}
			if (kind === 'joined') {
				join(value);
				continue;
			}
			if (value.length > left) {
				waiting.unshift([kind, value.slice(left)]);
			}
			part(kind).add(value.slice(0, left));
			left -= value.length;
		}
		page.drawn(atEnd);
	}

	function part(kind) {
		const last = parts.at(-1);
		if (last?.kind === kind) {
			return last;
		}
		last?.end?.();
		const made = MAKERS[kind]();
		parts.push(made);
		dots.before(made.node);
		return made;
	}

	function join(text) {
		parts.at(-1)?.end?.();
		const said = joinedNode(text);
		parts.push({ kind: 'joined', node: said });
		dots.before(said);
	}

	function tool({ state, callId, name, data }) {
		const row = part('tools');
		if (state === 'CALLED') {
			row.called(callId, { name, data });
			say(`The tool ${name} runs.`);
		}
		else {
			(parts.findLast(({ kind, has }) => kind === 'tools' && has(callId)) ?? row).returned(callId, { name, data });
		}
	}

	let words = null;

	return {
		node,
		question,
		/** The number of the turn before it, when it began. */
		after: number,
		/** The first of the turns in whose place it stands; 0 for none. */
		hides: 0,
		isStopped: false,
		/** Settled once the application has been told to stop it; undefined as long as nobody stops it. */
		told: undefined,
		/** The id of the last event; undefined before the first one. */
		event: undefined,
		/** What to do then; null for nothing. */
		atFirstEvent: null,
		/** Not shown until there is something to see: it may be stored already. */
		isQuiet: false,
		/** Another window is being answered. */
		waits(...actions) {
			waits = el('p', { class: 'note waits' }, icon('clock'), el('span', {}, 'Waits for another window.'), ...actions);
			dots.replaceWith(waits);
			say('Waits for another window.');
		},
		isWaiting: () => waits?.isConnected ?? false,
		begun() {
			if (waits?.isConnected) {
				waits.replaceWith(dots);
				say('The model works.');
			}
		},
		hasText: () => parts.some((each) => each.kind === 'text' && each.text() !== null),
		text(delta) {
			merge('text', delta);
			voice.add(delta);
		},
		reasoning: (delta) => merge('reasoning', delta),
		tool(event) {
			waiting.push(['tool', event]);
			plan();
		},
		joined(text) {
			waiting.push(['joined', text]);
			plan();
			say('Your message has joined the answer.');
		},
		/** Gives the node of a text that is on the page already, to whoever shows the turn as it was stored. */
		known(text) {
			return parts.find((each) => each.kind === 'text' && each.text() === text)?.said();
		},
		/** All of it is there, and drawn when this is done. Where nobody looks, that needs no pieces. */
		async end() {
			voice.end();
			if (waiting.length > 0 && !document.hidden) {
				await new Promise((resolve) => {
					drained = resolve;
					plan();
				});
			}
			settle();
		},
		/** It ended without being stored, or is not known to be stored. */
		stop(text, name, ...actions) {
			settle();
			words = el('span', {}, text);
			dots.remove();
			waits?.remove();
			node.classList.remove('live');
			node.classList.add('aside');
			node.append(el('p', { class: 'note' }, icon(name), words, ...actions));
			say(text);
		},
		/** What is known by now of how it ended. */
		says(text) {
			setText(words, text);
			say(text);
		},
	};

	function merge(kind, delta) {
		const last = waiting.at(-1);
		if (last?.[0] === kind) {
			last[1] += delta;
		}
		else {
			waiting.push([kind, delta]);
		}
		plan();
	}

	function settle() {
		unplan();
		flush(Infinity);
		parts.at(-1)?.end?.();
	}
}

const MAKERS = { text: textPart, reasoning: thoughtPart, tools: toolsPart };

const OPENING = '<think>';

const CLOSING = '</think>';

/** Text, and before it what a model thinks if it says so in the text. */
function textPart() {
	const node = el('div', { class: 'part' });
	let all = '';
	let thought = null;
	let said = null;
	function show(text) {
		if (said === null && text.trim() !== '') {
			said = growingText();
			node.append(el('h2', { class: 'visually-hidden' }, 'Answer'), el('div', { class: 'bubble assistant' }, said.node));
		}
		said?.add(text);
	}
	let rest = '';
	return {
		kind: 'text',
		node,
		add(text) {
			all += text;
			rest += text;
			if (said === null && OPENING.startsWith(rest.trimStart().slice(0, OPENING.length)) && rest.trim() !== '') {
				const begun = rest.trimStart();
				if (begun.length < OPENING.length) {
					return; // more has to come before one can tell
				}
				thought ??= thoughtPart(node);
				const end = begun.indexOf(CLOSING);
				thought.set(begun.slice(OPENING.length, end < 0 ? undefined : end));
				if (end < 0) {
					return;
				}
				thought.end();
				rest = begun.slice(end + CLOSING.length).trimStart();
			}
			const ready = said === null ? rest.trimStart() : rest;
			rest = '';
			show(ready);
		},
		end() {
			show(rest);
			rest = '';
			thought?.end();
			said?.end();
		},
		said: () => said?.node,
		text: () => all.trim() === '' ? null : thought ? all.slice(all.indexOf(CLOSING) + CLOSING.length).trimStart() : all,
	};
}

function thoughtPart(place) {
	const node = thoughtNode('', true);
	place?.append(node);
	const body = node.querySelector('.text');
	let all = '';
	return {
		kind: 'reasoning',
		node,
		add(text) {
			this.set(all + text);
		},
		set(text) {
			all = text;
			body.replaceChildren(el('p', { dir: 'auto' }, all.trim()));
		},
		end() {
			node.replaceWith(thoughtNode(all.trim(), false));
		},
	};
}

function toolsPart() {
	const node = el('div', { class: 'tools' });
	const rows = new Map();
	const put = (callId, call, result) => {
		const row = toolRow(call, result);
		const before = rows.get(callId);
		before ? before.row.replaceWith(row) : node.append(row);
		rows.set(callId, { row, call });
	};
	return {
		kind: 'tools',
		node,
		has: (callId) => rows.has(callId),
		called: (callId, call) => put(callId, call, undefined),
		returned: (callId, result) => put(callId, rows.get(callId)?.call ?? { name: result.name, data: '' }, result),
	};
}
