package io.sessionkit.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.Decision;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.compensation.CompensatedBy;
import io.sessionkit.compensation.Irreversible;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Isolated
class CompensationsAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final List<String> runs = new CopyOnWriteArrayList<>();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final OrderTools orders = new OrderTools(this.runs);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model);

	record OrderTools(List<String> runs) {

		@Tool(name = "cancel_order", description = "cancels an order")
		@CompensatedBy("restore_order")
		public void cancelOrder(int id) {
			this.runs.add("cancel " + id);
		}

		@Tool(name = "restore_order", description = "restores an order")
		public void restoreOrder(int id) {
			this.runs.add("restore " + id);
		}

	}

	private void cancelOrder(ApplicationContext context) {
		this.model.calls(new ToolCall("c1", "function", "cancel_order", "{\"id\":7}")).says("done");
		context.getBean(ChatClient.Builder.class)
			.build()
			.prompt()
			.user("cancel my order")
			.tools(this.orders)
			.advisors(SessionAdvisor.session(KEY))
			.call()
			.content();
	}

	@Test
	void toolsOfBeansTakeEffectsBackHoweverOftenTheyAreListed() {
		this.runner.withBean(OrderTools.class, () -> this.orders)
			.withBean(ToolCallbackProvider.class, () -> ToolCallbackProvider.from(ToolCallbacks.from(this.orders)))
			.run((context) -> {
				cancelOrder(context);
				Compensations compensations = context.getBean(Compensations.class);
				assertThat(compensations.rewind(compensations.plan(KEY, 1)).status())
					.isEqualTo(RewindReport.Status.COMPLETED);
				assertThat(this.runs).containsExactly("cancel 7", "restore 7");
				assertThat(context.getBean(Conversations.class).get(KEY).messages()).isEmpty();
			});
	}

	@Test
	void namedToolsNeedConsentToTakeEffectsBackToo() {
		this.runner.withBean(OrderTools.class, () -> this.orders)
			.withPropertyValues("sessionkit.approval.tools=restore_order")
			.run((context) -> {
				cancelOrder(context);
				Compensations compensations = context.getBean(Compensations.class);
				RewindPlan plan = compensations.plan(KEY, 1);
				assertThat(compensations.rewind(plan).status()).isEqualTo(RewindReport.Status.WAITING);
				assertThat(this.runs).containsExactly("cancel 7");
				compensations.decide(compensations.pending(KEY).get(0), Decision.approve("anna"));
				assertThat(compensations.rewind(plan).status()).isEqualTo(RewindReport.Status.COMPLETED);
				assertThat(this.runs).containsExactly("cancel 7", "restore 7");
			});
	}

	@Test
	void toolThatIsNoBeanIsListedAsUnknown() {
		this.runner.run((context) -> {
			cancelOrder(context);
			assertThat(context.getBean(Compensations.class).plan(KEY, 1).irreversible())
				.extracting(Irreversible::reason)
				.containsExactly(Irreversible.Reason.UNKNOWN_TOOL);
		});
	}

	@Test
	void compensationsOfTheApplicationTakeThePlaceOfOurs() {
		this.runner
			.withBean("mine", Compensations.class,
					() -> Compensations.builder(conversations(), Approvals.of(conversations())).build())
			.run((context) -> assertThat(context).hasSingleBean(Compensations.class).hasBean("mine"));
	}

	private Conversations conversations() {
		return Conversations.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));
	}

	@Test
	void twoToolsOfOneNameAreRefused() {
		this.runner.withBean(OrderTools.class, () -> this.orders).withBean(OtherTools.class).run((context) -> {
			cancelOrder(context);
			assertThatIllegalArgumentException().isThrownBy(() -> context.getBean(Compensations.class).plan(KEY, 1))
				.withMessageContaining("'restore_order'");
		});
	}

	/** The compensation of one bean is not that of the other. */
	@Test
	void twoBeansOfOneClassAreRefused() {
		this.runner.withBean("shop", OrderTools.class, () -> this.orders)
			.withBean("branch", OrderTools.class, () -> new OrderTools(this.runs))
			.run((context) -> {
				cancelOrder(context);
				assertThatIllegalArgumentException().isThrownBy(() -> context.getBean(Compensations.class).plan(KEY, 1))
					// the methods of a class come in any order
					.withMessageMatching("Two tools are called '(cancel|restore)_order'.*");
			});
	}

	static final class OtherTools {

		@Tool(name = "restore_order", description = "restores something else")
		public void restore(int id) {
		}

	}

}
