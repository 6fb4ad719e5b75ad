package io.sessionkit.context;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnResult;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.MessageTokens;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.PostgresProxy;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TcpProxy;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thread of hundreds of turns with tool rounds, all of them through a client, that
 * outgrows its limit on tokens again and again before its own trigger asks for a summary:
 * what each request has, what each turn costs, what is there at the end.
 */
class LongThreadTests {

	private static final int TURNS = Integer.getInteger("sessionkit.turns", 500);

	private static final int MAX_TOKENS = 4_000;

	private static final int TRIGGER_TOKENS = 6_000;

	private static final long KEPT_TURNS = 6;

	/** A script for so many turns is thrown away with its prompts. */
	private static final int TURNS_OF_A_CLIENT = 100;

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	@Test
	void onH2ATurnWithoutASummaryIsTwoCallsOfTheStore() {
		ObservedStore store = new ObservedStore(TestStores.H2.create());
		new LongThread("H2", store, () -> store.calls().size(), 2).run();
	}

	/**
	 * One connection and no pool: a pool may ask whether the connection is still there.
	 */
	@Test
	void onPostgresqlATurnWithoutASummaryIsTwoRoundTrips() throws IOException, SQLException {
		PostgresServer server = PostgresServer.running();
		String database = server.newDatabase();
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-postgresql.sql"))
			.execute(server.dataSource(database));
		try (PostgresProxy proxy = new PostgresProxy(server.host(), server.port());
				Connection connection = server.dataSource(database, proxy.host(), proxy.port()).getConnection()) {
			SessionStore store = new JdbcSessionStore(new SingleConnectionDataSource(connection, true), OPTIONS);
			new LongThread("PostgreSQL", store, proxy::roundTrips, 3).run();
		}
	}

	@Test
	void onRedisATurnWithoutASummaryIsTwoRoundTrips() throws IOException {
		RedisServers server = RedisServers.alone();
		try (TcpProxy proxy = new TcpProxy(server.host(), server.port())) {
			LettuceConnectionFactory connections = server.connectionsBy(proxy.port());
			try {
				SessionStore store = new RedisSessionStore(connections, OPTIONS, "long-" + UUID.randomUUID() + ":");
				twoTurns(store);
				new LongThread("Redis", store, proxy::roundTrips, 4).run();
			}
			finally {
				connections.destroy();
			}
		}
	}

	/**
	 * Has the server know the scripts of a new session and of the turns that follow: each
	 * is sent once.
	 */
	private static void twoTurns(SessionStore store) {
		ChatClient chat = ClientSetup.plain()
			.builder(new ScriptedChatModel().says("a1").says("a2"), SessionAdvisor.of(Conversations.of(store)))
			.build();
		for (String question : List.of("u1", "u2")) {
			chat.prompt().user(question).advisors(SessionAdvisor.session(SessionKey.of("warm"))).call().content();
		}
	}

	private static final class LongThread {

		private final String name;

		private final SessionStore store;

		private final LongSupplier trips;

		private final int tripsOfTheFirstTurn;

		private final SessionKey key = SessionKey.of("long", UUID.randomUUID().toString());

		private final Random random;

		private final ScriptedChatModel summarizer = new ScriptedChatModel().reports(0);

		private final List<String> log = new ArrayList<>();

		private final Map<String, Integer> tokens = new HashMap<>();

		private final ToIntFunction<Message> estimate = MessageTokens.byVocabulary();

		private long turnsOfTheView;

		private int requests;

		private int leftOut;

		LongThread(String name, SessionStore store, LongSupplier trips, int tripsOfTheFirstTurn) {
			long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
			this.name = name + ", seed " + seed;
			this.store = store;
			this.trips = trips;
			this.tripsOfTheFirstTurn = tripsOfTheFirstTurn;
			this.random = new Random(seed);
			for (int i = 1; i <= TURNS; i++) {
				this.summarizer.says("summary " + i + ": " + words(40));
			}
		}

		void run() {
			Summarize rule = Summarize.by(this.summarizer)
				.mode(Summarize.Mode.BEFORE)
				.trigger((session) -> session.totals().tokens() >= TRIGGER_TOKENS)
				.keepTurns((int) KEPT_TURNS)
				.build();
			try (Conversations conversations = Conversations.builder(this.store)
				.trim(Trim.keepLastTokens(MAX_TOKENS))
				.summarize(rule)
				.build()) {
				for (int from = 1; from <= TURNS; from += TURNS_OF_A_CLIENT) {
					turns(from, conversations);
				}
				int summaries = this.summarizer.prompts().size();
				System.out.println("LongThreadTests on " + this.name + ": " + this.log.size() + " messages, "
						+ this.requests + " requests, of which " + this.leftOut + " without all of the view, "
						+ summaries + " summaries");
				assertThat(Lines.of(this.store.messages(this.key))).isEqualTo(this.log);
				assertThat(conversations.get(this.key).summaries()).hasSize(summaries).hasSizeGreaterThan(20);
				assertThat(this.leftOut).as("requests that were trimmed").isGreaterThan(100);
			}
		}

