/** Makes an element. Text is always set as text, never parsed as HTML. */
export function el(tag, properties = {}, ...children) {
	return filled(document.createElement(tag), properties, children);
}

/** Makes an element of a drawing. */
export function drawn(tag, properties = {}, ...children) {
	return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children);
}

function filled(element, properties, children) {
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
	element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}

export function icon(name) {
	return drawn('svg', { 'aria-hidden': 'true' }, drawn('use', { href: `#i-${name}` }));
}

/** A button with a picture, and a name for those who do not see it. */
export function iconButton(name, label, onclick, style = 'icon-button small') {
	return el('button', { type: 'button', class: style, 'aria-label': label, title: label, onclick }, icon(name));
}

export const button = (label, style, onclick) => el('button', { type: 'button', class: style, onclick }, label);

/** A button that puts a text into the clipboard, and says so. */
export function copyButton(label, text) {
	const node = iconButton('copy', label, async () => {
		await navigator.clipboard.writeText(text());
		node.replaceChildren(icon('check'));
		node.title = 'Copied';
		setTimeout(() => {
			node.replaceChildren(icon('copy'));
			node.title = label;
		}, 1500);
	});
	return node;
}

/**
 * Gives an element these children. Those that it has stay where they are, and what the
 * keyboard is on is never moved: whatever is taken out of the page loses the focus.
 */
export function arrange(parent, nodes) {
	const wanted = new Set(nodes);
	[...parent.childNodes].filter((node) => !wanted.has(node)).forEach((node) => node.remove());
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

export const motion = () => matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
