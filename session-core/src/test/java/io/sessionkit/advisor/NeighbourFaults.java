package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Faults that were found in other session memories for Spring AI, on one store. Those of
 * a part that has tests of its own are tested there. By their number in the comparison,
 * what would find them here:
 * <ul>
 * <li>1: {@code trimmingInTheMiddleOfALoopNeverTouchesTheRunningTurn},
 * {@code SummarizeTests.orphansCannotComeFromASummaryInTheMiddleOfALoop}</li>
 * <li>2: {@code resultThatReturnsDirectlyLeavesNoOrphanCall},
 * {@code SessionAdvisorTests.partialResultsOfALoopEndedByALimitAreStored}</li>
 * <li>3: {@code failedCallThatIsTriedAgainSendsTheQuestionOnce}</li>
 * <li>4: {@code streamThatIsCancelledKeepsItsTextAndNotTheQuestion}</li>
 * <li>5: {@code mediaAndMetadataSurvive},
 * {@code SessionStoreContract.unreadableItemIsAnErrorThatNamesIt}</li>
 * <li>6: {@code CommitContract.turnsOfTheSameIdInTwoSessionsAreTwoTurns}</li>
 * <li>7:
 * {@code JdbcTransactionContract.repeatedTurnLeavesTheCallersTransactionUsable}</li>
 * <li>8: {@code sessionWithoutExpiryHasNone},
 * {@code SessionStoreContract.nullExpirySurvives}</li>
 * <li>9: {@code ExpiryContract}, {@code SessionPurgeTests}</li>
 * <li>10: {@code ForeignCallerTests}</li>
 * <li>11: {@code sameAnswerThreeTimesIsStoredThreeTimes}</li>
 * <li>13: {@code turnIsWrittenOnTheBranchThatIsActiveAndNamesItsAgent},
 * {@code ChildSessionTests}</li>
 * <li>14: {@code TimeTests.branchFromContentTakesTheFirstQuestion}</li>
 * <li>15: {@code historyIsSentOnceWithAnyToolAdvisor}</li>
 * <li>16: {@code noBlankSystemMessageIsSent}</li>
 * <li>17:
 * {@code SummarizeTests.summarizerThatFailsNeitherFailsTheCallNorReadsWithoutBound}</li>
 * <li>18: {@code SchemaInitializationTests.alwaysTwiceKeepsWhatIsThere}</li>
 * <li>19: {@code turnIsThereAsAWholeOrNotAtAll},
 * {@code ProtocolContract.concurrentBatchesStayContiguous}</li>
 * <li>21: {@code CodecRoundTripProperties},
 * {@code JsonMessageCodecTests.nestedMapsKeepTheirOrder}</li>
 * <li>22: {@code StoreScriptHintsTests}</li>
 * </ul>
 * Fault 12 concerns a tool that searches, of which there is none here, and fault 20 a
 * documentation.
 */