		private void turns(int from, Conversations conversations) {
			ScriptedChatModel model = new ScriptedChatModel().reports(0);
			ClientSetup setup = ClientSetup.all().get(this.random.nextInt(ClientSetup.all().size()));
			ChatClient chat = setup.builder(model, SessionAdvisor.of(conversations))
				.defaultTools(SessionAdvisorTests.echo("t"))
				.build();
			for (int turn = from; turn < from + TURNS_OF_A_CLIENT; turn++) {
				turn(turn, model, setup, chat);
			}
		}

		private void turn(int number, ScriptedChatModel model, ClientSetup setup, ChatClient chat) {
			String about = this.name + ", turn " + number;
			String question = "q" + number + " " + words(this.random.nextInt(80));
			List<String> said = script(number, question, model);
			int requestsBefore = model.prompts().size();
			int summariesBefore = this.summarizer.prompts().size();
			long tripsBefore = this.trips.getAsLong();
			TurnResult result = SessionAdvisor
				.turn(setup.response(chat.prompt().user(question).advisors(SessionAdvisor.session(this.key))))
				.orElseThrow();
			long cost = this.trips.getAsLong() - tripsBefore;
			int summaries = this.summarizer.prompts().size() - summariesBefore;
			assertThat(summaries).as(about).isBetween(0, 1);
			if (number == 1) {
				assertThat(cost).as(about).isLessThanOrEqualTo(this.tripsOfTheFirstTurn);
			}
			else if (summaries == 0) {
				assertThat(cost).as("%s: round trips", about).isEqualTo(2);
			}
			assertThat(result.overLimit()).as(about).isFalse();
			this.log.addAll(said);
			this.turnsOfTheView = (summaries > 0) ? KEPT_TURNS : this.turnsOfTheView;
			List<Prompt> prompts = model.prompts();
			for (Prompt prompt : prompts.subList(requestsBefore, prompts.size())) {
				check(prompt.getInstructions(), question, about);
			}
			this.turnsOfTheView++;
		}

		private void check(List<Message> request, String question, String about) {
			List<String> lines = Lines.of(request);
			assertThat(ValidSequence.faults(request)).as("%s: %s", about, lines).isEmpty();
			assertThat(lines.lastIndexOf("user: " + question)).as("%s: %s", about, lines)
				.isGreaterThanOrEqualTo(0)
				.isEqualTo(lines.indexOf("user: " + question));
			int tokens = 0;
			for (int i = 0; i < request.size(); i++) {
				Message message = request.get(i);
				tokens += (message instanceof SystemMessage) ? 0
						: this.tokens.computeIfAbsent(lines.get(i), (line) -> this.estimate.applyAsInt(message));
			}
			assertThat(tokens).as("%s: tokens", about).isLessThanOrEqualTo(MAX_TOKENS);
			long turns = lines.stream().filter((line) -> line.startsWith("user: q")).count() - 1;
			assertThat(turns).as("%s: turns of history", about)
				.isBetween(Math.min(KEPT_TURNS / 2, this.turnsOfTheView), this.turnsOfTheView);
			this.requests++;
			this.leftOut += (turns < this.turnsOfTheView) ? 1 : 0;
		}

		/**
		 * Tells the model what to answer.
		 * @return what the turn says, a line for each message
		 */
		private List<String> script(int number, String question, ScriptedChatModel model) {
			List<String> said = new ArrayList<>(List.of("user: " + question));
			for (int round = this.random.nextInt(4); round > 0; round--) {
				StringBuilder calls = new StringBuilder("assistant");
				StringBuilder results = new StringBuilder("tool");
				List<ToolCall> batch = new ArrayList<>();
				for (int i = this.random.nextInt(2); i >= 0; i--) {
					ToolCall call = SessionAdvisorTests.call("c" + number + "-" + round + "-" + i, "t",
							words(this.random.nextInt(60)));
					batch.add(call);
					calls.append(" t(").append(call.arguments()).append(')');
					results.append(" t=").append(call.arguments().replaceAll("\\{\"value\":\"(.*)\"}", "$1"));
				}
				model.calls(batch.toArray(ToolCall[]::new));
				said.add(calls.toString());
				said.add(results.toString());
			}
			String answer = "a" + number + " " + words(this.random.nextInt(120));
			model.says(answer);
			said.add("assistant: " + answer);
			return said;
		}

		private String words(int count) {
			StringBuilder words = new StringBuilder("and");
			for (int i = 0; i < count; i++) {
				words.append((this.random.nextInt(3) == 0) ? " so" : " forth");
			}
			return words.toString();
		}

	}

}
