import { escapeHidden, layOut, shown } from './arguments.js';
import { arrange, button, byId, copyButton, el } from './dom.js';
import { keeps } from './keeping.js';
import { markdown } from './markdown.js';
import { STATES, amount, duration, exactTime, plural } from './words.js';

/*
 * Everything that is stored of one turn: its messages as they are, what was sent before
 * them, the rounds, what hooks and people decided, and the attributes of the session.
 */

const dialog = byId('inspector');

const ROLES = { user: 'User', assistant: 'Model', tool: 'Tool', system: 'System' };

const TABS = [['Messages', messagesTab], ['Context', contextTab], ['Rounds', roundsTab], ['Decisions', decisionsTab], ['State', stateTab]];

let chosen = 'Messages';

/** How many turns were asked for: what comes late of another one is not shown. */
let asked = 0;

/**
 * Opens the inspector.
 * @param read gives the turn with this number; undefined if it cannot be read
 * @param view the thread as it is shown
 */
export async function inspect(number, read, view) {
	const mine = ++asked;
	const place = byId('inspector-body');
	byId('inspector-title').textContent = `Turn ${number}`;
	place.replaceChildren(el('p', { class: 'loading', role: 'status' }, 'Reading the turn …'));
	if (!dialog.open) {
		dialog.showModal();
	}
	const { before } = neighbours(number, view);
	const [detail, previous] = await Promise.all([read(number), before > 0 ? read(before, true) : null]);
	if (mine !== asked) {
		return;
	}
	if (detail) {
		showTurn(place, number, detail, previous, { read, view });
	}
	else {
		place.replaceChildren(el('p', { class: 'loading' }, 'The turn cannot be read now.'));
	}
}

/** The turns that are shown beside a turn; the first one that is shown knows only its parent, unless that was deleted. */
function neighbours(number, { turns, deleted }) {
	const index = turns.findIndex((turn) => turn.number === number);
	const before = (turns[index - 1]?.number ?? turns[index]?.parent) || 0;
	return { before: before > deleted ? before : 0, after: turns[index + 1]?.number ?? 0 };
}

function showTurn(place, number, detail, previous, { read, view }) {
	const panel = el('div', { class: 'inspector-panel', role: 'tabpanel', tabindex: '0' });
	const choose = (name) => {
		chosen = name;
		tabs.forEach((tab) => tab.setAttribute('aria-selected', String(tab.textContent === name)));
		tabs.forEach((tab) => { tab.tabIndex = tab.textContent === name ? 0 : -1; });
		panel.setAttribute('aria-label', name);
		panel.replaceChildren(...TABS.find(([each]) => each === name)[1](detail, previous, view));
	};
	const tabs = TABS.map(([name]) => el('button', { type: 'button', role: 'tab', onclick: () => choose(name) }, name));
	const bar = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Parts of the turn' }, ...tabs);
	bar.addEventListener('keydown', ({ key }) => {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
		if (step) {
			const next = tabs[(tabs.findIndex((tab) => tab.tabIndex === 0) + step + tabs.length) % tabs.length];
			choose(next.textContent);
			next.focus();
		}
	});
	const { before, after } = neighbours(number, view);
	const go = (label, to) => view.turns.some((turn) => turn.number === to) ? button(label, 'quiet', () => inspect(to, read, view)) : null;
	arrange(place, [el('p', { class: 'inspector-facts' }, factsOf(detail.turn)),
		el('div', { class: 'inspector-way' }, ...[go('Turn before', before), go('Turn after', after)].filter(Boolean)), bar, panel]);
	choose(chosen);
}

function factsOf(turn) {
	return [STATES[turn.status] ?? turn.status, exactTime(turn.startedAt), turn.millis === null ? null : duration(turn.millis), turn.model,
		turn.agent ? `agent ${turn.agent}` : null, turn.failure].filter(Boolean).join(' · ');
}

