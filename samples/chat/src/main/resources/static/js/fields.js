import { escapeHidden, layOut, plainMembers } from './arguments.js';
import { button, el } from './dom.js';
import { humanized } from './words.js';

/*
 * The arguments of a call as labelled fields, made from the schema of its tool. What a
 * person leaves alone is sent as it was written, digit by digit.
 */

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** The fields of a call; null if its arguments can only be shown as JSON. */
export function fieldsOf(text, schema) {
	const members = plainMembers(text);
	if (members === null) {
		return null;
	}
	const rules = schema?.properties ?? {};
	const names = new Set([...Object.keys(rules), ...members.map(({ name }) => name)]);
	return [...names].map((name) => ({
		name,
		label: rules[name]?.title ?? humanized(name),
		rule: rules[name] ?? {},
		isRequired: schema?.required?.includes(name) ?? false,
		isKnown: !schema?.properties || Object.hasOwn(rules, name),
		...members.find((member) => member.name === name),
	}));
}

/** The fields that have a value, for reading. */
export const fieldList = (fields) => el('dl', { class: 'fields' }, ...fields.filter(({ token }) => token !== undefined).flatMap(({ name, label, value, token }) => [
	el('dt', { title: name }, label),
	el('dd', {}, el('bdi', { class: token.startsWith('"') ? 'string' : null }, value === '' ? '(empty)' : value)),
]));

/**
 * A form for the arguments, with JSON behind a switch.
 * @return content, and value(): the arguments as they are now, or null if a field is wrong, which then says so
 */
export function argumentsForm(text, schema) {
	const fields = fieldsOf(text, schema);
	const place = el('div', { class: 'arguments-form' });
	let form = fields !== null && fields.every(isEditable) ? fieldsForm(fields, text) : jsonForm(text);
	const show = () => place.replaceChildren(form.node, ...(form.hasFields ? [button('Edit as JSON', 'link', () => {
		form = jsonForm(form.text() ?? text);
		show();
		form.node.querySelector('textarea').focus();
	})] : []));
	show();
	return { content: [place], value: () => form.value() };
}

const isEditable = ({ rule, isKnown, token }) => isKnown && (['string', 'number', 'integer', 'boolean'].includes(rule.type) || rule.type === undefined && token !== undefined)
	&& token !== 'null';

function jsonForm(text) {
	const laidOut = escapeHidden(layOut(text));
	const area = el('textarea', { class: 'arguments', dir: 'ltr', rows: String(Math.min(12, laidOut.split('\n').length + 1)), spellcheck: 'false' });
	area.value = laidOut;
	return {
		node: el('label', { class: 'approval-field' }, el('span', {}, 'Arguments, as JSON'), area),
		hasFields: false,
		value: () => area.value,
	};
}

let made = 0;

function fieldsForm(fields, text) {
	const inputs = fields.map((field) => fieldInput(field));
	const faults = () => inputs.map((input) => input.check()).filter((fault) => fault !== null);
	return {
		node: el('div', { class: 'field-form' }, ...inputs.map(({ node }) => node)),
		hasFields: true,
		text: () => faults().length === 0 ? join(inputs, text) : null,
		value() {
			if (faults().length === 0) {
				return join(inputs, text);
			}
			inputs.find((input) => input.check() !== null).focus();
			return null;
		},
	};
}

/** Where nothing was changed, the arguments are what they were. */
function join(inputs, text) {
	return inputs.every((input) => !input.isChanged()) ? text
		: `{${inputs.map((input) => input.member()).filter((member) => member !== null).join(', ')}}`;
}

