package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.memory.repository.jdbc.JdbcChatMemoryRepository;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;

/**
 * Spring AI's {@code ChatMemory} as its reference sets it up: the advisor, a window of
 * messages, the JDBC repository. It keeps the window and deletes what leaves it.
 */
final class ChatMemoryThreads implements Threads {

	/** The script that creates its table, shipped with the repository. */
	static final String SCHEMA = "org/springframework/ai/chat/memory/repository/jdbc/schema-postgresql.sql";

	private final ChatMemoryRepository repository;

	private final ChatClient chat;

	ChatMemoryThreads(DataSource dataSource, ChatModel model) {
		this.repository = JdbcChatMemoryRepository.builder().dataSource(dataSource).build();
		ChatMemory memory = MessageWindowChatMemory.builder()
			.chatMemoryRepository(this.repository)
			.maxMessages(Contenders.WINDOW_MESSAGES)
			.build();
		this.chat = ChatClient.builder(model).defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build()).build();
	}

	@Override
	public void preload(String thread, int messages) {
		List<Message> window = new ArrayList<>();
		int kept = Math.min(messages, Contenders.WINDOW_MESSAGES);
		for (int turn = (messages - kept) / 2; turn < messages / 2; turn++) {
			window.addAll(Dialogue.turn(turn));
		}
		this.repository.saveAll(thread, window);
	}

	@Override
	public void turn(String thread, Message question) {
		this.chat.prompt()
			.messages(question)
			.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, thread))
			.call()
			.content();
	}

}
