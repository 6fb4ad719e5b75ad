/* global Prism */
import { copyButton, el } from './dom.js';

/*
 * Blocks of code. The library cuts code into tokens; the page builds elements from them.
 */

/** The parts of the library that a language needs, in order, beside those that are always there. */
const PARTS = {
	bash: ['bash'],
	c: ['c'],
	cpp: ['c', 'cpp'],
	csharp: ['csharp'],
	diff: ['diff'],
	docker: ['docker'],
	go: ['go'],
	groovy: ['groovy'],
	java: ['java'],
	json: ['json'],
	kotlin: ['kotlin'],
	markdown: ['markdown'],
	properties: ['properties'],
	python: ['python'],
	ruby: ['ruby'],
	rust: ['rust'],
	sql: ['sql'],
	typescript: ['typescript'],
	yaml: ['yaml'],
	javascript: [],
	css: [],
	markup: [],
};

const NAMES = {
	sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', 'c++': 'cpp', cs: 'csharp', 'c#': 'csharp', dockerfile: 'docker',
	golang: 'go', gradle: 'groovy', js: 'javascript', jsx: 'javascript', mjs: 'javascript', kt: 'kotlin', kts: 'kotlin', md: 'markdown',
	ini: 'properties', py: 'python', rb: 'ruby', rs: 'rust', ts: 'typescript', tsx: 'typescript', yml: 'yaml', html: 'markup', xml: 'markup',
	svg: 'markup', jsonc: 'json',
};

/** Longer code has no colours: the page must not stand still. */
const LONGEST = 20_000;

/** @param isComplete whether nothing more comes, so that colours are worth it */
export function codeBlock(text, info, isComplete) {
	const label = info.trim().split(/\s/)[0];
	const code = el('code', {}, text);
	if (isComplete && text.length <= LONGEST) {
		colour(code, text, languageOf(label));
	}
	return el('figure', { class: 'code', dir: 'ltr' },
		el('figcaption', {}, el('span', {}, label || 'code'), copyButton('Copy the code', () => text)),
		el('pre', { tabindex: '0', role: 'group', 'aria-label': label ? `Code, ${label}` : 'Code' }, code));
}

function languageOf(label) {
	const name = label.toLowerCase();
	return NAMES[name] ?? name;
}

async function colour(code, text, language) {
	if (!Object.hasOwn(PARTS, language)) {
		return;
	}
	try {
		for (const part of PARTS[language]) {
			await import(`../webjars/prismjs/components/prism-${part}.min.js`);
		}
		code.replaceChildren(...tokens(Prism.tokenize(text, Prism.languages[language])));
	}
	catch {
		// Without colours it can be read as well.
	}
}

const tokens = (stream) => [stream].flat().map((token) => typeof token === 'string' ? token
	: el('span', { class: ['token', token.type, token.alias ?? []].flat().join(' ') }, ...tokens(token.content)));
