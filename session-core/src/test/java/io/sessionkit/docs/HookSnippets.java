package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.sessionkit.OnCancel;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.store.SessionStore;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.beans.factory.ObjectProvider;

/**
 * The code of {@code docs/hooks.md}.
 */
final class HookSnippets {

	private HookSnippets() {
	}

	// tag::input
	static final class OrderNumbers implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			if (input.stream().mapToInt((message) -> text(message).length()).sum() > 10_000) {
				return HookResult.refuse("The question is longer than 10,000 characters.");
			}
			if (input.get(input.size() - 1) instanceof UserMessage last && isEmpty(last)) {
				return HookResult.answer("Which order do you mean?");
			}
			List<Message> checked = input.stream().map(OrderNumbers::withoutCards).toList();
			return checked.equals(input) ? HookResult.keep() : HookResult.replace(checked);
		}

		private static boolean isEmpty(UserMessage question) {
			// a picture needs no text
			return text(question).isBlank() && question.getMedia().isEmpty();
		}

		private static Message withoutCards(Message message) {
			String checked = text(message).replaceAll("\\b\\d{16}\\b", "[card]");
			return (message instanceof UserMessage user && !checked.equals(text(user)))
					? UserMessage.builder().text(checked).media(user.getMedia()).metadata(user.getMetadata()).build()
					: message;
		}

		private static String text(Message message) {
			return (message.getText() != null) ? message.getText() : "";
		}

	}
	// end::input

	// tag::request
	static final class Tenant implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
			Object tenant = context.parameters().get("tenant");
			if (tenant == null) {
				return HookResult.keep();
			}
			List<Message> messages = new ArrayList<>(request.messages());
			String text = "The tenant is " + tenant + ".";
			int system = request.system().size();
			if (system == 0) {
				messages.add(0, new SystemMessage(text));
			}
			else {
				messages.set(system - 1, new SystemMessage(messages.get(system - 1).getText() + "\n" + text));
			}
			return HookResult.replace(messages);
		}

	}
	// end::request

	// tag::reply
	static final class NoPromises implements SessionHook {

		@Override
		public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
			String text = reply.getText();
			return (text != null && text.contains("guarantee"))
					? HookResult.refuse("The answer promises what we do not.") : HookResult.keep();
		}

	}
	// end::reply

	// tag::keep
	static final class WithoutToolRounds implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			// calls and results that the caller gets, or has passed, are what was said
			boolean isSaid = (part.reply() != null && isOfATool(part.reply()))
					|| part.input().stream().anyMatch(WithoutToolRounds::isOfATool);
			return isSaid ? HookResult.keep()
					: HookResult.replace(part.messages().stream().filter((message) -> !isOfATool(message)).toList());
		}

		private static boolean isOfATool(Message message) {
			return message instanceof ToolResponseMessage
					|| (message instanceof AssistantMessage reply && reply.hasToolCalls());
		}

		@Override
		public boolean checksReplies() {
			return false; // it never refuses: streams stay live
		}

	}
	// end::keep

	// tag::listener-bean
	static final class Answered implements SessionListener {

		private final ObjectProvider<Conversations> conversations;

		Answered(ObjectProvider<Conversations> conversations) {
			this.conversations = conversations;
		}

		@Override
		public void committed(SessionEvent.Committed event) {
			this.conversations.getObject().get(event.key()).tags(Set.of("answered"));
		}

	}
	// end::listener-bean

	// tag::listener
	static final class Progress implements SessionListener {

		@Override
		public void toolCalled(SessionEvent.ToolCalled event) {
			show(event.key(), "calling " + event.call().name());
		}

		@Override
		public void failed(SessionEvent.Failed event) {
			show(event.key(), "failed");
		}

		private void show(SessionKey thread, String line) {
			// hand it to somebody else: a listener must not wait
		}

	}
	// end::listener

	static SessionAdvisor byHand(SessionStore store) {
		// tag::all
		Conversations conversations = Conversations.builder(store)
			.hooks(new OrderNumbers(), new NoPromises())
			.listeners(new Progress())
			.build();
		return SessionAdvisor.of(conversations);
		// end::all
	}

	static String ofOneCall(ChatClient chat, String text) {
		// tag::call
		try {
			return chat.prompt()
				.user(text)
				.advisors(SessionAdvisor.session("t1"))
				.advisors(SessionAdvisor.hook(new Tenant()))
				.advisors((advisors) -> advisors.param("tenant", "acme"))
				.call()
				.content();
		}
		catch (SessionRefusedException ex) {
			return ex.reason();
		}
		// end::call
	}

	static Flux<String> ofOneStream(ChatClient chat, String text) {
		// tag::cancel
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session("t1"))
			.advisors(SessionAdvisor.onCancel(OnCancel.KEEP))
			.stream()
			.content();
		// end::cancel
	}

}
