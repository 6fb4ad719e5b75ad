package io.sessionkit.approval;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.Durability;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls whose arguments or ids end within a character, which no store keeps: what is
 * judged, shown, hashed, stored and run is one text.
 */
class HalfCharacterTests extends ApprovalFixture {

	private static final String SAID = "{\"id\":\"a\uD83D\"}";

	private static final String STORED = "{\"id\":\"a\uFFFD\"}";

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final List<String> judged = new CopyOnWriteArrayList<>();

	@Override
	protected SessionStore store() {
		return this.store;
	}

	private static ToolCall said(String id, String tool) {
		return call(id + "\uD83D", tool, SAID);
	}

	private void judging() {
		String schema = """
				{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}""";
		tools(tool("cancel").taking(schema), tool("look").taking(schema));
		rules((rules) -> rules.siblings(SiblingRule.RUN).policies(List.of((request) -> {
			this.judged.add(request.call().arguments());
			return Ruling.allow();
		})));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callThatWaitsIsJudgedShownAndRunAsItIsStored(ClientSetup.Mode mode) {
		judging();
		this.model.calls(said("c1", "look"), said("c2", "cancel")).says("done");
		ask(mode, "q");
		assertThat(this.runs).containsExactly("look" + STORED);
		ToolApproval shown = waiting();
		assertThat(shown.arguments()).isEqualTo(STORED);
		assertThat(shown.digest()).isEqualTo(ToolArguments.of(STORED).digest("cancel"));
		approve(shown);
		goOn(mode);
		assertThat(log()).endsWith("assistant: done");
		assertThat(this.runs).containsExactly("look" + STORED, "cancel" + STORED);
		assertThat(this.judged).isNotEmpty().containsOnly(STORED);
		assertThat(ledger()).containsOnly(ApprovalStatus.DONE);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callsThatAreStoredAsTheSameRunOnce(ClientSetup.Mode mode) {
		this.model.calls(said("c1", "cancel"), call("c1\uD83C", "cancel", SAID.replace('\uD83D', '\uD83C')))
			.says("done");
		ask(mode, "q");
		assertThat(waiting().times()).isEqualTo(2);
		approve(waiting());
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel" + STORED);
		assertThat(log()).endsWith("assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void standingDecisionOnACallIsForWhatWasShown(ClientSetup.Mode mode) {
		this.model.calls(said("c1", "cancel")).says("done").calls(said("c2", "cancel")).says("again");
		ask(mode, "q");
		approvals().decide(waiting(), Decision.approve("anna").always(StandingDecision.Scope.ARGUMENTS));
		goOn(mode);
		ask(mode, "once more");
		assertThat(log()).endsWith("assistant: again");
		assertThat(this.runs).containsExactly("cancel" + STORED, "cancel" + STORED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void stepIsStoredAndItsToolRuns(ClientSetup.Mode mode) {
		threads((threads) -> threads.durability(Durability.STEP));
		this.model.calls(said("c1", "look")).says("done");
		ask(mode, "q");
		assertThat(log()).endsWith("assistant: done");
		assertThat(this.runs).containsExactly("look" + STORED);
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE);
		assertThat(log()).anyMatch((line) -> line.contains(STORED));
	}

	/** The process that continues the turn reads it there. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultIsOneTextInTheLedgerAndInTheHistory(ClientSetup.Mode mode) {
		threads((threads) -> threads.durability(Durability.STEP));
		tools(tool("look").doing((input, context) -> "seen \uD83D"));
		List<SessionRecord> ran = new CopyOnWriteArrayList<>();
		this.model.calls(look("c1", 1)).step((prompt) -> {
			ran.addAll(this.store.records(this.key, "approval"));
			return Flux.just(this.model.chunk("done", List.of(), true));
		});
		ask(mode, "q");
		assertThat(ran).singleElement().satisfies((record) -> assertThat(record.payload()).contains("seen \uFFFD"));
		assertThat(log()).anyMatch((line) -> line.endsWith("seen \uFFFD"));
	}

}
