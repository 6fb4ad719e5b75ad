package io.sessionkit.internal.approval;

import java.util.Objects;
import java.util.function.Supplier;

import io.sessionkit.NestedTurnException;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.run.RunningCall;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.metadata.ToolMetadata;

/**
 * A tool in a call that names no session, or whose turn is not stored. A tool call that
 * needs approval could not wait anywhere, so it fails. One that is denied does not run,
 * and the model is told so.
 */
public final class SessionlessTool implements ToolCallback {

	/** The text for the model about a call that is denied without a reason. */
	private static final String DENIED = "This call is not allowed, so it did not run.";

	private final ToolCallback tool;

	private final Rulings rulings;

	private final Rulings.Caller caller;

	/** The reason why no call can wait, as words that follow "the call". */
	private final String why;

	private final @Nullable TurnFacts enclosing;

	SessionlessTool(ToolCallback tool, Rulings rulings, Rulings.Caller caller, String why,
			@Nullable TurnFacts enclosing) {
		this.tool = tool;
		this.rulings = rulings;
		this.caller = caller;
		this.why = why;
		this.enclosing = enclosing;
	}

	Rulings rulings() {
		return this.rulings;
	}

	@Override
	public ToolDefinition getToolDefinition() {
		return this.tool.getToolDefinition();
	}

	@Override
	public ToolMetadata getToolMetadata() {
		return this.tool.getToolMetadata();
	}

	@Override
	public String call(String input) {
		return unlessDenied(input, () -> this.tool.call(input));
	}

	@Override
	public String call(String input, @Nullable ToolContext context) {
		return unlessDenied(input, () -> this.tool.call(input, RunningCall.withoutClaim(context)));
	}

	private String unlessDenied(String input, Supplier<String> run) {
		String name = getToolDefinition().name();
		Ruling ruling = this.rulings.rule(this.caller, new ToolCall("", "function", name, input), this.tool);
		return switch (ruling.kind()) {
			case ALLOW -> run.get();
			case ASK -> throw refused(name);
			case DENY -> Objects.requireNonNullElse(ruling.text(), DENIED);
		};
	}

	private RuntimeException refused(String name) {
		String inner = "Tool '" + name + "' needs an approval, and the call that offers it " + this.why
				+ ", so it could not wait";
		if (this.enclosing != null) {
			return new NestedTurnException(inner + "; it was made inside of turn " + this.enclosing.turnId()
					+ " on session " + this.enclosing.key() + ". Let the outer call offer '" + name + "' itself.");
		}
		return new UnattendedToolException(
				inner + ". It was not run. Offer it in a call whose turn is stored in a session.", name);
	}

}
