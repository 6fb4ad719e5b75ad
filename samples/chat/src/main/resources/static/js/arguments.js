import { el } from './dom.js';

/*
 * The arguments of a tool call as they are stored, since they run as they are stored:
 * JSON.parse would round numbers, leave out a name that is there twice, and turn escapes
 * into characters. Only the white space between tokens is ever changed. And what a person
 * cannot see is shown by its escape, also in a result that quotes the arguments: whoever
 * talked the model into this call may want to fool the person who approves it.
 */

const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"';

const STRINGS = new RegExp(`(${STRING})`);

const TOKENS = new RegExp(`${STRING}|[[\\]{}:,]|[^\\s[\\]{}:,"]+`, 'g');

/** Controls, all that is invisible or changes the direction, unusual blanks, and marks piled on a letter. */
const HIDDEN = /((?:(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}\p{M})\p{M})+)/u;

/** Deeper levels are not indented further, or a few brackets would become megabytes. */
const DEEPEST = 12;

/** A longer value is no field. */
const LONGEST = 2000;

/** One line for each member, if it is JSON. */
export function layOut(text) {
	if (!isJson(text)) {
		return text;
	}
	let depth = 0;
	const line = () => `\n${'  '.repeat(Math.min(depth, DEEPEST))}`;
	return text.match(TOKENS).map((token, index, tokens) => {
		switch (token) {
			case '{':
			case '[':
				depth++;
				return '}]'.includes(tokens[index + 1]) ? token : token + line();
			case '}':
			case ']':
				depth--;
				return '{['.includes(tokens[index - 1]) ? token : line() + token;
			case ',':
				return token + line();
			case ':':
				return ': ';
			default:
				return token;
		}
	}).join('');
}

/**
 * The members of an object whose values are single texts, numbers or words, as they are
 * written: { name, token, value }. Null for everything else: what is nested, has a name
 * twice, or has characters that cannot be seen, is shown as JSON and not as fields.
 */
export function plainMembers(text) {
	const tokens = isJson(text) ? text.match(TOKENS) : [];
	const isFlat = tokens[0] === '{' && (tokens.length === 2 || tokens.length % 4 === 1);
	const members = [];
	for (let index = 1; isFlat && index + 3 < tokens.length; index += 4) {
		const [name, colon, token, end] = tokens.slice(index, index + 4);
		if (colon !== ':' || !',}'.includes(end) || '[{'.includes(token)) {
			return null;
		}
		members.push({ name: JSON.parse(name), token, value: token.startsWith('"') ? JSON.parse(token) : token });
	}
	const isPlain = new Set(members.map(({ name }) => name)).size === members.length
		&& members.every(({ name, value }) => !HIDDEN.test(name) && !HIDDEN.test(value) && value.length <= LONGEST);
	return isFlat && isPlain ? members : null;
}

/** For reading: each string stands alone, so that text from right to left cannot move what is around it. */
export function shown(text) {
	if (!isJson(text)) {
		return visible(text);
	}
	const nodes = new DocumentFragment();
	text.split(STRINGS).forEach((part, index, parts) => {
		const isName = parts[index + 1]?.trimStart().startsWith(':');
		nodes.append(index % 2 ? el('bdi', { dir: 'ltr', class: isName ? 'name' : 'string' }, visible(part)) : part);
	});
	return nodes;
}

/** For a field or a line: in a JSON string the escape of a character is the same as the character. */
export const escapeHidden = (text) => text.split(HIDDEN).map((part, index) => index % 2 ? escaped(part) : part).join('');

function visible(text) {
	const nodes = new DocumentFragment();
	text.split(HIDDEN).forEach((part, index) => nodes.append(index % 2 ? el('mark', {}, escaped(part)) : part));
	return nodes;
}

const escaped = (text) => text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function isJson(text) {
	try {
		JSON.parse(text);
		return true;
	}
	catch {
		return false;
	}
}
