package io.sessionkit.approval;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

import io.sessionkit.Durability;
import io.sessionkit.NestedTurnException;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.DefaultToolDefinition;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * The calls that need consent, none of which runs without it where nobody can say.
 */
abstract class DeclaredApprovals extends ApprovalFixture {

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callsOfNamedToolsWaitAndThoseOfOthersRun(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2));
		assertThat(isPaused(ask(mode, "q"))).isTrue();
		assertThat(this.runs).containsExactly("look{\"id\":1}");
		assertThat(waiting().tool()).isEqualTo("cancel");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void conditionOfTheAnnotationSaysWhichCallsWait(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Bank(this.runs)));
		this.model.calls(call("c1", "pay", "{\"amount\":50}"), call("c2", "pay", "{\"amount\":150}"),
				call("c3", "pay", "{}"), call("c4", "pay", "{\"amount\":null}"),
				call("c5", "pay", "{\"amount\":\"many\"}"), call("c6", "pay", ""));
		List<ToolApproval> pending = SessionAdvisor.pending(ask(mode, "q"));
		assertThat(pending).extracting(ToolApproval::callId).containsExactly("c2", "c3", "c4", "c5", "c6");
		assertThat(pending).extracting(ToolApproval::description).containsOnly("money leaves");
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void annotationWithoutConditionAsksAlways(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Bank(this.runs)));
		this.model.calls(call("c1", "close", "{}")).says("closed");
		assertThat(isPaused(ask(mode, "q"))).isTrue();
		assertThat(this.runs).isEmpty();
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("closed");
		assertThat(this.runs).containsExactly("close");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyIsAskedWithTheParsedArgumentsAndWhatIsKnownOfTheTurn(ClientSetup.Mode mode) {
		List<ToolRequest> asked = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of()).policies(List.<ApprovalPolicy>of((request) -> {
			asked.add(request);
			return Ruling.allow();
		})));
		this.model.says("hello").calls(look("c1", 3)).says("done");
		ask(mode, "hi");
		thread().putAttribute("limit", 5);
		response(setup(mode),
				client(setup(mode)).build()
					.prompt()
					.user("q")
					.advisors(SessionAdvisor.agent("clerk"))
					.advisors((advisors) -> advisors.param("tenant", "acme")));
		assertThat(asked).hasSize(1);
		ToolRequest request = asked.get(0);
		assertThat(request.key()).isEqualTo(this.key);
		assertThat(request.agent()).isEqualTo("clerk");
		assertThat(request.call().id()).isEqualTo("c1");
		assertThat(request.arguments()).isEqualTo(Map.of("id", 3));
		assertThat(request.tool()).isNotNull();
		assertThat(request.attributes()).isEqualTo(Map.of("limit", 5));
		assertThat(request.parameters()).containsEntry("tenant", "acme");
		assertThat(request.parameters().keySet()).noneMatch((name) -> name.startsWith("sessionkit."));
		assertThat(this.runs).containsExactly("look{\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void argumentsThatCannotBeReadNeedConsentAndNoPolicyIsShownThem(ClientSetup.Mode mode) {
		List<ToolRequest> asked = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of()).policies(List.<ApprovalPolicy>of((request) -> {
			asked.add(request);
			return Ruling.allow();
		})));
		this.model.calls(call("c1", "look", "{\"id\":"), call("c2", "look", "[1]"), call("c3", "look", "{\"id\":NaN}"),
				call("c4", "look", "{\"id\":Infinity}"), call("c5", "look", "{\"id\":1,\"id\":2}"),
				call("c6", "look", "\"text\""), call("c7", "look", "{\"id\":1}{\"id\":2}"), call("c8", "look", "null"));
		assertThat(SessionAdvisor.pending(ask(mode, "q"))).hasSize(8);
		assertThat(asked).extracting(ToolRequest::arguments).hasSize(8).containsOnly(Map.of());
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyThatThrowsEndsTheTurnAsFailedAndNothingRuns(ClientSetup.Mode mode) {
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of((request) -> {
			if (request.call().id().equals("c2")) {
				throw new IllegalStateException("no policy today");
			}
			return Ruling.allow();
		})));
		this.model.calls(look("c1", 1), look("c2", 2));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q")).withMessage("no policy today");
		assertThat(this.runs).isEmpty();
		assertThat(turns()).containsExactly(TurnStatus.FAILED);
		assertThat(log()).isEmpty();
		assertThat(pending()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyCannotWriteToTheSessionOfItsTurn(ClientSetup.Mode mode) {
		List<String> refused = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of()).policies(List.<ApprovalPolicy>of((request) -> {
			refused.add(catchThrowableOfType(NestedTurnException.class, () -> thread().putAttribute("asked", 1))
				.getMessage());
			return Ruling.allow();
		})));
		this.model.calls(look("c1", 3)).says("done");
		ask(mode, "q");
		assertThat(log()).endsWith("assistant: done");
		assertThat(refused).singleElement().asString().contains("Nothing was changed");
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyThatDeniesIsTheResultOfTheCallAndItsSiblingsRun(ClientSetup.Mode mode) {
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of(
				(request) -> request.call().name().equals("cancel") ? Ruling.deny("read only") : Ruling.allow())));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("sorry");
		ChatResponse response = ask(mode, "q");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("look{\"id\":2}");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=read only look=done {\"id\":2}");
		assertThat(ledger()).contains(ApprovalStatus.DENIED);
		assertThat(approvals().ledger(this.key)).filteredOn((call) -> call.status() == ApprovalStatus.DENIED)
			.singleElement()
			.satisfies((call) -> assertThat(call.decision().by()).isEqualTo("policy"));
	}

	/** What a hook says is repaired in the same way. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void reasonOfAPolicyThatIsCutWithinACharacterLosesNoTurn(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of())
			.policies(List.<ApprovalPolicy>of((request) -> request.call().name().equals("cancel")
					? Ruling.deny("never \ud83d\ude00".substring(0, 7)) : Ruling.allow())));
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("sorry");
		assertThat(status(ask(mode, "q"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("look{\"id\":1}");
		assertThat(log()).endsWith("tool look=done {\"id\":1} cancel=never \ufffd", "assistant: sorry");
		assertThat(approvals().ledger(this.key)).filteredOn((call) -> call.status() == ApprovalStatus.DENIED)
			.singleElement()
			.satisfies((call) -> assertThat(call.decision().reason()).isEqualTo("never \ufffd"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWaitsWhoseDescriptionOrSchemaHasHalfACharacter(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of())
			.policies(List.<ApprovalPolicy>of((request) -> request.arguments().containsValue(666)
					? Ruling.deny("the devil's \ud83d") : Ruling.ask("Send \ud83d"))));
		tools(tool("cancel").taking("{\"properties\":{\"id\":{\"description\":\"\ud83d\"}}}"), tool("look"));
		this.model.calls(cancel("c1", 1)).says("done");
		assertThat(isPaused(ask(mode, "q"))).isTrue();
		assertThat(waiting().description()).isEqualTo("Send \ufffd");
		assertThat(waiting().requirements().schema()).contains("\ufffd");
		approvals().decide(waiting(), Decision.approve("anna").withArguments("{\"id\":666}"));
		assertThat(status(goOn(mode))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).isEmpty();
		assertThat(log()).contains("tool cancel=the devil's \ufffd");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyThatReturnsNullIsToldWithTheNameInOneShortLine(ClientSetup.Mode mode) {
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of((request) -> null)));
		this.model.calls(call("c1", "x\nERROR paid" + "y".repeat(1000), "{}"));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q"))
			.withMessageContainingAll("x\\u000AERROR paidyyy", "has returned null")
			.satisfies((ex) -> assertThat(ex.getMessage()).hasSizeLessThan(400).doesNotContain("\n"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void strictestOfAllRulingsCounts(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of("cancel"))
			.policies(List.<ApprovalPolicy>of((request) -> Ruling.allow(),
					(request) -> request.arguments().containsValue(1) ? Ruling.deny("never 1") : Ruling.ask("why?"),
					(request) -> Ruling.ask())));
		this.model.calls(cancel("c1", 1), cancel("c2", 2), look("c3", 3));
		ask(mode, "q");
		assertThat(pending()).extracting(ToolApproval::callId).containsExactly("c2", "c3");
		assertThat(pending()).extracting(ToolApproval::description).containsOnly("why?");
		assertThat(ledger()).containsExactly(ApprovalStatus.DENIED, ApprovalStatus.PROPOSED, ApprovalStatus.PROPOSED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyIsNotAskedAgainWhenTheTurnGoesOn(ClientSetup.Mode mode) {
		List<String> asked = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of((request) -> {
			asked.add(request.call().id());
			return request.call().id().equals("c1") ? Ruling.ask() : Ruling.allow();
		})));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("done");
		ask(mode, "q");
		goOn(mode);
		approve(waiting());
		goOn(mode);
		assertThat(asked).containsExactly("c1", "c2");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void configuredNameThatNoToolHasIsAnErrorBeforeTheModelIsCalled(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of("cancle", "look")));
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContaining("[cancle]")
			.withMessageContaining("[cancel, look]");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(store().find(this.key)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolThatTheCallDoesNotOfferIsNotLookedForElsewhere(ClientSetup.Mode mode) {
		rules((rules) -> rules.knownTools(() -> List.of("cancel")));
		tools(tool("look"));
		this.model.calls(look("c1", 1), cancel("c2", 2));
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContaining("'cancel'")
			.withMessageContaining("[look]")
			.satisfies((ex) -> assertThat(ex.names()).containsExactly("cancel"));
		assertThat(this.runs).isEmpty();
		assertThat(turns()).containsExactly(TurnStatus.FAILED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void nameThatAModelInventsIsShownInOneShortLine(ClientSetup.Mode mode) {
		String forged = "x'\n2026-01-01 INFO paid\u202E" + "y".repeat(10_000);
		this.model.calls(cancel("c1", 1), call("c2", forged, "{}"));
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContainingAll("x'\\u000A2026-01-01 INFO paid\\u202Eyyy", "one of its calls needs an approval")
			.satisfies((ex) -> assertThat(ex.getMessage()).hasSizeLessThan(700).doesNotContain("\n", "\u202E"))
			.satisfies((ex) -> assertThat(ex.names().first()).hasSizeLessThan(100).doesNotContain("\n"));
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void nameThatAModelInventsBesideADeniedCallIsToldBeforeAnythingRuns(ClientSetup.Mode mode) {
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of(
				(request) -> request.call().name().equals("cancel") ? Ruling.deny("never") : Ruling.allow())));
		this.model.calls(look("c1", 1), cancel("c2", 2), call("c3", "invented", "{}"));
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContainingAll("'invented'", "is denied");
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void nameThatAModelInventsInATurnThatIsStoredStepByStepIsToldWithoutAnApproval(ClientSetup.Mode mode) {
		threads((threads) -> threads.durability(Durability.STEP));
		this.model.calls(look("c1", 1), call("c2", "invented", "{}"));
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContainingAll("'invented'", "sessionkit.durability=step")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("approval"));
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolRefusesInACallWithoutSession(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1), cancel("c2", 2));
		assertThatExceptionOfType(UnattendedToolException.class)
			.isThrownBy(() -> setup(mode).content(client(setup(mode)).build().prompt().user("q")))
			.withMessageContaining("'cancel'")
			.withMessageContaining("names no session");
		assertThat(this.runs).containsExactly("look{\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callThatAPolicyDeniesIsToldToTheModelWithoutASessionToo(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of())
			.policies(List.<ApprovalPolicy>of(
					(request) -> request.call().name().equals("cancel") ? Ruling.deny("read only") : Ruling.allow())));
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("sorry");
		assertThat(setup(mode).content(client(setup(mode)).build().prompt().user("q"))).isEqualTo("sorry");
		assertThat(this.model.lastRequestLines()).endsWith("tool look=done {\"id\":1} cancel=read only");
		this.model.calls(cancel("c3", 3)).says("sorry");
		assertThat(setup(mode).content(client(setup(mode)).build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key))
			.advisors(SessionAdvisor.reading()))).isEqualTo("sorry");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=read only");
		assertThat(this.runs).containsExactly("look{\"id\":1}");
	}

	@Test
	void callThatAPolicyDeniesWithoutAReasonIsToldAsOneThatIsNotAllowed() {
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of((request) -> new Ruling(Ruling.Kind.DENY, null))));
		this.model.calls(cancel("c1", 1)).says("sorry");
		assertThat(client(ClientSetup.plain()).build().prompt().user("q").call().content()).isEqualTo("sorry");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=This call is not allowed, so it did not run.");
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolIsRefusedWhereNoToolLoopRunsItAndOtherToolsAreNot(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of()));
		tools(ToolCallbacks.from(new Bank(this.runs)));
		assertThatIllegalStateException().isThrownBy(() -> askWithoutToolLoop(mode))
			.withMessageContaining("no tool advisor")
			.withMessageContaining(this.key.toString());
		assertThat(this.model.prompts()).isEmpty();
		tools(tool("look"));
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of((request) -> Ruling.allow())).tools(Set.of()));
		assertThatIllegalStateException().isThrownBy(() -> askWithoutToolLoop(mode));
		rules((rules) -> rules.tools(Set.of("wipe")));
		assertThatIllegalStateException().isThrownBy(() -> askWithoutToolLoop(mode));
		rules((rules) -> rules.tools(Set.of()));
		this.model.calls(look("c1", 1));
		askWithoutToolLoop(mode);
		assertThat(log()).endsWith("assistant look({\"id\":1})");
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolIsRefusedWhereNoToolLoopRunsItAlsoIfNothingIsStored(ClientSetup.Mode mode) {
		for (Consumer<ChatClient.AdvisorSpec> session : List.of(reading(), SessionAdvisor.none())) {
			tools(tool("cancel"), tool("look"));
			rules((rules) -> rules.tools(Set.of("cancel")));
			assertThatIllegalStateException().isThrownBy(() -> askWithoutToolLoop(mode, session))
				.withMessageContaining("no tool advisor");
			assertThat(this.model.prompts()).isEmpty();
			tools(tool("look"));
			rules((rules) -> rules.tools(Set.of()));
		}
		this.model.calls(look("c1", 1)).calls(look("c1", 1));
		askWithoutToolLoop(mode, reading());
		askWithoutToolLoop(mode, SessionAdvisor.none());
		assertThat(this.runs).isEmpty();
	}

	/** No tool needs an approval, so none could run unseen. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void questionIsAskedAgainWhereNoToolLoopRuns(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of()));
		tools(tool("look"));
		this.model.says("a1").says("a2").says("a3").says("a4");
		askWithoutToolLoop(mode);
		withoutToolLoop(mode, SessionAdvisor.regenerating());
		assertThat(log()).containsExactly("user: q", "assistant: a2");
		withoutToolLoop(mode, SessionAdvisor.regenerating(1));
		assertThat(log()).containsExactly("user: q", "assistant: a3");
		thread().pop();
		withoutToolLoop(mode, (session) -> {
		});
		assertThat(log()).containsExactly("user: q", "assistant: a4");
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> withoutToolLoop(mode, (session) -> {
		}));
		tools(tool("look"), tool("cancel"));
		rules((rules) -> rules.tools(Set.of("cancel")));
		assertThatIllegalStateException().isThrownBy(() -> withoutToolLoop(mode, SessionAdvisor.regenerating()))
			.withMessageContaining("no tool advisor");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatWaitsIsNotContinuedWhereNoToolLoopRuns(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approvals().approve(approvals().pending(this.key).get(0), "anna");
		rules((rules) -> rules.tools(Set.of()));
		assertThatIllegalStateException().isThrownBy(() -> withoutToolLoop(mode, (session) -> {
		})).withMessageContaining("no tool advisor");
		assertThat(this.runs).isEmpty();
		goOn(mode);
		assertThat(log()).endsWith("assistant: done");
	}

	private ChatResponse withoutToolLoop(ClientSetup.Mode mode, Consumer<ChatClient.AdvisorSpec> session) {
		return setup(mode).response(client(setup(mode)).build()
			.prompt()
			.advisors(AdvisorParams.toolCallingAdvisorAutoRegister(false))
			.advisors(SessionAdvisor.session(this.key).andThen(session)));
	}

	private Consumer<ChatClient.AdvisorSpec> reading() {
		return SessionAdvisor.session(this.key).andThen(SessionAdvisor.reading());
	}

	private ChatResponse askWithoutToolLoop(ClientSetup.Mode mode) {
		return askWithoutToolLoop(mode, SessionAdvisor.session(this.key));
	}

	private ChatResponse askWithoutToolLoop(ClientSetup.Mode mode, Consumer<ChatClient.AdvisorSpec> session) {
		return setup(mode).response(client(setup(mode)).build()
			.prompt()
			.user("q")
			.advisors(AdvisorParams.toolCallingAdvisorAutoRegister(false))
			.advisors(session));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void gatedToolOfANestedCallFailsTheOuterCallAndTheErrorNamesBoth(boolean wrapped) {
		SessionKey inner = SessionKey.of("inner of " + this.key.owner());
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			tools(tool("cancel"), delegating(wrapped, (chat) -> chat.advisors(SessionAdvisor.session(inner))));
			this.model.calls(call("c1", "delegate", "{\"id\":1}")).calls(cancel("c2", 2));
			assertThatExceptionOfType(NestedTurnException.class).isThrownBy(() -> ask(mode, "q"))
				.withMessageContaining(inner.toString())
				.withMessageContaining(this.key.toString())
				.withMessageContaining("cancel");
		}
		assertThat(this.runs).doesNotContain("cancel{\"id\":2}");
		assertThat(turns()).containsExactly(TurnStatus.FAILED, TurnStatus.FAILED);
		assertThat(approvals().pending(inner)).isEmpty();
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolOfANestedCallWithoutSessionFailsTheOuterCallToo(ClientSetup.Mode mode) {
		tools(tool("cancel"), delegating(false, (chat) -> {
		}));
		this.model.calls(call("c1", "delegate", "{\"id\":1}")).calls(cancel("c2", 2));
		assertThatExceptionOfType(NestedTurnException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContaining("'cancel'")
			.withMessageContaining(this.key.toString());
		assertThat(this.runs).containsExactly("delegate{\"id\":1}");
		assertThat(turns()).containsExactly(TurnStatus.FAILED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolOfANestedCallOnTheSessionOfTheRunningTurnFailsTheOuterCall(ClientSetup.Mode mode) {
		tools(tool("cancel"), delegating(true, (chat) -> chat.advisors(SessionAdvisor.session(this.key))));
		this.model.calls(call("c1", "delegate", "{\"id\":1}")).calls(cancel("c2", 2));
		assertThatExceptionOfType(NestedTurnException.class).isThrownBy(() -> ask(mode, "q"))
			.withMessageContaining("is not stored on session " + this.key);
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(this.runs).doesNotContain("cancel{\"id\":2}");
		assertThat(turns()).containsExactly(TurnStatus.FAILED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void nestedCallOnAnotherSessionWithoutGatedCallsRuns(ClientSetup.Mode mode) {
		SessionKey inner = SessionKey.of("inner of " + this.key.owner());
		tools(tool("cancel"), tool("look"), delegating(true, (chat) -> chat.advisors(SessionAdvisor.session(inner))));
		this.model.calls(call("c1", "delegate", "{\"id\":1}")).calls(look("c2", 2)).says("inner").says("outer");
		assertThat(ask(mode, "q").getResults()).isNotEmpty();
		assertThat(log()).endsWith("assistant: outer");
		assertThat(this.runs).containsExactly("look{\"id\":2}");
	}

	private ToolCallback delegating(boolean wrapped, Consumer<ChatClient.ChatClientRequestSpec> inner) {
		Function<String, String> delegate = (input) -> {
			ChatClient.ChatClientRequestSpec call = chat().prompt().user("inner");
			inner.accept(call);
			return String.valueOf(call.call().content());
		};
		return wrapped
				? FunctionToolCallback.builder("delegate", (Order order) -> delegate.apply(String.valueOf(order.id())))
					.description("delegates")
					.inputType(Order.class)
					.build()
				: tool("delegate").doing((input, context) -> delegate.apply(input));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void sameCallTwiceInOneReplyIsDecidedAndRunOnce(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), call("c1", "cancel", "{ \"id\" : 1 }")).says("done");
		ask(mode, "q");
		assertThat(waiting().times()).isEqualTo(2);
		approve(waiting());
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=done {\"id\":1} cancel=done {\"id\":1}");
	}

	/** The exception of the tool is the result of each of the two. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void sameCallTwiceInOneReplyWhoseToolFailsIsRunOnce(ClientSetup.Mode mode) {
		tools(tool("cancel").doing((input, context) -> {
			throw new ToolExecutionException(DefaultToolDefinition.builder().name("cancel").inputSchema("{}").build(),
					new IllegalStateException("not today"));
		}));
		this.model.calls(cancel("c1", 1), cancel("c1", 1)).says("done");
		ask(mode, "q");
		assertThat(waiting().times()).isEqualTo(2);
		approve(waiting());
		goOn(mode);
		assertThat(this.runs).hasSize(1);
		assertThat(this.model.lastRequestLines().get(2)).containsSubsequence("not today", "not today");
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void sameCallOfAToolThatNeedsNoConsentRunsEachTime(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1), look("c1", 1))
			.calls(look("c2", 2), cancel("c3", 3), look("c2", 2))
			.says("done");
		ask(mode, "q");
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":1}");
		assertThat(waiting().times()).isEqualTo(1);
		approve(waiting());
		goOn(mode);
		assertThat(this.runs.subList(2, this.runs.size())).containsExactly("look{\"id\":2}", "cancel{\"id\":3}",
				"look{\"id\":2}");
		assertThat(ledger()).hasSize(3).containsOnly(ApprovalStatus.DONE);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void sameCallOfASiblingThatIsToldToRunFirstRunsEachTimeToo(ClientSetup.Mode mode) {
		rules((rules) -> rules.siblings(SiblingRule.RUN));
		this.model.calls(look("c1", 1), cancel("c2", 2), look("c1", 1)).says("done");
		ask(mode, "q");
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":1}");
		approve(waiting());
		goOn(mode);
		assertThat(this.runs).hasSize(3).endsWith("cancel{\"id\":2}");
		assertThat(this.model.lastRequestLines())
			.endsWith("tool look=done {\"id\":1} cancel=done {\"id\":2} look=done {\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callsWithoutIdsAreToldApartByTheirPlace(ClientSetup.Mode mode) {
		this.model.calls(cancel("", 1), cancel("", 1)).says("done");
		ask(mode, "q");
		List<ToolApproval> pending = pending();
		assertThat(pending).hasSize(2);
		assertThat(pending.get(0).digest()).isEqualTo(pending.get(1).digest());
		reject(pending.get(0));
		approve(pending.get(1));
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=not today cancel=done {\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatAListenerOfApprovalsThrowsChangesNothing(ClientSetup.Mode mode) {
		rules((rules) -> rules.listeners(List.of((event) -> {
			throw new IllegalStateException("deaf");
		})));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		goOn(mode);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
	}

	record Order(int id) {
	}

	/**
	 * Tools whose methods say which calls need consent.
	 */
	static final class Bank {

		private final List<String> runs;

		Bank(List<String> runs) {
			this.runs = runs;
		}

		@Tool(description = "pays")
		@RequiresApproval(condition = "#amount > 100", description = "money leaves")
		String pay(Integer amount) {
			this.runs.add("pay " + amount);
			return "paid";
		}

		@Tool(description = "closes the account")
		@RequiresApproval
		String close() {
			this.runs.add("close");
			return "closed";
		}

	}

}
