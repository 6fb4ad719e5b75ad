package io.sessionkit.benchmarks;

import javax.sql.DataSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.session.CreateSessionRequest;
import org.springframework.ai.session.DefaultSessionService;
import org.springframework.ai.session.EventFilter;
import org.springframework.ai.session.SessionService;
import org.springframework.ai.session.advisor.SessionMemoryAdvisor;
import org.springframework.ai.session.compaction.TurnCountTrigger;
import org.springframework.ai.session.compaction.TurnWindowCompactionStrategy;
import org.springframework.ai.session.jdbc.JdbcSessionRepository;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Spring AI Session with its JDBC repository and its advisor, without compaction (its
 * default) or with a compaction that keeps the newest turns.
 */
final class SpringAiSessionThreads implements Threads {

	/** The script that creates its tables, shipped with the repository. */
	static final String SCHEMA = "org/springframework/ai/session/jdbc/schema-postgresql.sql";

	private final JdbcTemplate sql;

	private final SessionService service;

	private final ChatClient chat;

	private final int keptTurns;

	private SpringAiSessionThreads(DataSource dataSource, ChatModel model, int keptTurns) {
		this.sql = new JdbcTemplate(dataSource);
		this.service = DefaultSessionService.builder()
			.sessionRepository(JdbcSessionRepository.builder().dataSource(dataSource).build())
			.build();
		SessionMemoryAdvisor.Builder advisor = SessionMemoryAdvisor.builder(this.service).defaultUserId("benchmark");
		if (keptTurns < Integer.MAX_VALUE) {
			advisor = advisor.compactionTrigger(new TurnCountTrigger(Contenders.WINDOW_TURNS))
				.compactionStrategy(TurnWindowCompactionStrategy.builder().maxTurns(keptTurns).build());
		}
		this.chat = ChatClient.builder(model).defaultAdvisors(advisor.build()).build();
		this.keptTurns = keptTurns;
	}

	static SpringAiSessionThreads keepingAll(DataSource dataSource, ChatModel model) {
		return new SpringAiSessionThreads(dataSource, model, Integer.MAX_VALUE);
	}

	static SpringAiSessionThreads keeping(int turns, DataSource dataSource, ChatModel model) {
		return new SpringAiSessionThreads(dataSource, model, turns);
	}

	/**
	 * Lets the library write the first turn and copies its rows for the others. Written
	 * one by one they would take an hour.
	 */
	@Override
	public void preload(String thread, int messages) {
		this.service.create(CreateSessionRequest.builder().id(thread).userId("benchmark").build());
		Dialogue.turn(0).forEach((message) -> this.service.appendMessage(thread, message));
		int turns = messages / 2;
		this.sql.update("""
				insert into AI_SESSION_EVENT (id, session_id, "timestamp", message_type, message_content,
						message_data, synthetic, archived, branch, metadata)
					select gen_random_uuid()::text, session_id, "timestamp", message_type, message_content,
						message_data, synthetic, n <= ?, branch, metadata
					from generate_series(2, ?) n cross join AI_SESSION_EVENT e
					where e.session_id = ? order by n, e.seq
				""", turns - this.keptTurns, turns, thread);
		this.sql.update(
				"update AI_SESSION_EVENT set archived = true where session_id = ? and seq <= ("
						+ "select min(seq) + 1 from AI_SESSION_EVENT where session_id = ?) and ?",
				thread, thread, turns > this.keptTurns);
		this.sql.update("update AI_SESSION set event_version = ? where id = ?", messages, thread);
		int active = this.service.getEvents(thread, EventFilter.active()).size();
		if (active != 2 * Math.min(turns, this.keptTurns)) {
			throw new IllegalStateException("The library sees " + active + " active events of " + messages + ".");
		}
	}

	@Override
	public void turn(String thread, Message question) {
		this.chat.prompt()
			.messages(question)
			.advisors((advisors) -> advisors.param(SessionMemoryAdvisor.SESSION_ID_CONTEXT_KEY, thread))
			.call()
			.content();
	}

}
