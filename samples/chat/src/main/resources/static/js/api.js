/**
 * The application's REST API. Every failure is an Error with a sentence for a person;
 * isAway says that the application does not answer at all. If it does, status is that of
 * its answer, and wait how long it wants to hear nothing more, in milliseconds; 0 if it does not say.
 */

const threads = 'api/threads';

const path = (id, rest = '') => `${threads}/${encodeURIComponent(id)}${rest}`;

export const about = () => json('api/about');

let csrf = null;

let loginHandlers = { missing() {}, changed() {} };

/** Who is signed in, if anybody: name, decides, csrf. */
export const user = () => json('api/user');

/** Requests carry the token of this user from now on. */
export function actAs(user) {
	({ csrf } = user);
}

/** Gives whether there is a user with this name and password. */
export async function login(name, password) {
	actAs(await user()); // an old token is of no use
	return (await request('api/login', { ...send('POST', { name, password }), allow: 401 })).ok;
}

export const logout = () => request('api/logout', { ...send('POST'), allow: 401 });

/** @param handlers what to do: missing() if nobody is signed in any more, changed() if it was done anew */
export function onLogin(handlers) {
	loginHandlers = handlers;
}


export const list = (offset, limit) => json(`${threads}?offset=${offset}&limit=${limit}`);

/** The calls that wait for a person, in all threads. */
export const inbox = () => json('api/inbox');

/** Decides on a call in the thread of another user. */
export const decideOfOther = async ({ owner, thread, takesBack }, call, decision) => (await request(
	`api/inbox/${[owner, thread].map(encodeURIComponent).join('/')}/${takesBack ? 'rewind' : 'calls'}/${encodeURIComponent(call.id)}`,
	send('POST', { digest: call.digest, ...decision }))).json();

/** The newest turns before this one; null if nothing is stored under this id yet. */
export const read = (id, before) => found(path(id, before === undefined ? '' : `?before=${before}`));

/** What tells whether anything has changed; null if the thread is gone. */
export const head = (id) => found(path(id, '/head'));

export const rename = (id, title) => request(path(id, '/title'), send('PUT', { title }));

/** @param kept { turns }, the number of the newest ones to keep, or { everything: true } */
export const keep = (id, kept) => request(path(id, '/retention'), send('PUT', kept));

/** Everything that is stored of a turn. */
export const turn = (id, number) => json(path(id, `/turns/${number}`));

/** Summarizes older turns now. */
export const summarize = async (id) => (await request(path(id, '/summaries'), send('POST'))).json();

/** The tool calls that needed consent, those that wait among them. */
export const approvals = (id) => json(path(id, '/approvals'));

/** Decides on a call as it was shown. */
export const decide = (id, call, decision) => request(path(id, `/approvals/${encodeURIComponent(call.id)}`),
	send('POST', { digest: call.digest, ...decision }));

export const revoke = (id, decision) => request(path(id, `/standing-decisions/${encodeURIComponent(decision.id)}`), { method: 'DELETE' });

/** Goes back by a turn; gives the numbers of those that went. */
export const undo = async (id) => (await request(path(id, '/undo'), send('POST'))).json();

export const redo = async (id) => (await request(path(id, '/redo'), send('POST'))).json();

/** Goes to another answer. */
export const choose = (id, number) => request(path(id, '/choose'), send('POST', { turn: number }));

/** @param fromTurn the first turn that the branch does not have; null for one at the end */
export const branch = (id, name, fromTurn) => request(path(id, '/branches'), send('POST', { name, fromTurn }));

export const switchTo = (id, name) => request(path(id, '/branch'), send('PUT', { name }));

export const deleteBranch = (id, { name, active }) => request(path(id, `/branches?name=${encodeURIComponent(name)}&force=${active}`), { method: 'DELETE' });

/** Copies the thread up to a turn; gives the id of the copy. */
export const fork = async (id, number) => (await (await request(path(id, '/fork'), send('POST', { turn: number }))).json()).id;

/**
 * Deletes a thread, which somebody else may have deleted before.
 * @param isLast whether the page is about to be left, so that nobody waits for the answer
 */
export const remove = (id, isLast = false) => request(path(id), { method: 'DELETE', keepalive: isLast, allow: 404 });

/** What it takes to take turns back from one of them on; without one, what is being taken back. */
export const rewindPlan = (id, from) => json(path(id, `/rewind${from === undefined ? '' : `?from=${from}`}`));

/** @param digest that of the plan that was shown */
export const rewind = async (id, from, digest, accept) => (await request(path(id, '/rewind'), send('POST', { from, digest, accept }))).json();

