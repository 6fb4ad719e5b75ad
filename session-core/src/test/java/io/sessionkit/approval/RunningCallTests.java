package io.sessionkit.approval;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The call that a tool runs for, if that tool makes a call itself.
 */
class RunningCallTests extends ApprovalFixture {

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return this.store;
	}

	/** The place at which the tool makes its call. */
	enum Inner {

		WITHOUT_SESSION(SessionAdvisor.none()),

		CHILD(SessionAdvisor.child("inner")),

		OTHER_SESSION(SessionAdvisor.session(SessionKey.of("another", "thread")));

		private final Consumer<ChatClient.AdvisorSpec> session;

		Inner(Consumer<ChatClient.AdvisorSpec> session) {
			this.session = session;
		}

	}

	/** Two of them would have one idempotency key. */
	@ParameterizedTest
	@EnumSource
	void approvedCallIsNotThatOfTheToolsOfACallThatItsToolMakes(Inner inner) {
		assertRunning(inner, ClientSetup.Mode.CALL);
	}

	@ParameterizedTest
	@EnumSource
	void approvedCallIsNotThatOfTheToolsOfAStreamThatItsToolMakes(Inner inner) {
		assertRunning(inner, ClientSetup.Mode.STREAM);
	}

	private void assertRunning(Inner inner, ClientSetup.Mode mode) {
		List<String> running = new CopyOnWriteArrayList<>();
		tools(tool("cancel").doing((input, context) -> {
			running.add("cancel " + running());
			String answer = setup(mode)
				.content(client(setup(mode)).build().prompt().user("look").advisors(inner.session));
			running.add("cancel " + running());
			return answer;
		}), tool("look").doing((input, context) -> {
			running.add("look " + running());
			return "valid";
		}));
		this.model.calls(cancel("c1", 1)).calls(look("l1", 1), look("l2", 2)).says("both valid").says("done");
		ask(ClientSetup.Mode.CALL, "q");
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThat(running).containsExactly("cancel true", "look false", "look false", "cancel true");
		assertThat(log()).endsWith("tool cancel=both valid", "assistant: done");
	}

	private boolean running() {
		return approvals().running().isPresent();
	}

	/** A tool hands its context on, with the tenant that is in it for example. */
	@ParameterizedTest
	@EnumSource
	void claimOfAnApprovedCallIsNotInTheContextOfTheToolsOfACallThatItsToolMakes(Inner inner) {
		List<Map<String, Object>> seen = new CopyOnWriteArrayList<>();
		tools(tool("cancel").doing((input, context) -> {
			seen.add(context.getContext());
			return setup(ClientSetup.Mode.CALL).content(client(ClientSetup.plain()).build()
				.prompt()
				.user("look")
				.toolContext(context.getContext())
				.advisors(inner.session));
		}), tool("look").doing((input, context) -> {
			seen.add(context.getContext());
			return "valid";
		}));
		this.model.calls(cancel("c1", 1)).calls(look("l1", 1), look("l2", 2)).says("both valid").says("done");
		ask(ClientSetup.Mode.CALL, "q");
		String id = approve(waiting()).id();
		response(ClientSetup.plain(), client(ClientSetup.plain()).build().prompt().toolContext(Map.of("tenant", "t1")));
		assertThat(seen).hasSize(3).allSatisfy((each) -> assertThat(each).containsEntry("tenant", "t1"));
		assertThat(seen).extracting((each) -> each.get(Approvals.CLAIM)).containsExactly(id, null, null);
	}

	/** Each step of the inner call has a call of its own. */
	@ParameterizedTest
	@EnumSource(names = { "CHILD", "OTHER_SESSION" })
	void toolsOfAnInnerCallThatIsStoredStepByStepHaveTheirOwnCalls(Inner inner) {
		threads((threads) -> threads.durability(Durability.STEP));
		List<String> ids = new CopyOnWriteArrayList<>();
		tools(tool("cancel").doing((input, context) -> {
			ids.add(approvals().running().orElseThrow().id());
			return setup(ClientSetup.Mode.CALL)
				.content(client(ClientSetup.plain()).build().prompt().user("look").advisors(inner.session));
		}), tool("look").doing((input, context) -> {
			ids.add(approvals().running().orElseThrow().id());
			return "valid";
		}));
		this.model.calls(cancel("c1", 1)).calls(look("l1", 1), look("l2", 2)).says("both valid").says("done");
		ask(ClientSetup.Mode.CALL, "q");
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThat(ids).hasSize(3).doesNotHaveDuplicates();
	}

}
