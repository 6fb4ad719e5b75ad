import { byId, setText } from './dom.js';
import { plural, span } from './words.js';

const select = byId('keep');

const other = byId('keep-other');

let shown;

let choose = () => {};

/** What a thread keeps, as "this thread keeps .." goes on. */
export function keeps({ turns, seconds }) {
	const which = turns === null ? 'its turns' : turns === 1 ? 'its newest turn' : `its newest ${plural(turns, 'turn')}`;
	return seconds !== null ? `${which} of the last ${span(seconds)}` : turns === null ? 'everything' : which;
}

/** What is to say where a thread begins now: all turns up to this one were deleted. */
export const deletedWords = (deleted, kept) => `${deleted === 1 ? 'Turn 1 was' : `Turns 1 to ${deleted.toLocaleString('en')} were`} deleted${
	isLimited(kept) ? `: this thread keeps ${keeps(kept)}` : ''}.`;

const isLimited = ({ turns, seconds }) => turns !== null || seconds !== null;

/**
 * Says what the thread keeps, and lets one choose.
 * @param view thread, status, deleted
 * @param keep what to do with what was chosen, as the application takes it
 */
export function showKeeping({ thread, status, deleted }, outcome, keep) {
	const isStored = status === 'ready' && thread !== null;
	byId('keeping').hidden = !isStored;
	if (!isStored) {
		return;
	}
	choose = keep;
	const { kept } = thread;
	setText(byId('keeping-text'), `This thread keeps ${keeps(kept)}.${deleted > 0 ? ` ${plural(deleted, 'turn')} ${deleted === 1 ? 'was' : 'were'} deleted.` : ''}`);
	setText(byId('keeping-outcome'), outcome);
	// Whoever is choosing is not disturbed by what has not changed.
	const key = JSON.stringify([thread.id, kept, outcome]);
	if (shown !== key) {
		shown = key;
		showChoice(kept);
	}
}

/** What was set elsewhere is none of the choices, and is shown as one until another is taken. */
function showChoice(kept) {
	const value = kept.seconds !== null ? 'other' : String(kept.turns ?? 'everything');
	const isKnown = [...select.options].some((option) => option !== other && option.value === value);
	other.hidden = isKnown;
	setText(other, isKnown ? '' : keeps(kept));
	select.value = isKnown ? value : 'other';
}

select.addEventListener('change', () => {
	shown = undefined;
	choose(select.value === 'everything' ? { everything: true } : { turns: Number(select.value) });
});
