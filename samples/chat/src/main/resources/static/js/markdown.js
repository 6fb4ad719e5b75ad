import { Lexer, Tokenizer } from '../webjars/marked/lib/marked.esm.js';
import { codeBlock } from './code.js';
import { el } from './dom.js';

/*
 * Renders GitHub's Markdown. The library reads it; the page builds elements from what it
 * has read and sets text, so no markup of a message comes to life, and nothing needs to
 * be cleaned.
 */

/** Where a link may lead. Everything else is shown as text. */
const SAFE = /^(https?:\/\/|mailto:)/i;

/** What is nested deeper is shown as it was written: a page of a thousand quotes in quotes helps nobody. */
const DEEPEST = 24;

let depth = 0;

/** The elements of a text that is complete. */
export const markdown = (text) => blocks(read(text), true);

/** For so many milliseconds a text is read, and a single paragraph of it: for some, the library would take minutes. */
const PATIENCE = 400;

const FOR_ONE = 150;

/** So long may all texts together take that cannot be read in time; for one more there is only a moment. */
let left = 3 * PATIENCE;

const MOMENT = 30;

/** No link is longer: the library looks for its end from each bracket. */
const LONGEST_LINK = 4000;

let deadline = 0;

function checkTime() {
	if (performance.now() > deadline) {
		throw new Error('This text takes too long.');
	}
}

/** Checks the time before each block and each piece of a paragraph, since the library asks for these first. */
class HurriedTokenizer extends Tokenizer {

	space(text) {
		checkTime();
		return super.space(text);
	}

	escape(text) {
		checkTime();
		return super.escape(text);
	}

	link(text) {
		return super.link(text.slice(0, LONGEST_LINK));
	}

}

/** Reads a text within a time. */
function lex(text, millis, readParagraph = (lexer, paragraph, place) => lexer.inlineTokens(paragraph, place)) {
	deadline = performance.now() + millis;
	const lexer = new Lexer({ gfm: true, breaks: true, tokenizer: new HurriedTokenizer() });
	const tokens = lexer.blockTokens(text.replace(/\r\n?/g, '\n'), lexer.tokens);
	lexer.inlineQueue.forEach(({ src, tokens: place }) => readParagraph(lexer, src, place));
	return tokens;
}

/** A text, or a paragraph of it, that cannot be read as Markdown in time is a text. */
function read(text) {
	const begun = performance.now();
	const millis = Math.max(MOMENT, Math.min(PATIENCE, left));
	let isRead = true;
	try {
		return lex(text, millis, (lexer, paragraph, place) => {
			deadline = Math.min(begun + millis, performance.now() + FOR_ONE);
			try {
				lexer.inlineTokens(paragraph, place);
			}
			catch {
				isRead = false;
				lexer.state.inLink = lexer.state.inRawBlock = false;
				place.splice(0, place.length, plain(paragraph));
			}
		});
	}
	catch {
		isRead = false;
		return [plain(text)];
	}
	finally {
		left -= isRead ? 0 : performance.now() - begun;
	}
}

const plain = (text) => ({ type: 'plain', raw: text, text });

function inside(token, make) {
	if (depth === DEEPEST) {
		return [token.raw];
	}
	depth++;
	try {
		return make();
	}
	finally {
		depth--;
	}
}

/**
 * An element for a text that grows. Only the newest block is made anew, since nothing that
 * follows can change the ones before it. One that takes long is a text until all of it is there.
 */
export function growingText() {
	const node = el('div', { class: 'text' });
	let rest = '';
	let open = [];
	let unread = null;
	return {
		node,
		add(text) {
			rest += text;
			if (unread !== null) {
				unread.append(text);
				return;
			}
			const tokens = readable(rest);
			open.forEach((each) => each.remove());
			if (tokens === null) {
				open = blocks([plain(rest)]);
				[unread] = open;
				node.append(unread);
				return;
			}
			const raw = tokens.map((token) => token.raw).join('');
			const first = raw === rest ? newest(tokens) : 0;
			node.append(...blocks(tokens.slice(0, first), true));
			open = blocks(tokens.slice(first), false);
			node.append(...open);
			rest = first > 0 ? tokens.slice(first).map((token) => token.raw).join('') : rest;
		},
		end() {
			open.forEach((each) => each.remove());
			node.append(...markdown(rest));
			open = [];
			unread = null;
			rest = '';
		},
	};
}

/** It is read again and again, so there is less time. */
function readable(text) {
	try {
		return lex(text, FOR_ONE);
	}
	catch {
		return null;
	}
}

