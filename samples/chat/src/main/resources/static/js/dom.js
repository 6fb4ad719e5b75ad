/** Makes an element. Text is always set as text, never parsed as HTML. */
export function el(tag, properties = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (value === undefined || value === null || value === false) {
			continue;
		}
		if (name.startsWith('on')) {
			element.addEventListener(name.slice(2), value);
		}
		else {
			element.setAttribute(name, value === true ? '' : value);
		}
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

export function icon(name) {
	const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
	const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
	use.setAttribute('href', `#i-${name}`);
	svg.setAttribute('aria-hidden', 'true');
	svg.append(use);
	return svg;
}

/**
 * Gives an element these children. Those that it has stay where they are, and what the
 * keyboard is on is never moved: whatever is taken out of the page loses the focus.
 */
export function arrange(parent, nodes) {
	[...parent.childNodes].filter((node) => !nodes.includes(node)).forEach((node) => node.remove());
	const fixed = Math.max(0, nodes.findIndex((node) => node.contains(document.activeElement)));
	if (nodes.length > 0 && nodes[fixed].parentNode !== parent) {
		parent.append(nodes[fixed]);
	}
	for (let index = fixed - 1; index >= 0; index--) {
		if (nodes[index].nextSibling !== nodes[index + 1]) {
			nodes[index + 1].before(nodes[index]);
		}
	}
	for (let index = fixed + 1; index < nodes.length; index++) {
		if (nodes[index].previousSibling !== nodes[index - 1]) {
			nodes[index - 1].after(nodes[index]);
		}
	}
}

/** Leaves a text that is there already alone, so that somebody can select it. */
export function setText(element, text) {
	if (element.textContent !== text) {
		element.textContent = text;
	}
}

export const byId = (id) => document.getElementById(id);

export function duration(millis) {
	return millis < 1000 ? `${millis} ms` : `${(millis / 1000).toFixed(1)} s`;
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

export function ago(instant) {
	const seconds = (new Date(instant) - Date.now()) / 1000;
	const units = [['day', 86400], ['hour', 3600], ['minute', 60]];
	const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
	return unit === 'second' ? 'just now' : relative.format(Math.round(seconds / size), unit);
}

export function plural(count, word) {
	return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}
