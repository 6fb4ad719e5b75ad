package io.sessionkit.advisor;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.DefaultAroundAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.client.advisor.observation.AdvisorObservationContext;
import org.springframework.ai.chat.client.advisor.observation.DefaultAdvisorObservationConvention;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The session advisor hands a call to a copy of the rest of its chain. A call with a
 * session passes the other advisors as one without does.
 */
class ChainOrderTests {

	private final SessionAdvisor advisor = SessionAdvisor
		.of(Conversations.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()))));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> passed = new CopyOnWriteArrayList<>();

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void advisorsOfEqualOrderStayInTheirOrder(ClientSetup.Mode mode) {
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(three("front", SessionParameters.TURN_ORDER - 10))
			.defaultAdvisors(three("before the loop", SessionParameters.TURN_ORDER + 10))
			.defaultAdvisors(this.advisor)
			.defaultAdvisors(three("in the loop", SessionParameters.ROUND_ORDER - 10))
			.defaultAdvisors(three("beside the round", SessionParameters.ROUND_ORDER))
			.defaultAdvisors(three("behind", 0))
			.defaultAdvisors(three("beside the model", SessionParameters.MODEL_ORDER))
			.build();
		List<String> without = passedBy(chat, mode, SessionAdvisor.none());
		assertThat(without).hasSize(18).doesNotHaveDuplicates();
		assertThat(passedBy(chat, mode, SessionAdvisor.session("t1"))).isEqualTo(without);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void advisorsOfTheOrderOfTheSessionAdvisorArePassedOnce(ClientSetup.Mode mode) {
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(three("beside", SessionParameters.TURN_ORDER))
			.defaultAdvisors(this.advisor)
			.defaultAdvisors(three("also beside", SessionParameters.TURN_ORDER))
			.build();
		List<String> without = passedBy(chat, mode, SessionAdvisor.none());
		assertThat(without).hasSize(6).doesNotHaveDuplicates();
		assertThat(passedBy(chat, mode, SessionAdvisor.session("t1"))).isEqualTo(without);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void advisorsOfTheOrderOfTheModelArePassedIfTheyAreWithoutASession(ClientSetup.Mode mode) {
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(this.advisor)
			.defaultAdvisors(three("last", Ordered.LOWEST_PRECEDENCE))
			.build();
		List<String> without = passedBy(chat, mode, SessionAdvisor.none());
		assertThat(passedBy(chat, mode, SessionAdvisor.session("t1"))).isEqualTo(without);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void advisorsOfDifferentOrdersStayInTheirOrder(ClientSetup.Mode mode) {
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(new Noting("behind", 0), new Noting("front", SessionParameters.TURN_ORDER - 10),
					new Noting("in the loop", SessionParameters.ROUND_ORDER - 10))
			.defaultAdvisors(this.advisor)
			.build();
		assertThat(passedBy(chat, mode, SessionAdvisor.session("t1"))).containsExactly("front", "in the loop",
				"behind");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void restOfTheChainIsObservedAsBefore(ClientSetup.Mode mode) {
		Set<String> conventional = ConcurrentHashMap.newKeySet();
		TestObservationRegistry registry = TestObservationRegistry.create();
		ChatClient chat = ChatClient.builder(this.model, registry, null, new DefaultAdvisorObservationConvention() {

			@Override
			public String getContextualName(AdvisorObservationContext context) {
				conventional.add(context.getAdvisorName());
				return super.getContextualName(context);
			}

		}).defaultAdvisors(this.advisor).defaultAdvisors(new Noting("behind", 0), new Noting("also behind", 0)).build();
		assertThat(passedBy(chat, mode, SessionAdvisor.session("t1"))).hasSize(2);
		// the observations of a stream end a little later than the stream
		Awaitility.await()
			.untilAsserted(() -> assertThat(conventional).contains("SessionKitModelAdvisor", "behind", "also behind"));
	}

	/** The advisors outside of it would be passed a second time. */
	@Test
	void restOfAChainThatDoesNotHaveTheAdvisorIsRefused() {
		CallAdvisor outside = new Noting("outside", 0);
		BaseAdvisorChain chain = DefaultAroundAdvisorChain.builder(ObservationRegistry.NOOP).push(outside).build();
		CallAdvisor wrapped = new Noting("wrapped", 0);
		assertThatIllegalStateException()
			.isThrownBy(() -> ChainRest.behind(wrapped, chain.getCallAdvisors(), (last) -> chain.copy(last)))
			.withMessageContaining("wrapped");
	}

	private List<String> passedBy(ChatClient chat, ClientSetup.Mode mode, Consumer<ChatClient.AdvisorSpec> session) {
		this.passed.clear();
		this.model.says("a");
		new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(chat.prompt().user("q").advisors(session));
		return List.copyOf(this.passed);
	}

	private Noting[] three(String name, int order) {
		return new Noting[] { new Noting(name + " 1", order), new Noting(name + " 2", order),
				new Noting(name + " 3", order) };
	}

	/**
	 * Notes that a call has passed it.
	 */
	private final class Noting implements CallAdvisor, StreamAdvisor {

		private final String name;

		private final int order;

		Noting(String name, int order) {
			this.name = name;
			this.order = order;
		}

		@Override
		public String getName() {
			return this.name;
		}

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			ChainOrderTests.this.passed.add(this.name);
			return chain.nextCall(request);
		}

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			ChainOrderTests.this.passed.add(this.name);
			return chain.nextStream(request);
		}

	}

}