export const decideRewind = (id, call, decision) => request(path(id, `/rewind/calls/${encodeURIComponent(call.id)}`),
	send('POST', { digest: call.digest, ...decision }));

export const leaveRewind = (id) => request(path(id, '/rewind'), { method: 'DELETE' });

/**
 * Asks, and gives the events of the reply one by one: { name, data, id }.
 * @param name the name of the request. The same one again gets the same reply; aborting
 * the signal alone ends nothing, see stop()
 * @param seen the newest turn that was shown: nothing is asked in a thread that has lost it; 0 for none
 */
export const ask = (id, text, name, seen, signal) => reply(path(id, '/turns'), send('POST', { text, request: name, seen }), signal);

/** Asks so that the question joins the turn that runs. */
export const steer = (id, text, name, seen, signal) => reply(path(id, '/turns'), send('POST', { text, request: name, seen, steer: true }), signal);

/** Asks in the place of a turn, with another question. */
export const edit = (id, number, text, name, signal) => reply(path(id, '/turns'), send('POST', { text, editing: number, request: name }), signal);

/** Asks the question of a turn again, in its place. */
export const again = (id, number, name, signal) => reply(path(id, `/turns/${number}/again`), send('POST', { request: name }), signal);

/** Ends a request, whether it waits or is being answered. Gives whether there was one: it may be over, or not have begun. */
export const stop = async (id, name) => isDone(await request(path(id, `/requests/${encodeURIComponent(name)}`), { method: 'DELETE' }));

/** Goes on with the turn that waited. */
export const resume = (id, signal) => reply(path(id, '/resume'), send('POST'), signal);

/** The events of the answer that is being made there, from the first one on; none if there is no such answer. */
export const running = (id, signal) => reply(path(id, '/running'), {}, signal);

/** Ends an answer of which an event is known, by the id of that. Gives whether it was not over. */
export const stopRunning = async (id, event) => isDone(await request(path(id, '/running'), { method: 'DELETE', headers: { 'Last-Event-ID': event } }));

const isDone = ({ status }) => status === 204;

async function* reply(url, options, signal) {
	const response = await request(url, { ...options, signal, accept: 'text/event-stream, application/problem+json' });
	let buffer = '';
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { value, done } = await reader.read().catch((error) => {
			throw error.name === 'AbortError' ? error : away();
		});
		if (done) {
			return;
		}
		buffer += value;
		const events = buffer.split('\n\n');
		buffer = events.pop();
		yield* events.map(parse).filter((event) => event !== null);
	}
}

function parse(block) {
	const lines = block.split('\n');
	const field = (name) => lines.filter((line) => line.startsWith(`${name}:`))
		.map((line) => line.slice(name.length + 1).trimStart());
	const data = field('data').join('\n');
	return data ? { name: field('event')[0] ?? 'message', data: JSON.parse(data), id: field('id')[0] } : null;
}

const send = (method, body) => ({ method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });

const json = async (url) => (await request(url)).json();

async function found(url) {
	const response = await request(url, { allow: 404 });
	return response.status === 404 ? null : response.json();
}

async function request(url, { allow, accept = 'application/json, application/problem+json', headers, isSecond = false, ...options } = {}) {
	const token = csrf !== null && options.method !== undefined ? { [csrf.header]: csrf.token } : {};
	let response;
	try {
		response = await fetch(url, { ...options, headers: { Accept: accept, ...headers, ...token } });
	}
	catch (error) {
		throw error.name === 'AbortError' ? error : away();
	}
	if (response.ok || response.status === allow) {
		return response;
	}
	const problem = await response.json().catch(() => ({}));
	if (response.status === 401) {
		loginHandlers.missing();
	}
	else if (problem.kind === 'STALE' && !isSecond) {
		await loginHandlers.changed();
		return request(url, { ...options, allow, accept, headers, isSecond: true });
	}
	throw Object.assign(failure(problem, `The application refused this (${response.status}).`),
		{ status: response.status, wait: waitOf(response.headers) });
}

/** In seconds, or until a date by the clock of the application: that of the browser may be another. */
function waitOf(headers) {
	const retryAfter = headers.get('Retry-After') ?? '';
	return /^\d+$/.test(retryAfter) ? retryAfter * 1000 : Math.max(0, Date.parse(retryAfter) - Date.parse(headers.get('Date'))) || 0;
}

const away = () => Object.assign(new Error('The application does not answer. Is it running?'), { isAway: true });

/** A problem as the application tells it: kind, turn and faults where it knows them. */
export const failure = ({ detail, kind, turn, faults }, otherwise) => Object.assign(new Error(detail ?? otherwise), { kind, turn, faults });
