package io.sessionkit.advisor;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Hooks that override one method each.
 */
final class TestHooks {

	private TestHooks() {
	}

	static SessionHook beforeTurn(String name, Function<List<Message>, HookResult<List<Message>>> hook) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return hook.apply(input);
			}

		};
	}

	static SessionHook beforeModel(String name, Function<List<Message>, HookResult<List<Message>>> hook) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				return hook.apply(request.messages());
			}

		};
	}

	static SessionHook afterModel(String name, Function<AssistantMessage, HookResult<AssistantMessage>> hook) {
		return new Named(name) {

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
				return hook.apply(reply);
			}

		};
	}

	static SessionHook beforeSave(String name, Function<List<Message>, HookResult<List<Message>>> hook) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				return hook.apply(part.messages());
			}

		};
	}

	/**
	 * A hook that notes where it is asked.
	 */
	static SessionHook noting(String name, BiConsumer<String, HookContext> note) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				note.accept("beforeTurn", context);
				return HookResult.keep();
			}

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				note.accept("beforeModel", context);
				return HookResult.keep();
			}

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
				note.accept("afterModel", context);
				return HookResult.keep();
			}

			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				note.accept("beforeSave", context);
				return HookResult.keep();
			}

		};
	}

	/**
	 * One that looks at replies and says that it does no more.
	 */
	static SessionHook onlyLooking(Function<AssistantMessage, HookResult<AssistantMessage>> hook) {
		return new SessionHook() {

			@Override
			public String name() {
				return "looking";
			}

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
				return hook.apply(reply);
			}

			@Override
			public boolean checksReplies() {
				return false;
			}

		};
	}

	private abstract static class Named implements SessionHook {

		private final String name;

		private Named(String name) {
			this.name = name;
		}

		@Override
		public String name() {
			return this.name;
		}

	}

}
