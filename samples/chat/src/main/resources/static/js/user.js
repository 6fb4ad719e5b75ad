import * as api from './api.js';
import { byId, setText } from './dom.js';
import { belongsTo, forgetAll } from './kept.js';
import { local, session } from './storage.js';

/*
 * Who is signed in. Without users nobody is: then everybody sees all threads and decides.
 * Windows of one browser share a login, so each looks whether it is still its own.
 */

export const user = { name: null, decides: true };

/** Whether somebody else decides on the calls of this user. */
export const isAsking = () => !user.decides;

/** Whether this user decides on the calls of others. */
export const isApprover = () => user.name !== null && user.decides;

/** Asks who is signed in; false if nobody is and somebody has to be. */
export async function meet() {
	const read = await api.user();
	const { name, decides, csrf } = read;
	api.actAs(read);
	if (csrf !== null && name === null) {
		toLogin();
		return false;
	}
	Object.assign(user, { name, decides });
	belongsTo(name);
	byId('who').hidden = name === null;
	if (name !== null) {
		setText(byId('who-name'), name);
		setText(byId('who-mark'), name[0].toUpperCase());
		byId('who-role').hidden = !decides;
		local.set('user', name);
	}
	return true;
}

/** Back to the login. What is typed is kept, and the same user finds the same thread. */
function toLogin() {
	session.set('back', JSON.stringify({ name: user.name, hash: location.hash }));
	location.replace('login.html');
}

/** Somebody else has signed in, or nobody is any more: this page is no longer theirs. */
function start() {
	history.replaceState(null, '', location.pathname);
	location.reload();
}

export async function signOut() {
	await api.logout();
	forgetAll();
	local.set('user', '');
	location.replace('login.html');
}

api.onLogin({
	missing: toLogin,
	async changed() {
		const read = await api.user();
		if (read.name !== user.name) {
			start();
			throw api.failure({ kind: 'SIGNED_OUT' }, 'Somebody else has signed in.');
		}
		api.actAs(read);
	},
});

window.addEventListener('storage', ({ key, newValue }) => {
	if (key === 'user' && user.name !== null && newValue !== user.name) {
		start();
	}
});

/** The way back in a browser can show a page as it was. */
window.addEventListener('pageshow', ({ persisted }) => {
	if (persisted && user.name !== null) {
		location.reload();
	}
});
