package io.sessionkit.extension;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * A guard that lets no account number in or out. It refuses, or it answers with a text of
 * its own instead.
 */
public final class AccountNumbers implements SessionHook {

	private static final String REASON = "Account numbers do not belong in this chat.";

	private static final JsonMapper JSON = JsonMapper.shared();

	private final Pattern number;

	private final @Nullable String answer;

	private AccountNumbers(Pattern number, @Nullable String answer) {
		this.number = number;
		this.answer = answer;
	}

	/**
	 * Returns a guard that refuses input and replies.
	 * @param number what an account number looks like
	 * @return the guard
	 */
	public static AccountNumbers refuse(Pattern number) {
		return new AccountNumbers(number, null);
	}

	/**
	 * Returns a guard that answers input, and replaces replies, with a text.
	 * @param number what an account number looks like
	 * @param answer what is said instead
	 * @return the guard
	 */
	public static AccountNumbers answer(Pattern number, String answer) {
		return new AccountNumbers(number, answer);
	}

	@Override
	public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
		if (input.stream().noneMatch(this::hasNumber)) {
			return HookResult.keep();
		}
		return (this.answer != null) ? HookResult.answer(this.answer) : HookResult.refuse(REASON);
	}

	@Override
	public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
		if (!hasNumber(reply)) {
			return HookResult.keep();
		}
		return (this.answer != null) ? HookResult.replace(new AssistantMessage(this.answer))
				: HookResult.refuse(REASON);
	}

	/**
	 * Withholds a reply that no model gave, and keeps no number of an input that was
	 * answered.
	 */
	@Override
	public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		Message reply = part.reply();
		if (reply != null && hasNumber(reply)) {
			return HookResult.refuse(REASON);
		}
		return HookResult.replace(part.messages().stream().map(this::withoutNumber).toList());
	}

	private Message withoutNumber(Message message) {
		return (message instanceof UserMessage user && hasNumber(user))
				? user.mutate().text(this.number.matcher(user.getText()).replaceAll("[account]")).build() : message;
	}

	private boolean hasNumber(Message message) {
		return texts(message).filter(Objects::nonNull).anyMatch((text) -> this.number.matcher(text).find());
	}

	private static Stream<@Nullable String> texts(Message message) {
		if (message instanceof ToolResponseMessage results) {
			return results.getResponses().stream().map(ToolResponseMessage.ToolResponse::responseData);
		}
		if (message instanceof AssistantMessage reply) {
			return Stream.concat(Stream.ofNullable(reply.getText()),
					reply.getToolCalls().stream().flatMap((call) -> read(call.arguments())));
		}
		return Stream.ofNullable(message.getText());
	}

	/**
	 * The names and values of a JSON text, as whoever parses it reads them.
	 */
	private static Stream<String> read(String json) {
		try {
			return texts(JSON.readTree(json));
		}
		catch (JacksonException ex) {
			return Stream.of(json);
		}
	}

	private static Stream<String> texts(JsonNode node) {
		if (node.isObject()) {
			return node.propertyStream()
				.flatMap((each) -> Stream.concat(Stream.of(each.getKey()), texts(each.getValue())));
		}
		return node.isArray() ? node.valueStream().flatMap(AccountNumbers::texts) : Stream.of(node.asString());
	}

}
