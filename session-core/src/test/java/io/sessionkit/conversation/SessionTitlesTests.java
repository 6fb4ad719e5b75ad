package io.sessionkit.conversation;

import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.guard.Redactor;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SummaryContext;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Titles that are made when the first turn has become history.
 */
class SessionTitlesTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ScriptedChatModel titling = new ScriptedChatModel();

	private SessionStore store;

	private SessionTitles titles;

	private Conversations conversations;

	private ChatClient chat;

	private void use(SessionTitles titles, Conversations.Builder builder) {
		this.titles = titles;
		this.conversations = builder.listeners(titles).build();
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
	}

	private void ofFirstWords(TestStores kind) {
		this.store = kind.create();
		use(SessionTitles.ofFirstWords(this.store), Conversations.builder(this.store));
	}

	private void byModel() {
		this.store = TestStores.MEMORY.create();
		use(SessionTitles.by(this.store, this.titling), Conversations.builder(this.store));
	}

	@AfterEach
	void close() {
		if (this.titles != null) {
			this.titles.close();
			this.conversations.close();
		}
	}

	private void ask(String text) {
		this.model.says("an answer");
		this.chat.prompt().user(text).advisors(SessionAdvisor.session(KEY)).call().content();
	}

	private @Nullable String title() {
		return this.store.find(KEY).orElseThrow().title();
	}

	private void awaitTitle(String expected) {
		Awaitility.await().untilAsserted(() -> assertThat(title()).isEqualTo(expected));
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void firstTurnGivesTheTitleAndLaterOnesKeepIt(TestStores kind) {
		ofFirstWords(kind);
		ask("Where is my order?");
		awaitTitle("Where is my order?");
		ask("And the other one?");
		this.conversations.get(KEY).title("Orders");
		this.conversations.get(KEY).undo(2);
		ask("Something else");
		assertThat(title()).isEqualTo("Orders");
	}

	/** The turn of the first call is not the first one of the session. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void sessionThatBeganWithoutACallGetsTheTitleWithItsFirstCall(TestStores kind) {
		ofFirstWords(kind);
		this.conversations.get(KEY).seed(List.of(new UserMessage("Who are you?"), new AssistantMessage("A helper.")));
		ask("Where is my order?");
		awaitTitle("Who are you?");
	}

	@Test
	void sessionThatBeginsWithAGivenHistoryGetsATitle() {
		ofFirstWords(TestStores.MEMORY);
		this.model.says("an answer");
		this.chat.prompt()
			.user("Where is my order?")
			.advisors(SessionAdvisor.session(KEY)
				.andThen(SessionAdvisor.history(
						List.of(new UserMessage("Who are you?"), new AssistantMessage("A helper.")),
						HistoryPolicy.REPLACE_SESSION)))
			.call()
			.content();
		awaitTitle("Who are you?");
	}

	@Test
	void titleIsOfTheFirstTurnWithAQuestion() {
		ofFirstWords(TestStores.MEMORY);
		this.store.add(KEY, List.of(new AssistantMessage("How can I help?")));
		ask("Where is my order?");
		awaitTitle("Where is my order?");
	}

	@Test
	void titleThatCouldNotBeMadeIsMadeAtTheNextTurn() {
		this.store = TestStores.MEMORY.create();
		AtomicInteger calls = new AtomicInteger();
		SessionStore failing = CallsOfStore.before(this.store, () -> {
			if (calls.incrementAndGet() == 1) {
				throw new StoreUnavailableException("The store is down.", null);
			}
		});
		use(SessionTitles.ofFirstWords(failing), Conversations.builder(this.store));
		ask("Where is my order?");
		Awaitility.await().until(() -> calls.get() == 1);
		Awaitility.await().untilAsserted(() -> {
			ask("And the other one?");
			assertThat(title()).isEqualTo("Where is my order?");
		});
	}

	/** A transaction of the caller hides the turn, and not the session. */
	@Test
	void titleOfASessionWhoseTurnIsHiddenIsMadeAtTheNextTurn() {
		this.store = TestStores.MEMORY.create();
		SessionStore before = TestStores.MEMORY.create();
		List.of(this.store, before)
			.forEach((each) -> each.commit(Commit.first(KEY).header(HeaderChange.NONE.tags(Set.of("support")))));
		use(SessionTitles.ofFirstWords(firstLooksAt(before)), Conversations.builder(this.store));
		ask("Where is my order?");
		Awaitility.await().untilAsserted(() -> {
			ask("And the other one?");
			assertThat(title()).isEqualTo("Where is my order?");
		});
	}

	/** Returns the store, or another one as long as the first look lasts. */
	private SessionStore firstLooksAt(SessionStore before) {
		AtomicInteger looks = new AtomicInteger();
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, args) -> {
					if (method.getName().equals("find")) {
						looks.incrementAndGet();
					}
					return method.invoke((looks.get() > 1) ? this.store : before, args);
				});
	}

	@Test
	void questionWithoutTextLeavesTheTitleToTheNextOne() {
		ofFirstWords(TestStores.MEMORY);
		askPicture();
		ask("Where was it taken?");
		awaitTitle("Where was it taken?");
	}

	@Test
	void titleIsLookedForInTheFirstTurnsOnly() {
		this.store = TestStores.MEMORY.create();
		AtomicInteger calls = new AtomicInteger();
		use(SessionTitles.ofFirstWords(CallsOfStore.before(this.store, calls::incrementAndGet)),
				Conversations.builder(this.store));
		for (int i = 0; i < 10; i++) {
			askPicture();
		}
		AtomicInteger before = new AtomicInteger();
		Awaitility.await()
			.during(Duration.ofMillis(200))
			.until(() -> before.getAndSet(calls.get()) == calls.get() && calls.get() > 0);
		askPicture();
		Awaitility.await().during(Duration.ofMillis(200)).until(() -> before.get() == calls.get());
	}

	private void askPicture() {
		Media picture = new Media(MimeTypeUtils.IMAGE_PNG, URI.create("https://example.org/picture.png"));
		this.model.says("an answer");
		this.chat.prompt()
			.messages(UserMessage.builder().text("").media(picture).build())
			.advisors(SessionAdvisor.session(KEY))
			.call()
			.content();
	}

	@Test
	void sessionThatHasItsTitleIsNotReadAgain() {
		this.store = TestStores.MEMORY.create();
		AtomicInteger calls = new AtomicInteger();
		use(SessionTitles.ofFirstWords(CallsOfStore.before(this.store, calls::incrementAndGet)),
				Conversations.builder(this.store));
		ask("Where is my order?");
		awaitTitle("Where is my order?");
		int before = calls.get();
		ask("And the other one?");
		Awaitility.await().during(Duration.ofMillis(200)).until(() -> calls.get() == before);
	}

	@Test
	void titleThatSomebodyHasGivenIsKept() {
		ofFirstWords(TestStores.MEMORY);
		this.conversations.get(KEY).create(HeaderChange.NONE.title("Mine"));
		ask("Where is my order?");
		Awaitility.await().during(Duration.ofMillis(200)).until(() -> "Mine".equals(title()));
	}

	/** The second question is not told of a conflict. */
	@Test
	void titleThatComesWhileTheNextTurnRunsIsNoConflictForIt() {
		byModel();
		CountDownLatch second = new CountDownLatch(1);
		this.titling.step((prompt) -> {
			await(second);
			return Flux.just(this.titling.chunk("A title", List.of(), true));
		});
		ask("one");
		this.model.step((prompt) -> {
			second.countDown();
			awaitTitle("A title");
			return Flux.just(this.model.chunk("two", List.of(), true));
		});
		assertThat(this.chat.prompt().user("q").advisors(SessionAdvisor.session(KEY)).call().content())
			.isEqualTo("two");
		assertThat(this.store.messages(KEY)).hasSize(4);
	}

	@Test
	void modelIsAskedWithQuestionAndAnswerAndItsTextIsOneLine() {
		byModel();
		this.titling.says("  \"An order\"\nand more ");
		ask("Where is my order?");
		awaitTitle("\"An order\" and more");
		assertThat(this.titling.prompts().get(0).getContents()).contains("Where is my order?", "an answer");
	}

	@Test
	void modelThatFailsLeavesTheFirstWords() {
		byModel();
		this.titling.fails(new IllegalStateException("down"));
		ask("Where is my order?");
		awaitTitle("Where is my order?");
	}

	@Test
	void titleOfAModelIsCheckedByTheHooksOfSummaries() {
		this.store = TestStores.MEMORY.create();
		use(SessionTitles.by(this.store, this.titling, List.of(Redactor.standard())),
				Conversations.builder(this.store));
		this.titling.says("Mail to ada@example.org");
		ask("Where is my order?");
		awaitTitle("Mail to [email]");
	}

	@Test
	void titleThatAHookRefusesIsOfTheFirstWords() {
		this.store = TestStores.MEMORY.create();
		List<SummaryContext> told = new CopyOnWriteArrayList<>();
		SessionHook refusing = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeSummary(SummaryContext context, List<Message> messages) {
				told.add(context);
				return (context.kind() == SummaryContext.Kind.TITLE) ? HookResult.refuse("no") : HookResult.keep();
			}

		};
		use(SessionTitles.by(this.store, this.titling, List.of(refusing)), Conversations.builder(this.store));
		this.titling.says("An order");
		ask("Where is my order?");
		awaitTitle("Where is my order?");
		assertThat(told).containsExactly(SummaryContext.of(KEY, SummaryContext.Kind.TITLED_TURN),
				SummaryContext.of(KEY, SummaryContext.Kind.TITLE));
	}

	/** A turn that was added has passed no hook. */
	@Test
	void modelThatMakesTitlesIsSentWhatHooksLetPass() {
		this.store = TestStores.MEMORY.create();
		use(SessionTitles.by(this.store, this.titling, List.of(Redactor.standard())),
				Conversations.builder(this.store));
		this.store.add(KEY,
				List.of(new UserMessage("Write to ada@example.org"), new AssistantMessage("To eve@example.org?")));
		this.titling.says("A letter");
		ask("Yes");
		awaitTitle("A letter");
		assertThat(this.titling.prompts().get(0).getContents()).contains("Write to [email]", "To [email]?")
			.doesNotContain("@example.org");
	}

	@Test
	void firstWordsInPlaceOfATitleThatAModelDidNotMakeAreThoseThatHooksLetPass() {
		this.store = TestStores.MEMORY.create();
		use(SessionTitles.by(this.store, this.titling, List.of(Redactor.standard())),
				Conversations.builder(this.store));
		this.store.add(KEY, List.of(new UserMessage("Write to ada@example.org"), new AssistantMessage("Done.")));
		this.titling.fails(new IllegalStateException("down"));
		ask("Thanks");
		awaitTitle("Write to [email]");
	}

	@Test
	void turnThatAHookRefusesGivesNoTitleUntilItLetsItPass() {
		this.store = TestStores.MEMORY.create();
		AtomicInteger asked = new AtomicInteger();
		SessionHook refusing = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeSummary(SummaryContext context, List<Message> messages) {
				return (asked.incrementAndGet() == 1) ? HookResult.refuse("no") : HookResult.keep();
			}

		};
		use(SessionTitles.by(this.store, this.titling, List.of(refusing)), Conversations.builder(this.store));
		ask("Where is my order?");
		Awaitility.await().until(() -> asked.get() == 1);
		assertThat(title()).isNull();
		assertThat(this.titling.prompts()).isEmpty();
		this.titling.says("An order");
		Awaitility.await().untilAsserted(() -> {
			ask("And the other one?");
			assertThat(title()).isEqualTo("An order");
		});
	}

	/** A text that a hook replaced before it was stored does not come back as a title. */
	@Test
	void titleIsMadeFromWhatIsStored() {
		this.store = TestStores.MEMORY.create();
		use(SessionTitles.ofFirstWords(this.store),
				Conversations.builder(this.store)
					.hooks(TestHooks.beforeSave("removes", (messages) -> HookResult.replace(messages.stream()
						.map((message) -> (message instanceof UserMessage) ? new UserMessage("[removed]") : message)
						.toList()))));
		ask("my card is 4111 1111 1111 1111");
		awaitTitle("[removed]");
	}

	/** The session under the key is another one by the time the model has a title. */
	@Test
	void sessionThatBeginsAgainGetsNoTitleOfTheOneThatWasErased() {
		byModel();
		titleWhile(() -> {
			this.conversations.get(KEY).erase();
			ask("Something else");
		}, "the secret order");
		awaitTitle("another title");
	}

	@Test
	void turnThatIsDeletedWhileTheModelIsAskedLeavesNoTitle() {
		byModel();
		titleWhile(() -> this.conversations.get(KEY).delete(1), "the secret order");
		Awaitility.await().during(Duration.ofMillis(200)).until(() -> title() == null);
	}

	private void titleWhile(Runnable meanwhile, String title) {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch done = new CountDownLatch(1);
		this.titling.step((prompt) -> {
			asked.countDown();
			await(done);
			return Flux.just(this.titling.chunk(title, List.of(), true));
		}).says("another title");
		ask("Where is my secret order?");
		await(asked);
		meanwhile.run();
		done.countDown();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void titleOfADeletedQuestionGoesWithIt(TestStores kind) {
		ofFirstWords(kind);
		ask("Where is my  order?");
		awaitTitle("Where is my order?");
		ask("And the other one?");
		Conversation thread = this.conversations.get(KEY);
		thread.delete(2);
		assertThat(title()).isEqualTo("Where is my order?");
		thread.delete(1);
		assertThat(title()).isNull();
		thread.title("Orders");
		ask("Something else");
		thread.delete(3);
		assertThat(title()).isEqualTo("Orders");
	}

	@Test
	void titleOfAQuestionThatIsAskedAgainStays() {
		ofFirstWords(TestStores.MEMORY);
		ask("Where is my order?");
		awaitTitle("Where is my order?");
		this.model.says("another answer");
		this.chat.prompt()
			.advisors(SessionAdvisor.session(KEY))
			.advisors(SessionAdvisor.regenerating())
			.call()
			.content();
		this.conversations.get(KEY).delete(1);
		assertThat(title()).isEqualTo("Where is my order?");
		this.conversations.get(KEY).delete(2);
		assertThat(title()).isNull();
	}

	@Test
	void wordsAreOnOneLineWithoutWhatCannotBeSeen() {
		assertThat(SessionTitles.shortened("  two \n  words ")).isEqualTo("two words");
		String hidden = "a" + Character.toString(0x202E) + "b" + Character.toString(0) + "c";
		assertThat(SessionTitles.shortened(hidden)).isEqualTo("ab c");
		assertThat(SessionTitles.shortened("1234567890 ".repeat(6))).isEqualTo("1234567890 ".repeat(5).strip() + "…");
	}

	@Test
	void longWordIsCutBetweenCharacters() {
		String shortened = SessionTitles.shortened("\uD83D\uDE00".repeat(100));
		assertThat(shortened.length()).isLessThanOrEqualTo(SessionTitles.MAX_LENGTH);
		assertThat(shortened).isEqualTo("\uD83D\uDE00".repeat(29) + "…");
		assertThat(SessionTitles.shortened("a\uD83D")).isEqualTo("a");
		assertThat(SessionTitles.shortened("")).isEmpty();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
