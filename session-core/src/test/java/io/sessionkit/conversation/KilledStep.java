package io.sessionkit.conversation;

import java.util.List;
import java.util.Random;

/**
 * One step of a thread that a process takes until it is killed. Two processes that begin
 * with one seed plan the same steps.
 *
 * @param kind what it does
 * @param turn the turn that it is about; how many turns for undo and redo
 * @param text the question; null if it asks none
 * @param answer the answer; null if there is none
 */
record KilledStep(Kind kind, long turn, String text, String answer) {

	enum Kind {

		ASK, EDIT, REGENERATE, UNDO, REDO

	}

	/**
	 * Plans the next step, and makes it in the model.
	 */
	static KilledStep next(Random random, TimeModel model, int number) {
		List<Long> path = model.path(model.head());
		int dice = random.nextInt(10);
		String answer = "a" + number;
		if (path.size() < 3 || dice < 2) {
			String question = "q" + number;
			model.add(model.head(), model.active, true, List.of(question, answer));
			return new KilledStep(Kind.ASK, 0, question, answer);
		}
		if (dice < 4) {
			model.undo(2);
			return new KilledStep(Kind.UNDO, 2, null, null);
		}
		if (dice < 6) {
			model.redo(1);
			return new KilledStep(Kind.REDO, 1, null, null);
		}
		TimeModel.ModelTurn turn = model.find(path.get(path.size() - 1 - random.nextInt(2)));
		String question = (dice < 8) ? "e" + number : turn.texts.get(0);
		model.leave(turn.parent);
		model.heads.put(model.active, turn.parent);
		model.add(turn.parent, model.active, true, List.of(question, answer));
		return new KilledStep((dice < 8) ? Kind.EDIT : Kind.REGENERATE, turn.number, (dice < 8) ? question : null,
				answer);
	}

}
