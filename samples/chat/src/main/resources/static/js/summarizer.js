import { byId, setText } from './dom.js';
import { plural } from './words.js';

const OUTCOMES = {
	SUMMARIZED: ({ turns: count }) => `Summarized ${count === 1 ? 'one turn' : `${count} turns`}. The next question is sent with the summary.`,
	NOT_DUE: () => 'It is too early for a summary.',
	NOTHING_TO_COVER: () => 'Nothing to summarize: the newest turns stay as they are, and none is older.',
	FAILED: ({ failure }) => `No summary was made (${failure}). The thread is as it was.`,
	DROPPED: () => 'The thread changed meanwhile, so the summary was dropped.',
};

/** How far it is to the next summary, and what came of the last one that was asked for. */
export function showSummarizer(unsummarized, busy, outcome) {
	const known = unsummarized?.limit > 0 && unsummarized.messages > 0;
	byId('summarizer').hidden = !known;
	if (!known) {
		return;
	}
	const { messages, limit } = unsummarized;
	setText(byId('summarizer-text'), messages < limit ? `${plural(messages, 'message')}, summary due at ${limit}`
		: `${plural(messages, 'message')}, summary due now`);
	byId('summarizer-bar').firstElementChild.style.width = `${Math.min(100, 100 * messages / limit)}%`;
	setText(byId('summarize'), busy ? 'Summarizing …' : 'Summarize now');
	byId('summarize').setAttribute('aria-disabled', String(busy));
	setText(byId('summarizer-outcome'), outcome);
}

/** What came of a summary that was asked for. */
export const outcomeText = (result) => OUTCOMES[result.outcome](result);
