package io.sessionkit.conversation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Lines in a file that outlive the process that writes them: a line is on the disk when
 * {@link #note} returns.
 */
public final class Journal {

	private final Path file;

	public Journal(Path file) {
		this.file = file;
	}

	public synchronized void note(String line) {
		try {
			Files.write(this.file, (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE,
					StandardOpenOption.APPEND, StandardOpenOption.DSYNC);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The lines that were written.
	 */
	public List<String> lines() {
		try {
			return Files.exists(this.file) ? Files.readAllLines(this.file) : List.of();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the rest of the lines that begin with a word.
	 */
	public List<String> after(String word) {
		return lines().stream()
			.filter((line) -> line.startsWith(word + " "))
			.map((line) -> line.substring(word.length() + 1))
			.toList();
	}

}
