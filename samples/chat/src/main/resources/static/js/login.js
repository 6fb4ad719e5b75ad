import * as api from './api.js';
import { button, byId, setText } from './dom.js';
import { local, session } from './storage.js';

/* The login. After it one is where one was, if it is the same user. */

const form = byId('login');
const name = byId('name');
const password = byId('password');
const fault = byId('login-problem');

/** The users of the demo. Each has the name for a password. */
const DEMO = [['ada', 'has threads'], ['bob', 'has threads'], ['eve', 'approver']];

async function signIn() {
	fault.hidden = true;
	byId('sign-in').disabled = true;
	try {
		if (await api.login(name.value.trim(), password.value)) {
			goOn((await api.user()).name); // as the application writes it
			return;
		}
		say('There is no user with this name and password.');
		password.select();
		password.focus();
	}
	catch (error) {
		say(error.message);
	}
	finally {
		byId('sign-in').disabled = false;
	}
}

function say(text) {
	setText(fault, text);
	fault.hidden = false;
}

function goOn(user) {
	const back = JSON.parse(session.get('back') ?? 'null');
	session.remove('back');
	local.set('user', user);
	location.replace(`./${back === null ? location.hash : back.name === user ? back.hash : ''}`);
}

form.addEventListener('submit', (event) => {
	event.preventDefault();
	signIn();
});

byId('demo-users').append(...DEMO.map(([user, what]) => {
	const node = button('', 'demo-user', () => {
		name.value = user;
		password.value = user;
		signIn();
	});
	const [strong, span] = ['strong', 'span'].map((tag) => node.appendChild(document.createElement(tag)));
	strong.textContent = user;
	span.textContent = what;
	return node;
}));

const { name: known, csrf } = await api.user();
if (known !== null || csrf === null) {
	goOn(known ?? '');
}
