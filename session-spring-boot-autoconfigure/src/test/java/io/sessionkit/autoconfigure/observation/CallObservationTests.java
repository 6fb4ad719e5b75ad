package io.sessionkit.autoconfigure.observation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ClientSetup.Mode;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The tree of observations of a call and of a stream, with those of Spring AI.
 */
class CallObservationTests {

	private static final String HOSTILE = "t1' or ''='\u00e9{}${jndi:x}";

	private final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private List<SessionHook> hooks = List.of();

	CallObservationTests() {
		this.registry.observationConfig().observationHandler(new ObservationHandler<>() {

			@Override
			public void onStop(Observation.Context context) {
				CallObservationTests.this.stopped.add(context);
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}

		});
	}

	@ParameterizedTest
	@EnumSource
	void callIsInTheSessionAdvisorAndItsRoundsAreAroundTheModel(Mode mode) {
		this.hooks = List.of(new SessionHook() {
		});
		this.model.calls(new ToolCall("c1", "function", "look", "{}")).says("a");
		ask(mode, SessionKey.of("t1"));
		awaitCall();
		assertThat(paths("sessionkit.call")).containsExactly("spring.ai.chat.client/SessionKitAdvisor/sessionkit.call");
		assertThat(paths("sessionkit.call.open")).containsExactly(call() + "/sessionkit.call.open");
		assertThat(paths("sessionkit.call.commit")).containsExactly(call() + "/sessionkit.call.commit");
		assertThat(paths("sessionkit.call.round")).hasSize(2)
			.allSatisfy((path) -> assertThat(path).startsWith(call() + "/")
				.endsWith("/SessionKitRoundAdvisor/sessionkit.call.round"));
		assertThat(paths("spring.ai.advisor", "SessionKitModelAdvisor")).hasSize(2)
			.allSatisfy((path) -> assertThat(path).contains("/sessionkit.call.round/"));
		assertThat(paths("spring.ai.tool")).hasSize(1)
			.allSatisfy((path) -> assertThat(path).startsWith(call() + "/").doesNotContain("sessionkit.call.round"));
		assertThat(paths("sessionkit.call.hooks")).allSatisfy((path) -> assertThat(path).startsWith(call() + "/"));
		assertThat(values("sessionkit.call.hooks", "phase")).containsExactlyInAnyOrder("before-turn", "before-model",
				"after-model", "before-model", "after-model", "before-save");
	}

	@ParameterizedTest
	@EnumSource
	void keysAreFewWhateverNamesTheModelAndTheCallerInvent(Mode mode) {
		this.model.calls(new ToolCall(HOSTILE, "function", "look", "{\"a\":\"" + "secret" + "\"}")).says("secret");
		ask(mode, SessionKey.of(HOSTILE, HOSTILE));
		assertThatIllegalStateException().isThrownBy(() -> {
			this.model.calls(new ToolCall("c2", "function", HOSTILE, "{}"));
			ask(mode, SessionKey.of(HOSTILE));
		});
		Awaitility.await().until(() -> ours().filter((each) -> each.getName().equals("sessionkit.call")).count() == 2);
		assertThat(ours().flatMap((context) -> context.getHighCardinalityKeyValues().stream())).isEmpty();
		assertThat(ours().flatMap((context) -> context.getLowCardinalityKeyValues().stream()).distinct()).containsOnly(
				KeyValue.of("mode", ObservationNames.mode(mode == Mode.STREAM)), KeyValue.of("outcome", "completed"),
				KeyValue.of("outcome", "failed"));
		assertThat(ours().map(Observation.Context::getContextualName)).allSatisfy(
				(name) -> assertThat(name).doesNotContain(HOSTILE).doesNotContain("secret").startsWith("sessionkit "));
	}

