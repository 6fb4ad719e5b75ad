package io.sessionkit.chatmemory;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.access.Caller;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.migration.ImportReport.Outcome;
import io.sessionkit.migration.ImportSource;
import io.sessionkit.migration.SessionImport;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.memory.InMemoryChatMemoryRepository;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Memories and imports where sessions belong to callers.
 */
class MemoryOfCallersTests {

	private static final List<Message> SAID = List.of(new UserMessage("q"), new AssistantMessage("a"));

	private final SessionStore store = TestStores.MEMORY.create();

	private @Nullable String signedIn = "ada";

	private final SessionAccess access = SessionAccess
		.of(() -> Optional.ofNullable(this.signedIn).map((name) -> Caller.of(name)));

	private final SessionStore guarded = this.access.guard(this.store);

	@Test
	void memoryReachesTheSessionsOfItsCallerAlone() {
		SessionChatMemory memory = SessionChatMemory.of(this.guarded, () -> this.access.caller().name());
		memory.add("t1", new UserMessage("q"));
		memory.add("t1", new AssistantMessage("a"));
		assertThat(Lines.of(this.store.messages(SessionKey.of("ada", "t1")))).containsExactly("user: q",
				"assistant: a");
		this.signedIn = "bob";
		assertThat(memory.get("t1")).isEmpty();
		memory.clear("t1");
		assertThat(SessionChatMemoryRepository.of(this.guarded, () -> "").findConversationIds()).isEmpty();
		assertThat(this.store.messages(SessionKey.of("ada", "t1"))).hasSize(2);
		this.signedIn = null;
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> memory.get("t1"));
		assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> memory.add("t1", SAID));
	}

	@Test
	void ownerThatIsNotTheCallerIsRefused() {
		this.store.add(SessionKey.of("ada", "t1"), SAID);
		this.signedIn = "bob";
		Supplier<String> ada = () -> "ada";
		SessionChatMemory memory = SessionChatMemory.of(this.guarded, ada);
		SessionChatMemoryRepository repository = SessionChatMemoryRepository.of(this.guarded, ada);
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> memory.get("t1"));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> memory.add("t1", SAID));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> memory.clear("t1"));
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> repository.findByConversationId("t1"));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> repository.saveAll("t1", SAID));
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> repository.deleteByConversationId("t1"));
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(repository::findConversationIds);
		assertThat(this.store.messages(SessionKey.of("ada", "t1"))).hasSize(2);
	}

	@Test
	void keyWithoutAnOwnerIsTheCallersFromTheFirstQuestionOn() {
		SessionChatMemory memory = SessionChatMemory.of(this.guarded, () -> "");
		memory.add("t1", new UserMessage("q1"));
		memory.add("t1", new UserMessage("q2"));
		memory.add("t1", new AssistantMessage("a"));
		assertThat(this.store.messages(SessionKey.of("ada", "t1"))).hasSize(3);
		assertThat(this.store.find(SessionKey.of("t1"))).isEmpty();
	}

	@Test
	void importOfAllOwnersIsAJob() {
		InMemoryChatMemoryRepository source = new InMemoryChatMemoryRepository();
		source.saveAll("bob", SAID);
		source.saveAll("eve", SAID);
		SessionImport imports = SessionImport.into(this.guarded,
				(conversation) -> SessionKey.of(conversation.id(), "t1"));
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> imports.run(ImportSource.chatMemory(source)));
		assertThat(this.store.find(SessionKey.of("bob", "t1"))).isEmpty();
		assertThat(this.access.callAs(Caller.server(), () -> imports.run(ImportSource.chatMemory(source)))
			.count(Outcome.IMPORTED)).isEqualTo(2);
		assertThat(this.store.messages(SessionKey.of("bob", "t1"))).hasSize(2);
	}

}
