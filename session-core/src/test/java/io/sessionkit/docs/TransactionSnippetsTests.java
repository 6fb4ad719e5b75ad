package io.sessionkit.docs;

import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/transactions.md} does what the page says.
 */
class TransactionSnippetsTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final JdbcDataSource database = new JdbcDataSource();

	private final JdbcTemplate sql = new JdbcTemplate(this.database);

	private final TransactionTemplate transaction = new TransactionTemplate(
			new DataSourceTransactionManager(this.database));

	private final JdbcSessionStore store = new JdbcSessionStore(this.database,
			StoreOptions.of(JsonMessageCodec.create()));

	@BeforeEach
	void createTables() {
		this.database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql"))
			.execute(this.database);
		this.sql.execute("create table ANSWERED (turn varchar(64) primary key)");
		this.sql.execute("create table TICKET (id varchar(255) primary key)");
	}

	@Test
	void ownWriteAfterTheCallNamesItsTurn() {
		ScriptedChatModel model = new ScriptedChatModel().says("a");
		ChatClient chat = ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.build();
		new TransactionSnippets.Answers(chat, this.sql, this.transaction).answer(KEY, "q");
		assertThat(this.sql.queryForList("select turn from ANSWERED", String.class))
			.isEqualTo(this.store.turns(KEY, Tail.ALL).stream().map(Turn::id).toList());
	}

	@Test
	void messageAndOwnRowAreStoredTogetherOrNotAtAll() {
		TransactionSnippets.together(this.transaction, this.sql, this.store, KEY);
		assertThat(this.store.messages(KEY)).hasSize(1);
		this.transaction.executeWithoutResult((status) -> {
			TransactionSnippets.together(this.transaction, this.sql, this.store, SessionKey.of("ada", "t2"));
			status.setRollbackOnly();
		});
		assertThat(this.sql.queryForList("select id from TICKET", String.class)).containsExactly("t1");
		assertThat(this.store.find(SessionKey.of("ada", "t2"))).isEmpty();
	}

}
