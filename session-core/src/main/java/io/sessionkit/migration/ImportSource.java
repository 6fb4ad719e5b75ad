package io.sessionkit.migration;

import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.util.Assert;

/**
 * Something that conversations are imported from. Nothing is read before the import runs.
 */
public final class ImportSource {

	private final Supplier<SourceReader> reader;

	/** The name of its own; empty for that of its kind. */
	private final String name;

	private ImportSource(Supplier<SourceReader> reader) {
		this(reader, "");
	}

	private ImportSource(Supplier<SourceReader> reader, String name) {
		this.reader = reader;
		this.name = name;
	}

	/**
	 * Returns this source with a name of its own. The name is stored with what is
	 * imported, and a conversation counts as imported before only if it was imported from
	 * a source of the same name. Sources of one kind have the same name by default, so
	 * name them if two of them may have a conversation with the same id and the same key.
	 * Never change a name while imports from the source may have to be continued.
	 * @param name the name; not blank
	 * @return the source
	 */
	public ImportSource named(String name) {
		Assert.hasText(name, "The name of a source must not be blank.");
		return new ImportSource(this.reader, name);
	}

	/**
	 * Returns a source of all conversations of a repository. Each conversation is read as
	 * a whole, and the ids of all are kept in memory. The times of messages are kept if
	 * it is Spring AI's JDBC repository.
	 * @param repository the repository
	 * @return the source
	 */
	public static ImportSource chatMemory(ChatMemoryRepository repository) {
		Objects.requireNonNull(repository, "repository");
		return new ImportSource(() -> new RepositoryReader(repository));
	}

	/**
	 * Returns the table {@code SPRING_AI_CHAT_MEMORY} of Spring AI's JDBC repository as a
	 * source, of version 2.0, or of 1.0 and 1.1, whose table has no sequence. It is read
	 * in parts; without a sequence each conversation is read as a whole, and one of more
	 * than 100,000 messages is refused. Run the import in the time zone of the
	 * application that wrote it, since its times have none.
	 * @param dataSource the database
	 * @return the source
	 */
	public static ImportSource chatMemoryTable(DataSource dataSource) {
		Objects.requireNonNull(dataSource, "dataSource");
		return new ImportSource(() -> new ChatMemoryTable(dataSource));
	}

	/**
	 * Returns the tables {@code AI_SESSION} and {@code AI_SESSION_EVENT} of the
	 * community's Spring AI Session 0.6 and 0.7 as a source. They are read in parts. Run
	 * the import in the time zone of the application that wrote them, since their times
	 * have none.
	 * @param dataSource the database
	 * @return the source
	 */
	public static ImportSource aiSessionTables(DataSource dataSource) {
		Objects.requireNonNull(dataSource, "dataSource");
		return new ImportSource(() -> new AiSessionTables(dataSource));
	}

	SourceReader reader() {
		return this.reader.get();
	}

	/** Returns the name that is stored with what was imported. */
	String name(SourceReader reader) {
		return this.name.isEmpty() ? reader.name() : this.name;
	}

}