function messagesTab({ items }) {
	return items.length === 0 ? [nothing('No messages are stored of this turn.')] : items.map((item) => {
		const message = JSON.parse(item.json);
		return el('article', { class: 'stored' },
			el('header', {}, el('h3', {}, ROLES[item.role] ?? item.role),
				el('span', {}, `no. ${amount(item.sequence)} · ${exactTime(item.at)} · ${plural(item.tokens, 'token')} (estimated)`),
				copyButton('Copy the JSON', () => item.json)),
			...inFull(message, item.role), asJson(item.json, 'As it is stored'));
	});
}

/** The text of a message, wherever the stored form has it. */
function inFull(message, role) {
	const text = message.text ?? message.content;
	if (typeof text !== 'string' || text === '') {
		return [];
	}
	return [role === 'tool' ? el('pre', { class: 'raw' }, el('code', {}, shown(text))) : el('div', { class: 'text' }, ...markdown(text))];
}

/** A summary is sent as a question for it and its answer. */
const SUMMARY_PAIR = 2;

/** What the model was sent before the turn's own messages, and what is new in it. */
function contextTab(detail, previous) {
	const { sent, system, systemDigest, tools } = detail;
	const parts = [el('p', { class: 'why' }, 'What the model was sent in the first call of this turn, before the question.')];
	if (!sent) {
		return [...parts, nothing('The model was not called.')];
	}
	parts.push(...section('System text', system ? el('div', { class: 'text' }, ...markdown(system))
		: nothing(systemDigest ? `It is not kept. Its SHA-256 is ${systemDigest}.` : 'There was none.')));
	const names = Object.keys(tools ?? {});
	parts.push(...section('Tools', names.length > 0 ? el('p', {}, ...names.flatMap((name) => [el('code', { title: tools[name] }, name), ' ']))
		: nothing('None were offered.')));
	const before = new Set([...(previous?.sent?.messages ?? []), ...(previous?.turn.messages ?? [])].map(identity));
	const isSummary = (index) => Boolean(detail.turn.history?.summarized) && index < SUMMARY_PAIR;
	const rows = sent.messages.map((message, index) => row(message, previous && !before.has(identity(message)), isSummary(index)));
	const now = new Set(sent.messages.map(identity));
	const left = previous?.sent ? [...previous.sent.messages, ...previous.turn.messages].filter((message) => !now.has(identity(message))).length : 0;
	const changes = previous?.sent ? `${changesIn(rows)}${left > 0 ? `${plural(left, 'message')} of before ${left === 1 ? 'is' : 'are'} no longer sent.` : ''}` : '';
	return [...parts, ...section(`History: ${plural(sent.messages.length, 'message')}`, changes ? el('p', { class: 'why' }, changes) : null,
		el('ol', { class: 'sent' }, ...rows),
		sent.complete ? null : nothing(`${plural(sent.missing, 'message')} ${sent.missing === 1 ? 'was' : 'were'} deleted since.`))];
}

function changesIn(rows) {
	const fresh = rows.filter((node) => node.classList.contains('fresh')).length;
	return fresh > 0 ? `${plural(fresh, 'message')} marked + ${fresh === 1 ? 'was' : 'were'} not in the turn before. ` : 'Nothing was added but the turn before. ';
}

const identity = ({ role, text, calls, results }) => JSON.stringify([role, text, calls.map(({ name, data }) => [name, data]), results.map(({ name, data }) => [name, data])]);

/** @param isSummary nobody has said it: it stands for the turns before */
function row(message, isFresh, isSummary) {
	return el('li', { class: isFresh ? 'fresh' : null }, el('details', {}, el('summary', {},
		el('b', {}, isSummary ? 'Summary' : ROLES[message.role] ?? message.role), el('span', { dir: 'auto' }, line(message))), inside(message)));
}

function line(message) {
	const tools = [...message.calls.map((call) => `${call.name}()`), ...message.results.map((result) => `${result.name}: ${result.data}`)];
	return escapeHidden((message.text || tools.join(', ')).slice(0, 160));
}

