import { Lexer } from '../webjars/marked/lib/marked.esm.js';
import { codeBlock } from './code.js';
import { el } from './dom.js';

/*
 * Renders GitHub's Markdown. The library reads it; the page builds elements from what it
 * has read and sets text, so no markup of a message comes to life, and nothing needs to
 * be cleaned.
 */

const OPTIONS = { gfm: true, breaks: true };

/** Where a link may lead. Everything else is shown as text. */
const SAFE = /^(https?:\/\/|mailto:)/i;

/** What is nested deeper is shown as it was written: a page of a thousand quotes in quotes helps nobody. */
const DEEPEST = 24;

let depth = 0;

/** The elements of a text that is complete. */
export const markdown = (text) => blocks(read(text), true);

/** A text that cannot be read as Markdown is a text. */
function read(text) {
	try {
		return Lexer.lex(text, OPTIONS);
	}
	catch {
		return [{ type: 'text', raw: text, text }];
	}
}

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
 * follows can change the ones before it.
 */
export function growingText() {
	const node = el('div', { class: 'text' });
	let rest = '';
	let open = [];
	return {
		node,
		add(text) {
			rest += text;
			const tokens = read(rest);
			const raw = tokens.map((token) => token.raw).join('');
			const first = raw === rest ? newest(tokens) : 0;
			open.forEach((each) => each.remove());
			node.append(...blocks(tokens.slice(0, first), true));
			open = blocks(tokens.slice(first), false);
			node.append(...open);
			rest = first > 0 ? tokens.slice(first).map((token) => token.raw).join('') : rest;
		},
		end() {
			open.forEach((each) => each.remove());
			node.append(...markdown(rest));
			open = [];
			rest = '';
		},
	};
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
			return [el('blockquote', { dir: 'auto' }, ...inside(token, () => blocks(token.tokens, isComplete)))];
		case 'list':
			return [list(token, isComplete)];
		case 'table':
			return [table(token)];
		case 'hr':
			return [el('hr')];
		case 'html':
			return token.text.trim() ? [el('p', { dir: 'auto', class: 'markup' }, token.text.trim())] : [];
		default:
			return [];
	}
}

function list(token, isComplete) {
	const items = token.items.map((item) => el('li', { dir: 'auto', class: item.task ? 'task' : null }, ...content(item, isComplete)));
	return token.ordered ? el('ol', { dir: 'auto', start: token.start === 1 ? null : token.start }, ...items) : el('ul', { dir: 'auto' }, ...items);
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

function table({ header, rows, align }) {
	const cell = (tag) => ({ tokens }, column) => el(tag, { dir: 'auto', class: align[column] ? `to-${align[column]}` : null,
		scope: tag === 'th' ? 'col' : null }, ...inline(tokens));
	return el('div', { class: 'table', tabindex: '0', role: 'group', 'aria-label': 'Table' }, el('table', {},
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