	@ParameterizedTest
	@EnumSource
	void failureIsAnErrorOfTheCallAndOfItsRound(Mode mode) {
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, SessionKey.of("t1")));
		awaitCall();
		assertThat(ours().filter((context) -> context.getError() != null).map(Observation.Context::getName))
			.containsExactlyInAnyOrder("sessionkit.call.round", "sessionkit.call");
		assertThat(values("sessionkit.call", "outcome")).containsExactly("failed");
	}

	@ParameterizedTest
	@EnumSource
	void errorOfTheJvmIsTheErrorOfTheCallAndOfItsRound(Mode mode) {
		this.model.step((prompt) -> {
			throw new StackOverflowError();
		});
		assertThatThrownBy(() -> ask(mode, SessionKey.of("t1"))).isNotNull();
		awaitCall();
		assertThat(ours().filter((context) -> context.getError() != null)
			.map((context) -> context.getName() + " " + context.getError().getClass().getSimpleName()))
			.containsExactlyInAnyOrder("sessionkit.call.round StackOverflowError",
					"sessionkit.call StackOverflowError");
	}

	@ParameterizedTest
	@EnumSource
	void callWithoutATurnHasAnOutcomeToo(Mode mode) {
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> {
			ChatClient.ChatClientRequestSpec spec = chat().prompt().advisors(SessionAdvisor.session("t1"));
			new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(spec);
		});
		assertThat(values("sessionkit.call", "outcome")).containsExactly("not-opened");
	}

	@Test
	void readerThatCancelsEndsTheObservationWithTheTurn() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false)).concatWith(Flux.never()));
		prompt(SessionKey.of("t1")).stream().content().take(1).blockLast();
		awaitCall();
		assertThat(values("sessionkit.call", "outcome")).containsExactly("cancelled");
		assertThat(paths("sessionkit.call.commit")).containsExactly(call() + "/sessionkit.call.commit");
		assertThat(this.stopped.stream().filter((context) -> context.getName().startsWith("sessionkit.call"))).last()
			.extracting(Observation.Context::getName)
			.isEqualTo("sessionkit.call");
	}

	@Test
	void whatIsSwitchedOffIsNotMade() {
		assertThat(new CallObservations(ObservationRegistry.NOOP).begin(false)).isSameAs(ObservedCall.NONE);
		this.registry.observationConfig().observationPredicate((name, context) -> !name.startsWith("sessionkit"));
		this.model.says("a").says("b");
		ask(Mode.CALL, SessionKey.of("t1"));
		ask(Mode.STREAM, SessionKey.of("t1"));
		Awaitility.await().until(() -> paths("spring.ai.advisor", "SessionKitModelAdvisor").size() == 2);
		assertThat(ours()).isEmpty();
		assertThat(paths("spring.ai.advisor", "SessionKitModelAdvisor"))
			.allSatisfy((path) -> assertThat(path).startsWith("spring.ai.chat.client/SessionKitAdvisor/"));
	}

	private static String call() {
		return "spring.ai.chat.client/SessionKitAdvisor/sessionkit.call";
	}

	private void awaitCall() {
		Awaitility.await().until(() -> ours().anyMatch((context) -> context.getName().equals("sessionkit.call")));
	}

	private Stream<Observation.Context> ours() {
		return this.stopped.stream().filter((context) -> context.getName().startsWith("sessionkit"));
	}

	private List<String> values(String name, String key) {
		return this.stopped.stream()
			.filter((context) -> context.getName().equals(name))
			.map((context) -> context.getLowCardinalityKeyValue(key).getValue())
			.toList();
	}

	/** Returns the paths of all observations of a name, of an advisor by its name. */
	private List<String> paths(String name) {
		return this.stopped.stream()
			.filter((context) -> context.getName().equals(name))
			.map(CallObservationTests::path)
			.toList();
	}

	private List<String> paths(String name, String last) {
		return paths(name).stream().filter((path) -> path.endsWith("/" + last)).toList();
	}

	private static String path(Observation.Context context) {
		List<String> names = new ArrayList<>();
		for (Observation.@Nullable ContextView at = context; at != null; at = parent(at)) {
			KeyValue advisor = at.getLowCardinalityKeyValues()
				.stream()
				.filter((value) -> value.getKey().equals("spring.ai.advisor.name"))
				.findFirst()
				.orElse(null);
			names.add(0,
					(at.getName().equals("spring.ai.advisor") && advisor != null) ? advisor.getValue() : at.getName());
		}
		return String.join("/", names);
	}

	private static Observation.@Nullable ContextView parent(Observation.ContextView context) {
		return (context.getParentObservation() != null) ? context.getParentObservation().getContextView() : null;
	}

	private void ask(Mode mode, SessionKey key) {
		new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(prompt(key));
	}

	private ChatClient.ChatClientRequestSpec prompt(SessionKey key) {
		return chat().prompt().user("secret").advisors(SessionAdvisor.session(key)).tools(look());
	}

	private ChatClient chat() {
		Conversations conversations = Conversations
			.builder(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))
			.observers(List.of(new CallObservations(this.registry)))
			.hooks(this.hooks)
			.build();
		SessionAdvisor advisor = SessionAdvisor.builder(conversations).approvals(Approvals.of(conversations)).build();
		Consumer<ChatClient.Builder> tools = (builder) -> builder.defaultAdvisors(ToolCallingAdvisor.builder()
			.toolCallingManager(ToolCallingManager.builder().observationRegistry(this.registry).build())
			.build());
		return ClientSetup.observed(this.model, advisor, this.registry, tools);
	}

	private static ToolCallback look() {
		record Nothing() {
		}
		return FunctionToolCallback.builder("look", (Nothing nothing) -> "found")
			.description("looks")
			.inputType(Nothing.class)
			.build();
	}

}