abstract class NeighbourFaults {

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	/**
	 * The store to try.
	 */
	protected abstract SessionStore store();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void trimmingInTheMiddleOfALoopNeverTouchesTheRunningTurn(ClientSetup setup) {
		SessionAdvisor advisor = SessionAdvisor
			.of(Conversations.builder(store()).trim(Trim.keepLastMessages(4)).build());
		ChatClient chat = setup.builder(this.model, advisor).defaultTools(SessionAdvisorTests.echo("t")).build();
		this.model.says("a0");
		ask(setup, chat, "q0");
		for (int round = 0; round < 4; round++) {
			this.model.calls(SessionAdvisorTests.call("c" + round, "t", "x"));
		}
		this.model.says("a1");
		ask(setup, chat, "q1");
		for (Prompt prompt : this.model.prompts().subList(1, 6)) {
			assertThat(ValidSequence.faults(prompt.getInstructions())).isEmpty();
			assertThat(Lines.of(prompt.getInstructions())).contains("user: q1");
		}
		assertThat(this.model.lastRequest()).hasSize(setup.lines().size() + 9);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void resultThatReturnsDirectlyLeavesNoOrphanCall(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "now", "1")).says("a");
		ChatClient chat = setup.builder(this.model, advisor()).defaultTools(SessionAdvisorTests.direct("now")).build();
		ask(setup, chat, "q1");
		ask(setup, chat, "q2");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q1", "assistant now({\"value\":\"1\"})", "tool now=1", "user: q2"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void failedCallThatIsTriedAgainSendsTheQuestionOnce(ClientSetup setup) {
		this.model.fails(new IllegalStateException("down")).says("a");
		ChatClient chat = setup.builder(this.model, advisor()).build();
		assertThatThrownBy(() -> ask(setup, chat, "q1")).hasMessage("down");
		ask(setup, chat, "q1");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: q1"));
		assertThat(Lines.of(thread().messages())).containsExactly("user: q1", "assistant: a");
	}

	@Test
	void streamThatIsCancelledKeepsItsTextAndNotTheQuestion() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()))
			.says("a");
		ChatClient chat = ClientSetup.streaming().builder(this.model, advisor()).build();
		prompt(chat, "q1").stream().content().blockFirst();
		Awaitility.await().until(() -> !thread().turns(Tail.ALL).isEmpty());
		Turn cancelled = thread().turns(Tail.ALL).get(0);
		assertThat(thread().items(cancelled.number())).extracting((item) -> item.message().getText())
			.containsExactly("q1", "half");
		ask(ClientSetup.streaming(), chat, "q2");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2");
	}

	@Test
	void mediaAndMetadataSurvive() {
		Media picture = Media.builder()
			.mimeType(MimeTypeUtils.IMAGE_PNG)
			.data(new byte[] { 1, 2, 3 })
			.id("m1")
			.name("picture")
			.build();
		UserMessage question = UserMessage.builder()
			.text("what is this?")
			.media(picture)
			.metadata(Map.of("upload", 7L))
			.build();
		AssistantMessage reply = AssistantMessage.builder()
			.content("a cat")
			.properties(Map.of("reasoningContent", "whiskers", "thoughtSignatures", List.of(new byte[] { 9 })))
			.media(List.of(picture))
			.build();
		this.model.responds(new ChatResponse(List.of(new Generation(reply))));
		ChatClient chat = ClientSetup.plain().builder(this.model, advisor()).build();
		chat.prompt().messages(question).advisors(SessionAdvisor.session(this.key)).call().content();
		UserMessage storedQuestion = (UserMessage) thread().messages().get(0);
		AssistantMessage storedReply = (AssistantMessage) thread().messages().get(1);
		for (Media stored : List.of(storedQuestion.getMedia().get(0), storedReply.getMedia().get(0))) {
			assertThat(stored.getDataAsByteArray()).containsExactly(1, 2, 3);
			assertThat(stored.getMimeType()).isEqualTo(MimeTypeUtils.IMAGE_PNG);
			assertThat(stored.getId()).isEqualTo("m1");
			assertThat(stored.getName()).isEqualTo("picture");
		}
		assertThat(storedQuestion.getMetadata()).containsEntry("upload", 7L);
		assertThat(storedReply.getMetadata()).containsEntry("reasoningContent", "whiskers");
		assertThat((byte[]) ((List<?>) storedReply.getMetadata().get("thoughtSignatures")).get(0)).containsExactly(9);
	}

	@Test
	void sessionWithoutExpiryHasNone() {
		this.model.says("a");
		ask(ClientSetup.plain(), ClientSetup.plain().builder(this.model, advisor()).build(), "q");
		Session session = store().find(this.key).orElseThrow();
		assertThat(session.expiresAt()).isNull();
		assertThat(session.timeToLive()).isNull();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void sameAnswerThreeTimesIsStoredThreeTimes(ClientSetup setup) {
		ChatClient chat = setup.builder(this.model, advisor()).build();
		for (int i = 0; i < 3; i++) {
			this.model.says("sure?");
			ask(setup, chat, "yes");
		}
		assertThat(Lines.of(thread().messages())).hasSize(6);
	}

	@Test
	void turnIsWrittenOnTheBranchThatIsActiveAndNamesItsAgent() {
		this.model.says("a1").says("a2");
		ChatClient chat = ClientSetup.plain().builder(this.model, advisor()).build();
		prompt(chat, "q1").advisors(SessionAdvisor.agent("researcher")).call().content();
		Session session = store().find(this.key).orElseThrow();
		store().commit(Commit.on(session).header(HeaderChange.NONE.head("retry", 0)));
		prompt(chat, "q2").advisors(SessionAdvisor.agent("writer")).call().content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2");
		assertThat(thread().turns(Tail.ALL)).extracting(Turn::branch).containsExactly("main", "retry");
		assertThat(thread().turns(Tail.ALL)).extracting(Turn::agent).containsExactly("researcher", "writer");
		assertThat(Lines.of(thread().messages())).containsExactly("user: q2", "assistant: a2");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void historyIsSentOnceWithAnyToolAdvisor(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1")).says("a");
		ChatClient chat = setup.builder(this.model, advisor()).defaultTools(SessionAdvisorTests.echo("t")).build();
		ask(setup, chat, "q");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q", "assistant t({\"value\":\"1\"})", "tool t=1"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void noBlankSystemMessageIsSent(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1")).says("a");
		ChatClient chat = setup.builder(this.model, advisor()).defaultTools(SessionAdvisorTests.echo("t")).build();
		ask(setup, chat, "q");
		for (Prompt prompt : this.model.prompts()) {
			assertThat(ValidSequence.faults(prompt.getInstructions())).isEmpty();
		}
	}

	@Test
	void turnIsThereAsAWholeOrNotAtAll() {
		ObservedStore observed = new ObservedStore(store());
		SessionAdvisor advisor = SessionAdvisor.of(Conversations.of(observed));
		ChatClient chat = ClientSetup.plain()
			.builder(this.model, advisor)
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1")).says("a");
		List<Integer> sizes = new ArrayList<>();
		observed.beforeCommit(() -> sizes.add(thread().messages().size()));
		observed.failAt(ObservedStore.Fault.COMMIT);
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> prompt(chat, "q").call().content());
		assertThat(sizes).containsOnly(0);
		assertThat(thread().messages()).isEmpty();
		assertThat(store().open(this.key, Window.HEADER)).isEmpty();
	}

	private SessionAdvisor advisor() {
		return SessionAdvisor.of(Conversations.of(store()));
	}

	private Conversation thread() {
		return Conversations.of(store()).get(this.key);
	}

	private ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(this.key));
	}

	private void ask(ClientSetup setup, ChatClient chat, String text) {
		setup.content(prompt(chat, text));
	}

}
