package io.sessionkit.approval;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.ToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Names of tools in a process that has just started, where clients offer different tools.
 */
@Isolated
class NamedToolTests {

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> runs = new ArrayList<>();

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.log.start();
		((Logger) LoggerFactory.getLogger("io.sessionkit.internal")).addAppender(this.log);
	}

	@AfterEach
	void stop() {
		((Logger) LoggerFactory.getLogger("io.sessionkit.internal")).detachAppender(this.log);
	}

	@Test
	void toolThatWasRenamedIsNamedOnceInTheLog() {
		SessionAdvisor process = process("refund");
		this.model.says("hello").says("hello").says("hello");
		ask(process, "refund");
		assertThat(this.log.list).isEmpty();
		ask(process, "alt_1_refund");
		ask(process, "alt_1_refund");
		assertThat(this.log.list).singleElement()
			.extracting(ILoggingEvent::getFormattedMessage)
			.asString()
			.contains("'alt_1_refund'", "sessionkit.approval.tools", "McpToolNamePrefixGenerator");
	}

	@Test
	void toolWhoseNewNameIsConfiguredTooIsNotInTheLog() {
		SessionAdvisor process = process("refund", "alt_1_refund");
		this.model.says("hello");
		ask(process, "refund", "alt_1_refund");
		assertThat(this.log.list).isEmpty();
	}

	@Test
	void clientIsNotRefusedBecauseAnotherOneHasNotOfferedItsToolYet() {
		SessionAdvisor process = process("refund", "wipe");
		this.model.says("hello").says("hello");
		assertThat(ask(process, "refund")).isEqualTo("hello");
		assertThat(ask(process, "wipe")).isEqualTo("hello");
		this.model.calls(ApprovalFixture.call("c1", "refund", "{}")).calls(ApprovalFixture.call("c2", "wipe", "{}"));
		ask(process, "refund");
		ask(process, "wipe");
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "cancelOrder", "cancel-order", "Cancel_Order", "cancel_orders", "cancel_oder", "order_cancel" })
	void callThatOffersAToolOfALikeNameIsRefusedAndTheErrorNamesBoth(String misspelt) {
		SessionAdvisor process = process(misspelt, "look");
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(process, "cancel_order", "look"))
			.withMessageContaining("sessionkit.approval.tools names [" + misspelt + "]")
			.withMessageContaining("[cancel_order, look]")
			.withMessageContaining("write 'cancel_order' instead of '" + misspelt + "'");
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void onlyCallsThatOfferTheLikeToolAreRefused() {
		SessionAdvisor process = process("cancel_ordre");
		this.model.says("hello");
		assertThat(ask(process, "look")).isEqualTo("hello");
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(process, "cancel_order"));
	}

	@Test
	void likeNameRefusesWithoutASessionToo() {
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(process("cancel_ordre"))
			.defaultToolCallbacks(RecordingTool.of("cancel_order", this.runs))
			.build();
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> chat.prompt().user("q").call().content())
			.withMessageContaining("write 'cancel_order' instead of 'cancel_ordre'");
	}

	@Test
	void toolsThatAreBothThereAreNotMistakenForEachOther() {
		SessionAdvisor process = process("refund");
		this.model.says("hello").says("hello");
		assertThat(ask(process, "refund", "refunds")).isEqualTo("hello");
		assertThat(ask(process, "refunds")).isEqualTo("hello");
	}

	@Test
	void toolThatIsABeanIsNotMistakenForTheOneOnOffer() {
		SessionAdvisor process = process((rules) -> rules.tools(Set.of("refund")).knownTools(() -> List.of("refund")));
		this.model.says("hello");
		assertThat(ask(process, "refunds")).isEqualTo("hello");
	}

	@Test
	void toolThatAppearsAmongTheBeansLaterIsFoundBeforeACallIsRefused() {
		List<String> beans = new ArrayList<>();
		SessionAdvisor process = process((rules) -> rules.tools(Set.of("refund")).knownTools(() -> beans));
		this.model.says("hello").says("hello");
		ask(process, "look");
		beans.add("refund");
		assertThat(ask(process, "refunds")).isEqualTo("hello");
	}

	@Test
	void beansAreAskedOnceWhileNothingIsSuspicious() {
		AtomicInteger asked = new AtomicInteger();
		SessionAdvisor process = process((rules) -> rules.tools(Set.of("wipe")).knownTools(() -> {
			asked.incrementAndGet();
			return List.of();
		}));
		this.model.says("hello").says("hello").says("hello");
		ask(process, "look");
		ask(process, "look");
		ask(process, "look");
		assertThat(asked).hasValue(1);
	}

	@Test
	void beansThatCannotBeListedStopNoCall() {
		SessionAdvisor process = process((rules) -> rules.tools(Set.of("wipe")).knownTools(() -> {
			throw new IllegalStateException("no connection for user=secret");
		}));
		this.model.says("hello");
		assertThat(ask(process, "look")).isEqualTo("hello");
		assertThat(warnings()).anySatisfy((line) -> assertThat(line).contains("could not be listed"))
			.noneSatisfy((line) -> assertThat(line).contains("secret"));
	}

	@Test
	void nameThatIsLikeNoOtherIsLoggedOnceWithTheToolsThatThereAre() {
		SessionAdvisor process = process("annul");
		this.model.says("hello").says("hello");
		ask(process, "cancel_order", "look");
		ask(process, "cancel_order", "look");
		assertThat(warnings()).singleElement()
			.asString()
			.contains("sessionkit.approval.tools names [annul]", "this call offers [cancel_order, look]",
					"runs without approval");
	}

	@Test
	void namesThatAllHaveAToolAreNotLogged() {
		SessionAdvisor process = process("refund");
		this.model.says("hello");
		ask(process, "refund", "look");
		assertThat(warnings()).isEmpty();
	}

	private List<String> warnings() {
		return this.log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	private SessionAdvisor process(String... names) {
		return process((rules) -> rules.tools(Set.of(names)));
	}

	private SessionAdvisor process(Consumer<Approvals.Builder> rules) {
		Conversations conversations = Conversations.of(TestStores.MEMORY.create());
		Approvals.Builder approvals = Approvals.builder(conversations);
		rules.accept(approvals);
		return SessionAdvisor.builder(conversations).approvals(approvals.build()).build();
	}

	private @Nullable String ask(SessionAdvisor process, String... tools) {
		List<ToolCallback> offered = Arrays.stream(tools)
			.<ToolCallback>map((tool) -> RecordingTool.of(tool, this.runs))
			.toList();
		return ChatClient.builder(this.model)
			.defaultAdvisors(process)
			.defaultToolCallbacks(offered)
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(SessionKey.of(String.join("+", tools))))
			.call()
			.content();
	}

}
