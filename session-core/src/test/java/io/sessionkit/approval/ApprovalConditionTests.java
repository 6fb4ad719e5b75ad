package io.sessionkit.approval;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.aop.framework.ProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Conditions and policies are judged on the values that the tool gets.
 */
@Isolated
class ApprovalConditionTests extends ApprovalFixture {

	private static final Logger LOGGER = (Logger) LoggerFactory
		.getLogger("io.sessionkit.internal.tool.ApprovalCondition");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return this.store;
	}

	/** Spring AI converts each of these to the value that the condition names. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "wipe|{\"force\":\"true\"}", "wipe|{\"force\":1}",
			"wipe|{\"force\":\"1\"}", "wipe|{\"force\":\"True\"}", "wipe|{\"force\":[true]}", "mode|{\"mode\":1}",
			"mode|{\"mode\":\" DELETE\"}", "mode|{\"mode\":\"DELETE \"}", "mode|{\"mode\":\"1\"}",
			"mode|{\"mode\":[\"DELETE\"]}", "order|{\"order\":4711}", "order|{\"order\":[\"4711\"]}",
			"level|{\"level\":3.7}", "level|{\"level\":\"03\"}", "level|{\"level\":\"3\"}",
			"level|{\"level\":3.0000000000000001}", "level|{\"level\":3.0}", "level|{\"level\":3e0}",
			"level|{\"level\":4294967299}", "level|{\"level\":2,\"level\":3}", "level|{\"level\":2,\"other\":3}" })
	void conditionIsJudgedOnTheValueThatTheToolGets(String tool, String arguments) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", tool, arguments)).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "wipe|{\"force\":false}", "mode|{\"mode\":\"READ\"}", "order|{\"order\":\"4712\"}",
					"level|{\"level\":2}", "level|{\"level\":2.0}", "city|{\"city\":\"Paris\"}",
					"tags|{\"tags\":[\"a\",\"b\"]}", "nested|{\"order\":{\"id\":8}}" })
	void callThatTheConditionIsFalseForRunsUnasked(String tool, String arguments) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", tool, arguments)).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isFalse();
		assertThat(this.runs).hasSize(1);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "city|{\"city\":\"Oakland Hills\"}",
			"tags|{\"tags\":[\"a\",\"danger\"]}", "nested|{\"order\":{\"id\":4711}}" })
	void conditionCallsMethodsOfTextsListsAndMaps(String tool, String arguments) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", tool, arguments)).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policySeesTheValuesThatTheToolGets(ClientSetup.Mode mode) {
		List<Map<String, Object>> seen = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of()).policies(List.<ApprovalPolicy>of((request) -> {
			seen.add(request.arguments());
			return Ruling.allow();
		})));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", "pay", "{\"amount\":3.0}"), call("c2", "pay", "{\"amount\":3.7}")).says("done");
		List<ToolApproval> pending = SessionAdvisor.pending(ask(mode, "q"));
		assertThat(seen).containsExactly(Map.of("amount", 3), Map.of());
		assertThat(pending).extracting(ToolApproval::callId).containsExactly("c2");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "{\"amount\":1}", "{\"amount\":\"1\"}", "{}",
			"{\"amount\":1,\"x\":1}", "{\"amount\":", "{\"amount\":3.7}" })
	void modelDoesNotGetAroundADenialByArgumentsThatDoNotFit(String arguments) {
		rules((rules) -> rules.tools(Set.of())
			.policies(
					List.of((request) -> request.call().name().equals("pay") ? Ruling.deny("never") : Ruling.allow())));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", "pay", arguments)).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isFalse();
		assertThat(this.runs).isEmpty();
		assertThat(this.model.lastRequestLines()).last().isEqualTo("tool pay=never");
	}

	@Test
	void policyThatMissesAnArgumentWhereNoneIsShownAsks() {
		rules((rules) -> rules.tools(Set.of()).policies(List.of((request) -> {
			Objects.requireNonNull(request.arguments().get("amount"));
			return Ruling.allow();
		})));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", "pay", "{\"amount\":\"1\"}"));
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	/** A proxy by CGLIB is a function too, with empty fields. */
	@Test
	void policySeesTheValuesThatAFunctionBehindAProxyGets() {
		List<Map<String, Object>> seen = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of()).policies(List.<ApprovalPolicy>of((request) -> {
			seen.add(request.arguments());
			return Ruling.allow();
		})));
		ProxyFactory factory = new ProxyFactory(FunctionToolCallback.builder("refund", (Amount amount) -> {
			this.runs.add("refund " + amount.value());
			return "done";
		}).description("refunds").inputType(Amount.class).build());
		factory.setProxyTargetClass(true);
		tools((ToolCallback) factory.getProxy());
		this.model.calls(call("c1", "refund", "{\"value\":7}"))
			.calls(call("c2", "refund", "{\"value\":16777217}"))
			.says("done");
		List<ToolApproval> pending = SessionAdvisor.pending(ask(ClientSetup.Mode.CALL, "q"));
		assertThat(seen).containsExactly(Map.of("value", 7), Map.of());
		assertThat(pending).extracting(ToolApproval::callId).containsExactly("c2");
		assertThat(this.runs).containsExactly("refund 7.0");
	}

	/** Null is less than every number, and equal to none. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "limited|{\"limits\":{}}", "limited|{\"limits\":{\"total\":null}}",
					"limited|{\"limits\":{\"total\":101}}", "indexed|{\"limits\":{}}",
					"indexed|{\"limits\":{\"total\":null}}", "defaulted|{\"limits\":{}}", "lines|{\"lines\":[{}]}",
					"parts|{\"parts\":[null]}" })
	void propertyThatIsMissingOrNullAsks(String tool, String arguments) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Conditions(this.runs)));
		this.model.calls(call("c1", tool, arguments)).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void annotationIsFoundBehindProxiesAndInEachOfSeveralTools(boolean proxy) {
		rules((rules) -> rules.tools(Set.of()));
		tools(proxy ? proxyOf(condition("wipe")) : new Either(tool("wipe"), condition("wipe")));
		this.model.calls(call("c1", "wipe", "{\"force\":true}")).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "level,high", "high,level" })
	void ofSeveralToolsTheStrictestConditionCounts(String first, String second) {
		rules((rules) -> rules.tools(Set.of()));
		tools(new Either(condition(first), condition(second)));
		this.model.calls(call("c1", second, "{\"level\":3}")).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	@Test
	void callOfSeveralToolsThatNoConditionHoldsForRunsUnasked() {
		rules((rules) -> rules.tools(Set.of()));
		tools(new Either(condition("level"), condition("high")));
		this.model.calls(call("c1", "high", "{\"level\":2}")).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isFalse();
		assertThat(this.runs).containsExactly("high 2");
	}

	/** The condition does not hold for the value as it is written. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "rough|precise|{\"value\":16777217}",
			"precise|rough|{\"value\":16777217}", "wipe|named|{\"force\":\"true\"}" })
	void conditionsOfSeveralToolsAreJudgedOnTheValueThatEachGets(String first, String second, String arguments) {
		rules((rules) -> rules.tools(Set.of()));
		tools(new Either(condition(first), condition(second)));
		this.model.calls(call("c1", second, arguments)).says("done");
		assertThat(isPaused(ask(ClientSetup.Mode.CALL, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	private ToolCallback condition(String name) {
		return Arrays.stream(ToolCallbacks.from(new Conditions(this.runs)))
			.filter((tool) -> tool.getToolDefinition().name().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private static ToolCallback proxyOf(ToolCallback tool) {
		ProxyFactory factory = new ProxyFactory(tool);
		factory.setInterfaces(ToolCallback.class);
		return (ToolCallback) factory.getProxy();
	}

	/** Calls the second tool where the first has failed. */
	private record Either(ToolCallback first, ToolCallback second) implements ToolCallback {

		@Override
		public ToolDefinition getToolDefinition() {
			return this.second.getToolDefinition();
		}

		@Override
		public String call(String input) {
			return this.second.call(input);
		}

	}

	@ParameterizedTest
	@MethodSource("toolsWithConditionsThatCanNeverBeEvaluated")
	void conditionThatCanNeverBeEvaluatedIsRefusedBeforeTheModelIsCalled(Object tool, String why) {
		// with a policy every tool may ask, and no annotation would have to be read
		// before the reply
		rules((rules) -> rules.tools(Set.of()).policies(List.of((request) -> Ruling.allow())));
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			tools(ToolCallbacks.from(tool));
			assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q"))
				.withMessageContaining("tool 'act'")
				.withMessageContaining(tool.getClass().getName() + ".act")
				.withMessageContaining(why);
			assertThatIllegalStateException()
				.isThrownBy(() -> setup(mode).content(client(setup(mode)).build().prompt().user("no session")))
				.withMessageContaining("tool 'act'");
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(store().find(this.key)).isEmpty();
	}

	static Stream<Arguments> toolsWithConditionsThatCanNeverBeEvaluated() {
		return Stream.of(Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "#amount >")
			String act(int amount) {
				return "";
			}
		}, "#amount >"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "#amuont > 3")
			String act(int amount) {
				return "";
			}
		}, "'#amuont' is no parameter"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "amount > 3")
			String act(int amount) {
				return "";
			}
		}, "Write '#amount'"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "T(java.lang.Math).abs(#amount) > 3")
			String act(int amount) {
				return "";
			}
		}, "ApprovalPolicy"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "@limits.of(#amount)")
			String act(int amount) {
				return "";
			}
		}, "ApprovalPolicy"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "#city.containz('x')")
			String act(String city) {
				return "";
			}
		}, "no method 'containz'"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "#amount.intValue() > 3")
			String act(int amount) {
				return "";
			}
		}, "no method 'intValue'"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "#amount = 3")
			String act(int amount) {
				return "";
			}
		}, "cannot change"), Arguments.of(new Object() {
			@Tool
			@RequiresApproval(condition = "'force'")
			String act(boolean force) {
				return "";
			}
		}, "constant"));
	}

	@Test
	void conditionThatFailsAsksAndIsLoggedOnceForEachTool() {
		rules((rules) -> rules.tools(Set.of()));
		SessionAdvisor advisor = SessionAdvisor.builder(conversations()).approvals(approvals()).build();
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		LOGGER.addAppender(log);
		try {
			for (String thread : List.of("first", "second", "third")) {
				this.model.calls(call("c1", "third", "{\"tags\":[\"secret\"]}"));
				ChatResponse response = ClientSetup.plain()
					.builder(this.model, advisor)
					.defaultTools(new Conditions(this.runs))
					.build()
					.prompt()
					.user("q")
					.advisors(SessionAdvisor.session(thread))
					.call()
					.chatResponse();
				assertThat(isPaused(response)).isTrue();
			}
		}
		finally {
			LOGGER.detachAppender(log);
		}
		assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
			.singleElement()
			.asString()
			.contains("'third'")
			.doesNotContain("secret");
		assertThat(this.runs).isEmpty();
	}

	record Order(int id) {
	}

	record Amount(float value) {
	}

	record Limits(@Nullable Integer total) {
	}

	enum Access {

		READ, DELETE

	}

	/**
	 * Tools that need consent for one value each.
	 */
	static final class Conditions {

		private final List<String> runs;

		Conditions(List<String> runs) {
			this.runs = runs;
		}

		@Tool
		@RequiresApproval(condition = "#force == true")
		String wipe(boolean force) {
			return run("wipe " + force);
		}

		@Tool
		@RequiresApproval(condition = "#mode == 'DELETE'")
		String mode(Access mode) {
			return run("mode " + mode);
		}

		@Tool
		@RequiresApproval(condition = "#order == '4711'")
		String order(String order) {
			return run("order " + order);
		}

		@Tool
		@RequiresApproval(condition = "#level == 3")
		String level(int level) {
			return run("level " + level);
		}

		@Tool
		@RequiresApproval(condition = "#city.contains('Oakland')")
		String city(String city) {
			return run("city " + city);
		}

		@Tool
		@RequiresApproval(condition = "#tags.contains('danger') || #tags.?[#this.length() > 10].size() > 0")
		String tags(List<String> tags) {
			return run("tags " + tags);
		}

		@Tool
		@RequiresApproval(condition = "#order.id == 4711")
		String nested(Order order) {
			return run("nested " + order);
		}

		@Tool
		@RequiresApproval(condition = "#limits.total > 100")
		String limited(Limits limits) {
			return run("limited " + limits);
		}

		@Tool
		@RequiresApproval(condition = "#limits['total'] > 100")
		String indexed(Limits limits) {
			return run("indexed " + limits);
		}

		@Tool
		@RequiresApproval(condition = "#limits.getOrDefault('total', 1000) > 100")
		String defaulted(Limits limits) {
			return run("defaulted " + limits);
		}

		@Tool
		@RequiresApproval(condition = "#lines[0].total > 100")
		String lines(List<Limits> lines) {
			return run("lines " + lines);
		}

		@Tool
		@RequiresApproval(condition = "#parts[0] == 'DELETE'")
		String parts(List<Object> parts) {
			return run("parts " + parts);
		}

		@Tool
		@RequiresApproval(condition = "#level > 5")
		String high(int level) {
			return run("high " + level);
		}

		@Tool
		@RequiresApproval(condition = "#value == 16777216")
		String rough(float value) {
			return run("rough " + value);
		}

		@Tool
		String precise(double value) {
			return run("precise " + value);
		}

		@Tool
		String named(String force) {
			return run("named " + force);
		}

		@Tool
		String pay(int amount) {
			return run("pay " + amount);
		}

		@Tool
		@RequiresApproval(condition = "#tags[2] == 'x'")
		String third(List<String> tags) {
			return run("third " + tags);
		}

		private String run(String what) {
			this.runs.add(what);
			return "done";
		}

	}

}