function inside(message) {
	const tools = [...message.calls, ...message.results];
	return el('div', { class: 'text' }, ...(message.text ? markdown(message.text) : []),
		...tools.flatMap(({ name, data }) => [el('p', {}, el('code', {}, name)), el('pre', { class: 'raw' }, el('code', {}, shown(layOut(data))))]));
}

function roundsTab({ turn }) {
	const rounds = turn.roundList ?? [];
	if (rounds.length === 0) {
		return [nothing('The model was not called.')];
	}
	const cell = (value) => el('td', {}, value);
	const rows = rounds.map(({ model, tokens }, index) => el('tr', {}, el('th', { scope: 'row' }, String(index + 1)), cell(model ?? 'unknown'),
		cell(amount(tokens.input)), cell(amount(tokens.output)), cell(amount(tokens.cacheRead)), cell(share(tokens))));
	return [el('div', { class: 'table', tabindex: '0', role: 'group', 'aria-label': 'Rounds' }, el('table', {},
		el('thead', {}, el('tr', {}, ...['Round', 'Model', 'Tokens in', 'Tokens out', 'From the cache', 'Share'].map((name) => el('th', { scope: 'col' }, name)))),
		el('tbody', {}, ...rows))),
		el('p', { class: 'why' }, 'As the provider counts. A round is one call of the model.')];
}

const share = ({ input, cacheRead }) => input > 0 && cacheRead > 0 ? `${Math.round(100 * cacheRead / input)} %` : '–';

function decisionsTab({ turn, calls = [] }) {
	const verdicts = (turn.verdicts ?? []).map(({ hook, phase, kind, reason }) =>
		el('li', {}, el('b', {}, hook), ` ${kind.toLowerCase()} at ${phase.toLowerCase().replaceAll('_', ' ')}${reason ? `: ${reason}` : ''}`));
	const ledger = calls.map((call) => el('li', {}, el('b', {}, call.title ?? call.tool), ` is ${call.status.toLowerCase()}, asked ${exactTime(call.requestedAt)}`,
		el('ul', {}, ...call.decisions.map(({ verb, by, at, reason, standing }) =>
			el('li', {}, `${verb.toLowerCase()}${standing ? ' (always)' : ''} by ${by}, ${exactTime(at)}${reason ? `: ${reason}` : ''}`)))));
	return [...section('Hooks', verdicts.length > 0 ? el('ul', {}, ...verdicts) : nothing('No hook has changed or refused anything.')),
		...section('Tool calls that needed consent', ledger.length > 0 ? el('ul', {}, ...ledger) : nothing('None.'))];
}

function stateTab({ turn, branch, parent, parameters, before, after }, previous, { attributes, thread, deleted }) {
	return [...section('The turn', list([['Id', turn.id], ['Branch', branch], ['Follows turn', parent === 0 ? 'none' : String(parent)],
		['Parameters', null, parameters], ['Attributes before', null, before], ['Attributes after', null, after]])),
	...section('The session now', list([['Thread', thread?.id], ['Keeps', thread ? keeps(thread.kept) : null], ['Turns deleted', deleted === 0 ? null : String(deleted)],
		['Attributes', null, attributes ?? {}]]))];
}

const list = (rows) => el('dl', { class: 'fields' }, ...rows.flatMap(([name, text, object]) => [el('dt', {}, name),
	el('dd', {}, text ?? (Object.keys(object ?? {}).length === 0 ? 'none' : el('pre', { class: 'raw' }, el('code', {}, shown(JSON.stringify(object, null, 2))))))]));

const section = (title, ...content) => [el('h3', {}, title), ...content.filter(Boolean)];

const nothing = (words) => el('p', { class: 'nothing' }, words);

const asJson = (json, label) => el('details', { class: 'as-json' }, el('summary', {}, label),
	el('pre', { class: 'raw', tabindex: '0', dir: 'ltr', role: 'group', 'aria-label': label }, el('code', {}, shown(layOut(json)))));

byId('close-inspector').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
