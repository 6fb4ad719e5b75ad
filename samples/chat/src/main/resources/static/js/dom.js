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
