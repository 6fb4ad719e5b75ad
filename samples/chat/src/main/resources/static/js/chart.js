import { drawn } from './dom.js';
import { amount, plural } from './words.js';

/*
 * The tokens of the turns as bars, oldest first: what was sent and found in the provider's
 * cache, what was sent, and what the model wrote. A summary is a bar of its own.
 */

const HEIGHT = 56;

const WIDEST = 14;

const WIDTH = 260;

/** @param goTo called with the number of a turn whose bar is pressed */
export function tokenChart(turns, summaries, goTo) {
	const bars = barsOf(turns, summaries);
	const most = Math.max(1, ...bars.map(({ cached, input, output }) => cached + input + output));
	const step = Math.min(WIDEST, WIDTH / Math.max(1, bars.length));
	const shapes = bars.map((bar, index) => shapesOf(bar, index * step, Math.max(1, step - (step > 3 ? 2 : 0.4)), most, goTo));
	return drawn('svg', { class: 'chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'xMinYMax', role: 'img', 'aria-label': inWords(turns, summaries, most) }, ...shapes);
}

function barsOf(turns, summaries) {
	const all = [...turns.map((turn) => ({ at: turn.number, turn: turn.number, name: `Turn ${turn.number}`, tokens: turn.tokens })),
		...summaries.map((summary) => ({ at: summary.turn + 0.5, turn: summary.turn, name: `Summary up to turn ${summary.turn}`, tokens: summary.tokens, summary: true }))];
	return all.sort((a, b) => a.at - b.at).map((bar) => ({ ...bar, cached: bar.tokens.cacheRead ?? 0,
		input: Math.max(0, bar.tokens.input - (bar.tokens.cacheRead ?? 0)), output: bar.tokens.output }));
}

function shapesOf(bar, x, width, most, goTo) {
	let y = HEIGHT;
	const rects = [['cached', bar.cached], ['in', bar.input], ['out', bar.output]].filter(([, tokens]) => tokens > 0).map(([name, tokens]) => {
		const height = Math.max(1, HEIGHT * tokens / most);
		y -= height;
		return drawn('rect', { class: name, x, y, width, height });
	});
	const words = `${bar.name}: ${amount(bar.tokens.input)} in${bar.cached > 0 ? ` (${amount(bar.cached)} from the cache)` : ''}, ${amount(bar.tokens.output)} out`;
	return drawn('g', { class: bar.summary ? 'summary' : 'turn-bar', onclick: () => goTo(bar.turn) }, drawn('title', {}, words),
		drawn('rect', { class: 'touch', x, y: 0, width, height: HEIGHT }), ...rects);
}

function inWords(turns, summaries, most) {
	return `Tokens of ${plural(turns.length, 'turn')}${summaries.length > 0 ? ` and ${summaries.length} summaries` : ''}, at most ${amount(most)}. The list below has the numbers.`;
}
