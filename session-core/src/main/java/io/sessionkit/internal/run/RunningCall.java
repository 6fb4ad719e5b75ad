package io.sessionkit.internal.run;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

import io.sessionkit.approval.ToolApproval;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;

/**
 * The call that a tool runs for: the one that its thread knows, and the one that its
 * context names.
 */
public final class RunningCall {

	/** The key of a claim. See {@link io.sessionkit.conversation.Approvals#CLAIM}. */
	public static final String CLAIM = "sessionkit.claim";

	private static final ThreadLocal<@Nullable ToolApproval> running = new ThreadLocal<>();

	private RunningCall() {
	}

	/**
	 * Returns the call that this thread runs a tool for; empty if it runs none.
	 */
	public static Optional<ToolApproval> running() {
		return Optional.ofNullable(running.get());
	}

	/**
	 * Runs a tool for a call that was claimed, which {@link #running} returns meanwhile.
	 */
	public static String runClaimed(ToolApproval call, Supplier<String> run) {
		return running(call, run);
	}

	/**
	 * Makes a call of a client, whose tools run for calls of their own: to them
	 * {@link #running} does not return the call whose tool makes it.
	 * @param call the call of the client
	 * @param <T> the type of the result
	 * @return the result
	 */
	public static <T> T callInner(Supplier<T> call) {
		return running(null, call);
	}

	private static <T> T running(@Nullable ToolApproval call, Supplier<T> run) {
		ToolApproval before = running.get();
		set(call);
		try {
			return run.get();
		}
		finally {
			set(before);
		}
	}

	/**
	 * Wraps a run of a tool for another thread, on which {@link #running} returns what it
	 * returns here.
	 */
	static Callable<String> carrying(Supplier<String> run) {
		ToolApproval call = running.get();
		return (call != null) ? () -> runClaimed(call, run) : run::get;
	}

	private static void set(@Nullable ToolApproval call) {
		if (call != null) {
			running.set(call);
		}
		else {
			running.remove();
		}
	}

	/**
	 * Adds the claim to the tool context. This is the only way to pass it to a server at
	 * the other end of MCP.
	 */
	public static @Nullable ToolContext withClaim(@Nullable ToolContext context, ToolApproval call) {
		if (context == null) {
			return null;
		}
		Map<String, Object> values = new HashMap<>(context.getContext());
		values.put(CLAIM, call.id());
		return new ToolContext(values);
	}

	/**
	 * Returns the context for a tool that runs for no call in the ledger. A claim in it
	 * is that of the call whose tool makes this one, with its own context.
	 */
	public static @Nullable ToolContext withoutClaim(@Nullable ToolContext context) {
		if (context == null || !context.getContext().containsKey(CLAIM)) {
			return context;
		}
		Map<String, Object> values = new HashMap<>(context.getContext());
		values.remove(CLAIM);
		return new ToolContext(values);
	}

}
