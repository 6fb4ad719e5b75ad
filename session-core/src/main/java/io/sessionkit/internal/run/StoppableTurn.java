package io.sessionkit.internal.run;

import java.util.Set;
import java.util.function.BooleanSupplier;

import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.binding.TurnSession;
import org.jspecify.annotations.Nullable;

/**
 * The turn as a tool with a time limit sees it. Once the tool is stopped, it can neither
 * change the turn nor begin other calls inside of it.
 *
 * @param turn the turn
 * @param tool the name of the tool
 * @param stopped returns whether the tool is stopped
 */
record StoppableTurn(TurnAccess turn, String tool, BooleanSupplier stopped) implements TurnAccess {

	private TurnAccess running() {
		if (this.stopped.getAsBoolean()) {
			throw new IllegalStateException("Tool '" + this.tool
					+ "' was stopped since its time was over, so it does nothing more in its turn.");
		}
		return this.turn;
	}

	@Override
	public TurnFacts facts() {
		return running().facts();
	}

	@Override
	public TurnSession session() {
		return this.turn.session();
	}

	@Override
	public long number() {
		return this.turn.number();
	}

	@Override
	public Set<TurnSession> sessions() {
		return running().sessions();
	}

	@Override
	public @Nullable TurnAccess outer() {
		return this.turn.outer();
	}

	@Override
	public void endsWith(TurnSession child, Runnable erasing) {
		this.turn.endsWith(child, erasing);
	}

	@Override
	public void erased() {
		this.turn.erased();
	}

	@Override
	public void putAttribute(String name, Object value) {
		running().putAttribute(name, value);
	}

	@Override
	public boolean removeAttribute(String name) {
		return running().removeAttribute(name);
	}

	@Override
	public int forgettableFrom() {
		return running().forgettableFrom();
	}

	@Override
	public void forget(int from, int to) {
		running().forget(from, to);
	}

}
