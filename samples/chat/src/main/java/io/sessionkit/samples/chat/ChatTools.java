package io.sessionkit.samples.chat;

import java.time.Clock;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.random.RandomGenerator;

import io.sessionkit.compensation.CompensatedBy;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

/**
 * The tools that the model may call without approval. Neither changes anything.
 */
final class ChatTools {

	static final String CURRENT_TIME = "current_time";

	static final String ROLL_DIE = "roll_die";

	private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("EEEE, d MMMM uuuu, HH:mm z",
			Locale.ENGLISH);

	private final Clock clock;

	private final RandomGenerator random;

	ChatTools(Clock clock, RandomGenerator random) {
		this.clock = clock;
		this.random = random;
	}

	@CompensatedBy(CompensatedBy.NOTHING)
	@Tool(name = CURRENT_TIME, description = "The date and the time of day where this application runs.")
	String currentTime() {
		return FORMAT.format(ZonedDateTime.now(this.clock));
	}

	@CompensatedBy(CompensatedBy.NOTHING)
	@Tool(name = ROLL_DIE, description = "Rolls one die. Call it once for each die.")
	int rollDie(@ToolParam(description = "how many sides the die has, 2 to 100") int sides) {
		if (sides < 2 || sides > 100) {
			throw new IllegalArgumentException("A die has 2 to 100 sides, not " + sides + ".");
		}
		return this.random.nextInt(1, sides + 1);
	}

}
