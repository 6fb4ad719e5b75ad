package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionKey;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.opening.TurnRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * The advisor parameters of a call, as far as they speak of its session and its turn. A
 * parameter of the wrong type is an {@link IllegalStateException} that names the method
 * to use.
 */
record CallParameters(ChatClientRequest request) {

	/**
	 * Returns the place at which the turn begins.
	 */
	TurnRequest.Start start() {
		List<String> named = new ArrayList<>(0);
		for (String each : SessionParameters.STARTS) {
			if (this.request.context().get(each) != null) {
				named.add(each);
			}
		}
		if (named.isEmpty()) {
			return TurnRequest.Start.HEAD;
		}
		if (named.size() > 1) {
			throw new IllegalStateException("The call names two places to begin at: " + named + ". Name one of them.");
		}
		Object value = this.request.context().get(named.get(0));
		return switch (named.get(0)) {
			case SessionParameters.EDITING ->
				new TurnRequest.Start(TurnRequest.Start.Kind.EDIT, number(named.get(0), value, "editing"), null);
			case SessionParameters.HISTORY -> TurnRequest.Start.with(policy(), given(value));
			case SessionParameters.READING -> TurnRequest.Start.READING;
			case SessionParameters.REGENERATING -> new TurnRequest.Start(TurnRequest.Start.Kind.REGENERATE,
					number(named.get(0), value, "regenerating"), null);
			default -> new TurnRequest.Start(TurnRequest.Start.Kind.BRANCH, 0, String.valueOf(value));
		};
	}

	private HistoryPolicy policy() {
		HistoryPolicy policy = typed(SessionParameters.HISTORY_POLICY, HistoryPolicy.class, "a HistoryPolicy",
				"history");
		return (policy != null) ? policy : HistoryPolicy.OVERRIDE;
	}

	private static List<Message> given(@Nullable Object value) {
		if (!(value instanceof List<?> list)) {
			throw wrongType(SessionParameters.HISTORY, "a List of messages", value, "history");
		}
		for (Object each : list) {
			if (!(each instanceof Message)) {
				throw wrongType(SessionParameters.HISTORY, "a List of messages and nothing else", each, "history");
			}
			if (each instanceof SystemMessage) {
				throw new IllegalStateException("The history that a call brings must not contain a system message."
						+ " Give the system text to the call, with .system(..).");
			}
		}
		return Copies.of(list.stream().map(Message.class::cast).toList());
	}

	@Nullable SessionKey key(String name) {
		Object value = this.request.context().get(name);
		if (value == null || value instanceof SessionKey) {
			return (SessionKey) value;
		}
		if (value instanceof String id) {
			return SessionKey.of(id);
		}
		throw wrongType(name, "a SessionKey or a String", value, "session");
	}

	@Nullable String text(String name) {
		return Objects.toString(this.request.context().get(name), null);
	}

	@Nullable HistoryMerge merge() {
		return typed(SessionParameters.MERGE, HistoryMerge.class, "a HistoryMerge", "merge");
	}

	/**
	 * Returns what becomes of an answer that the caller stops reading.
	 * @param configured the rule for a call that says nothing
	 */
	OnCancel onCancel(OnCancel configured) {
		OnCancel rule = typed(SessionParameters.ON_CANCEL, OnCancel.class, "an OnCancel", "onCancel");
		return (rule != null) ? rule : configured;
	}

	/**
	 * Returns how to treat the call while another one works on the session.
	 * @param configured the rule for a call that says nothing
	 */
	Concurrency concurrency(Concurrency configured) {
		Concurrency rule = typed(SessionParameters.CONCURRENCY, Concurrency.class, "a Concurrency", "concurrency");
		return (rule != null) ? rule : configured;
	}

	/**
	 * Returns whether the messages of the call may join the turn of another one.
	 */
	boolean mayJoin() {
		return !this.request.context().containsKey(SessionParameters.OWN_TURN);
	}

	long expectedTurn() {
		Object value = this.request.context().get(SessionParameters.EXPECT_TURN);
		return (value != null) ? number(SessionParameters.EXPECT_TURN, value, "expectTurn") : 0;
	}

	private static long number(String name, @Nullable Object value, String method) {
		if (value instanceof Long || value instanceof Integer) {
			return ((Number) value).longValue();
		}
		throw wrongType(name, "a Long or an Integer", value, method);
	}

	@Nullable Integer limit() {
		return typed(SessionParameters.LIMIT, Integer.class, "an Integer", "limit");
	}

	/**
	 * Returns the value of a parameter; null if the call has none.
	 * @param described the type in words, for the error
	 * @param method the method of {@link SessionAdvisor} that sets it
	 */
	private <T> @Nullable T typed(String name, Class<T> type, String described, String method) {
		Object value = this.request.context().get(name);
		if (value == null || type.isInstance(value)) {
			return type.cast(value);
		}
		throw wrongType(name, described, value, method);
	}

	static IllegalStateException wrongType(String parameter, String type, @Nullable Object value, String method) {
		return new IllegalStateException("The advisor parameter " + parameter + " must be " + type + ", not a "
				+ ((value != null) ? value.getClass().getName() : "null") + ". Use .advisors(SessionAdvisor." + method
				+ "(..)).");
	}

}
