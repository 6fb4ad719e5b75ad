package io.sessionkit.samples.chat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.sessionkit.samples.chat.RunningChat.Event;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the events of a reply while it is made.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReplyEventsTests {

	private RunningChat chat;

	@BeforeAll
	void start(@TempDir Path folder) {
		this.chat = RunningChat.start(folder, "--demo.pace=0ms");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@Test
	void tellsOfToolsBeforeTheTextThatUsesTheirResults() throws Exception {
		List<Event> events = this.chat.ask("tools", "Roll two dice");

		assertThat(events.subList(0, 4)).extracting((event) -> event.data().path("state").asString())
			.containsExactly("CALLED", "CALLED", "RETURNED", "RETURNED");
		assertThat(events.get(0).data().path("name").asString()).isEqualTo("roll_die");
		assertThat(events.get(0).data().path("data").asString()).isEqualTo("{\"sides\":6}");
		assertThat(ids(events.subList(0, 2))).isEqualTo(ids(events.subList(2, 4))).doesNotHaveDuplicates();
		assertThat(events.get(4).isText()).isTrue();
		JsonNode turn = events.get(events.size() - 1).data();
		assertThat(turn.path("messages").path(1).path("calls").values())
			.extracting((call) -> call.path("id").asString())
			.isEqualTo(ids(events.subList(0, 2)));
	}

	@Test
	void givesEachWindowTheToolsOfItsOwnCall() throws Exception {
		List<CompletableFuture<List<Event>>> windows = new ArrayList<>();
		for (int window = 0; window < 4; window++) {
			String question = (window % 2 == 0) ? "Roll two dice" : "What time is it?";
			windows.add(CompletableFuture.supplyAsync(() -> ask(question)));
		}

		for (int window = 0; window < 4; window++) {
			List<Event> tools = windows.get(window)
				.join()
				.stream()
				.filter((event) -> event.data().has("state"))
				.toList();
			assertThat(tools).hasSize((window % 2 == 0) ? 4 : 2);
			assertThat(names(tools)).containsExactly((window % 2 == 0) ? "roll_die" : "current_time");
		}
	}

	@Test
	void streamsALongTextInManyPieces() throws Exception {
		List<Event> events = this.chat.ask("long", "Write 35 kB");

		assertThat(RunningChat.text(events)).hasSizeBetween(34_000, 36_000);
		assertThat(events).hasSizeBetween(4_500, 7_000);
	}

	@Test
	void showsMarkdownThatBeginsWithThoughts() throws Exception {
		assertThat(this.chat.reply("markdown", "Show me Markdown")).startsWith("<think>\n")
			.contains("\n# ", "\n   ```java\n", "| part |", "- [ ] ", "~~struck~~", "> > ");
	}

	private List<Event> ask(String question) {
		try {
			return this.chat.ask("windows", question);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static List<String> ids(List<Event> events) {
		return events.stream().map((event) -> event.data().path("callId").asString()).toList();
	}

	private static Set<String> names(List<Event> events) {
		Set<String> names = new HashSet<>();
		events.forEach((event) -> names.add(event.data().path("name").asString()));
		return names;
	}

}
