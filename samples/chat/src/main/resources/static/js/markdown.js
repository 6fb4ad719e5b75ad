import { el } from './dom.js';

/**
 * Renders the little Markdown that models write: paragraphs, lists, headings, code, bold,
 * emphasis. It builds elements and sets text, so no markup of a message comes to life.
 */
export function markdown(text) {
	const nodes = [];
	text.split(/^```(.*)$/m).forEach((part, index, parts) => {
		// Fences cut the text into: prose, language, code, language of the closing fence, prose ...
		switch (index % 4) {
			case 0: nodes.push(...prose(part)); break;
			case 2: nodes.push(code(part, parts[index - 1])); break;
		}
	});
	return nodes;
}

function code(text, language) {
	const body = el('code', {}, text.replace(/^\n|\n$/g, ''));
	return el('pre', { tabindex: '0', 'data-language': language.trim() || null }, body);
}

function prose(text) {
	return text.split(/\n\s*\n/).filter((block) => block.trim()).flatMap(block);
}

function block(text) {
	const nodes = [];
	let list = null;
	for (const line of text.replace(/^\n+|\s+$/g, '').split('\n')) {
		const item = line.match(/^\s*(?:([-*•])|\d+[.)])\s+(.*)$/);
		const heading = line.match(/^#{1,6}\s+(.*)$/);
		if (item) {
			const tag = item[1] ? 'ul' : 'ol';
			if (list?.localName !== tag) {
				list = el(tag);
				nodes.push(list);
			}
			list.append(el('li', {}, ...inline(item[2])));
			continue;
		}
		list = null;
		if (heading) {
			nodes.push(el('p', { class: 'heading' }, ...inline(heading[1])));
		}
		else if (nodes.at(-1)?.localName === 'p' && !nodes.at(-1).className) {
			nodes.at(-1).append(el('br'), ...inline(line));
		}
		else {
			nodes.push(el('p', {}, ...inline(line)));
		}
	}
	return nodes;
}

function inline(text) {
	return text.split(/(`[^`]+`|\*\*[^*]+\*\*|(?<![\w*])\*[^*\s][^*]*\*(?![\w*]))/).filter(Boolean).map((part) => {
		if (/^`.+`$/.test(part)) {
			return el('code', {}, part.slice(1, -1));
		}
		if (/^\*\*.+\*\*$/.test(part)) {
			return el('strong', {}, part.slice(2, -2));
		}
		return /^\*.+\*$/.test(part) ? el('em', {}, part.slice(1, -1)) : part;
	});
}