function fieldInput(field) {
	const { name, label, rule, isRequired, token } = field;
	const id = `field-${++made}`;
	const input = inputOf(field, { id, 'aria-describedby': `${id}-hint`, 'aria-required': isRequired ? 'true' : null, dir: 'auto', 'data-field': name });
	const now = () => input.type === 'checkbox' ? String(input.checked) : input.value;
	const first = now();
	const hint = el('span', { class: 'field-hint', id: `${id}-hint` });
	const isText = rule.type === 'string' || rule.type === undefined && token?.startsWith('"');
	const isAbsent = () => now() === '' && !(isText && token !== undefined && first === '');
	const check = () => {
		const fault = faultOf(field, now(), isAbsent(), isText);
		hint.textContent = fault ?? rule.description ?? '';
		hint.classList.toggle('fault', fault !== null);
		input.setAttribute('aria-invalid', String(fault !== null));
		return fault;
	};
	input.addEventListener('input', check);
	hint.textContent = rule.description ?? '';
	return {
		node: el('div', { class: 'approval-field' }, el('label', { for: id }, label, isRequired ? null : el('small', {}, ' optional')), input, hint),
		check,
		focus: () => input.focus(),
		isChanged: () => now() !== first,
		member() {
			if (now() === first && token !== undefined) {
				return `${JSON.stringify(name)}: ${token}`;
			}
			return isAbsent() ? null : `${JSON.stringify(name)}: ${isText ? JSON.stringify(now()) : now().trim()}`;
		},
	};
}

function inputOf({ rule, isRequired, token, value }, properties) {
	const choices = choicesOf(rule);
	if (rule.type === 'boolean' && !Array.isArray(rule.enum) && choices.includes(token)) {
		return el('input', { ...properties, type: 'checkbox', checked: token === 'true' });
	}
	if (choices !== null) {
		return choice(choices, rule.enum ? value : token, isRequired, properties);
	}
	const isNumber = rule.type === 'number' || rule.type === 'integer';
	const text = value ?? '';
	const input = !isNumber && (text.length > 60 || text.includes('\n')) ? el('textarea', { ...properties, rows: '3' })
		: el('input', { ...properties, autocomplete: 'off', inputmode: isNumber ? 'decimal' : null });
	input.value = text;
	return input;
}

const choicesOf = ({ type, enum: values }) => Array.isArray(values) ? values.map(String) : type === 'boolean' ? ['true', 'false'] : null;

/** What nobody has chosen is not sent, and what is none of the choices is shown as it is. */
function choice(choices, chosen, isRequired, properties) {
	const option = (value, words = value) => el('option', { value, selected: value === (chosen ?? '') }, words);
	const isOther = chosen !== undefined && !choices.includes(chosen);
	return el('select', properties, isRequired && chosen !== undefined ? null : option('', '(not given)'),
		isOther ? option(chosen, `${chosen} (none of the choices)`) : null, ...choices.map((each) => option(each)));
}

/** What is wrong with a value, in words; the application checks all of it once more. */
function faultOf({ label, rule, isRequired }, text, isAbsent, isText) {
	if (isAbsent) {
		return isRequired ? `${label} is missing.` : null;
	}
	const choices = choicesOf(rule);
	if (choices !== null && !choices.includes(text)) {
		return `${label} is none of the choices.`;
	}
	if (!isText) {
		return choices !== null ? null : numberFault(label, rule, text.trim());
	}
	if (text.length < (rule.minLength ?? 0)) {
		return `${label} needs at least ${rule.minLength} characters.`;
	}
	if (text.length > (rule.maxLength ?? Infinity)) {
		return `${label} may have at most ${rule.maxLength} characters.`;
	}
	return matches(rule.pattern, text) ? null : `${label} does not have the expected form (${rule.pattern}).`;
}

function numberFault(label, rule, text) {
	if (rule.type === 'integer' ? !INTEGER.test(text) : !NUMBER.test(text) && !['true', 'false'].includes(text)) {
		return rule.type === 'integer' ? `${label} is a whole number.` : `${label} is a number.`;
	}
	if (Number(text) < (rule.minimum ?? -Infinity)) {
		return `${label} is at least ${rule.minimum}.`;
	}
	return Number(text) > (rule.maximum ?? Infinity) ? `${label} is at most ${rule.maximum}.` : null;
}

function matches(pattern, text) {
	try {
		return pattern === undefined || new RegExp(pattern, 'u').test(text);
	}
	catch {
		return true; // a form of pattern that browsers do not know: the application checks it
	}
}
