package io.sessionkit.hook;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Hooks that override one method each.
 */
public final class TestHooks {

	private TestHooks() {
	}

	public static SessionHook beforeTurn(String name, Function<List<Message>, HookResult<List<Message>>> hook) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return hook.apply(input);
			}

		};
	}

	public static SessionHook beforeModel(String name, Function<List<Message>, HookResult<List<Message>>> hook) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				return hook.apply(request.messages());
			}

		};
	}

	public static SessionHook afterModel(String name, Function<AssistantMessage, HookResult<AssistantMessage>> hook) {
		return new Named(name) {

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
				return hook.apply(reply);
			}

		};
	}

	public static SessionHook beforeSave(String name, Function<List<Message>, HookResult<List<Message>>> hook) {
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
	 * A guard beside the model that notes when it is asked about the input.
	 */
	static SessionHook notingBesideModel(String name, BiConsumer<String, HookContext> note) {
		return new Named(name) {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				note.accept("beforeTurn", context);
				return HookResult.keep();
			}

			@Override
			public boolean runsBesideModel() {
				return true;
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