function newest(tokens) {
	const last = tokens.findLastIndex(({ type }) => type !== 'space');
	return Math.max(0, last);
}

const blocks = (tokens, isComplete) => tokens.flatMap((token) => block(token, isComplete));

/** Below the headings of the page itself. One whose text has not come yet says nothing to anybody. */
function heading({ depth }, content) {
	return content.length === 0 ? [] : [el(`h${Math.min(6, depth + 2)}`, { dir: 'auto', class: `heading depth-${depth}` }, ...content)];
}

function block(token, isComplete) {
	switch (token.type) {
		case 'heading':
			return heading(token, inline(token.tokens));
		case 'paragraph':
			return [el('p', { dir: 'auto' }, ...inline(token.tokens))];
		case 'text':
			return [el('p', { dir: 'auto' }, ...inline(token.tokens ?? [token]))];
		case 'code':
			return [codeBlock(token.text, token.lang ?? '', isComplete)];
		case 'blockquote':
			return [el('blockquote', { dir: directionOf(token) }, ...inside(token, () => blocks(token.tokens, isComplete)))];
		case 'list':
			return [list(token, isComplete)];
		case 'table':
			return [table(token)];
		case 'plain':
			return [el('p', { dir: 'auto', class: 'plain' }, token.text)];
		case 'hr':
			return [el('hr')];
		case 'html':
			return token.text.trim() ? [el('p', { dir: 'auto', class: 'markup' }, token.text.trim())] : [];
		default:
			return [];
	}
}

/** What writes from right to left. */
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** That of its first letter. dir="auto" looks at no part that has a direction of its own, and all parts of these have one. */
function directionOf({ raw }) {
	const letter = raw.replaceAll(/\[x\]/gi, '').match(/\p{L}/u)?.[0];
	return letter === undefined ? null : RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}

function list(token, isComplete) {
	const dir = directionOf(token);
	const items = token.items.map((item) => el('li', { class: item.task ? 'task' : null }, ...content(item, isComplete)));
	return token.ordered ? el('ol', { dir, start: token.start === 1 ? null : token.start }, ...items) : el('ul', { dir }, ...items);
}

/** A text that stands alone in an item is no paragraph. */
function content(item, isComplete) {
	return inside(item, () => item.tokens.flatMap((token) => {
		switch (token.type) {
			case 'checkbox':
				return [el('input', { type: 'checkbox', disabled: true, checked: token.checked, 'aria-label': token.checked ? 'done' : 'to do' }), ' '];
			case 'text':
				return inline(token.tokens ?? [token]);
			default:
				return block(token, isComplete);
		}
	}));
}

function table(token) {
	const { header, rows, align } = token;
	const cell = (tag) => ({ tokens }, column) => el(tag, { dir: 'auto', class: align[column] ? `to-${align[column]}` : null,
		scope: tag === 'th' ? 'col' : null }, ...inline(tokens));
	return el('div', { class: 'table', tabindex: '0', role: 'group', 'aria-label': 'Table' }, el('table', { dir: directionOf(token) },
		el('thead', {}, el('tr', {}, ...header.map(cell('th')))),
		el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map(cell('td')))))));
}

const inline = (tokens) => tokens.flatMap((token) => {
	switch (token.type) {
		case 'strong':
			return [el('strong', {}, ...inside(token, () => inline(token.tokens)))];
		case 'em':
			return [el('em', {}, ...inside(token, () => inline(token.tokens)))];
		case 'del':
			return [el('del', {}, ...inside(token, () => inline(token.tokens)))];
		case 'codespan':
			return [el('code', {}, token.text)];
		case 'br':
			return [el('br')];
		case 'link':
			return link(token.href, inline(token.tokens));
		case 'image':
			return link(token.href, [token.text || 'Image']); // pictures of other sites would tell them who reads
		case 'html':
			return [/^<br\s*\/?>$/i.test(token.text) ? el('br') : token.text];
		case 'escape':
			return [token.text];
		case 'plain':
			return [el('span', { class: 'plain' }, token.text)];
		default:
			return token.tokens ? inline(token.tokens) : [unescaped(token.text)];
	}
});

function link(href, content) {
	return SAFE.test(href) ? [el('a', { href, title: href, target: '_blank', rel: 'noopener noreferrer' }, ...content)] : content;
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'', nbsp: '\u00a0', hellip: '…', mdash: '—', ndash: '–', copy: '©', times: '×', rarr: '→', larr: '←' };

const unescaped = (text) => text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
	const point = decimal ? Number(decimal) : hex ? parseInt(hex, 16) : null;
	return point === null ? Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : whole : point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
});
