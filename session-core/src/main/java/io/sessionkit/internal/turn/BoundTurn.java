package io.sessionkit.internal.turn;

import java.util.function.Supplier;

import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.RunningTurn;

/**
 * A turn as tools and hooks find it.
 *
 * @param now what is known of it
 * @param state its attributes
 * @param saving whether it is bound to a hook that is asked what is kept
 */
record BoundTurn(Supplier<HookContext> now, TurnState state, boolean saving) implements RunningTurn {

	@Override
	public HookContext context() {
		return this.now.get();
	}

	@Override
	public void put(String name, Object value) {
		this.state.put(name, value, this.saving);
	}

	@Override
	public void remove(String name) {
		this.state.remove(name, this.saving);
	}

}
