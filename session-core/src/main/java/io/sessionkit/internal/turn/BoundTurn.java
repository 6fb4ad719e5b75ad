package io.sessionkit.internal.turn;

import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.sessionkit.hook.HookContext;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.binding.TurnAccess;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.round.HookedTurn;
import io.sessionkit.internal.view.ForgottenItems;
import org.jspecify.annotations.Nullable;

/**
 * A turn as its tools and hooks see it.
 *
 * @param now supplies what is known of the turn now
 * @param session the session that it is on
 * @param stored supplies its number; 0 if nothing of it is stored
 * @param sessions the sessions whose turns wait for it
 * @param outer the turn inside of which it was begun; null if there is none
 * @param children the sessions that end with the call
 * @param erasing notes that the session was erased
 * @param attributes the attributes of the turn
 * @param forgotten the items that it forgets
 * @param saving whether the turn is bound to a hook that decides what is stored
 */
record BoundTurn(Supplier<HookContext> now, TurnSession session, LongSupplier stored, Set<TurnSession> sessions,
		@Nullable TurnAccess outer, TurnChildren children, Runnable erasing, TurnAttributes attributes,
		ForgottenItems forgotten, boolean saving) implements HookedTurn {

	@Override
	public HookContext context() {
		return this.now.get();
	}

	@Override
	public TurnFacts facts() {
		HookContext context = context();
		return new TurnFacts(context.key(), context.turnId(), context.agent(), context.history(), context.turnStarts(),
				context.attributes());
	}

	@Override
	public long number() {
		return this.stored.getAsLong();
	}

	@Override
	public void endsWith(TurnSession child, Runnable erasing) {
		this.children.add(child, erasing);
	}

	@Override
	public void erased() {
		this.erasing.run();
	}

	@Override
	public void putAttribute(String name, Object value) {
		this.attributes.put(name, value, this.saving);
	}

	@Override
	public boolean removeAttribute(String name) {
		return this.attributes.remove(name, this.saving);
	}

	@Override
	public int forgettableFrom() {
		return this.forgotten.from();
	}

	@Override
	public void forget(int from, int to) {
		this.forgotten.forget(from, to, this.saving);
	}

}
