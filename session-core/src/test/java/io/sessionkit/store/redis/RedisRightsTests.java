package io.sessionkit.store.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a user of Redis must be allowed, and what is said of one who is allowed less.
 */
class RedisRightsTests {

	private static final Pattern CALLED = Pattern.compile("redis\\.p?call\\('([A-Z]+)'");

	private static final Pattern TRIED = Pattern.compile("\\{'([A-Z]+)'");

	private static final Pattern ALLOWED = Pattern.compile("\\+([a-z]+)");

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create())
		.timeToLive(Duration.ofHours(1));

	private final SessionKey key = SessionKey.of("owner", "t1");

	private final RedisServers servers = RedisServers.appending();

	private final LettuceConnectionFactory everything = this.servers.connections();

	private final RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1",
			((RedisStandaloneConfiguration) this.servers.configuration()).getPort());

	@AfterEach
	void disconnect() {
		this.everything.destroy();
	}

	@Test
	void allCommandsOfTheScriptsAreTriedAtStartAndThePageListsThem() throws IOException {
		Set<String> called = Stream.of(Script.values())
			.flatMap((script) -> names(CALLED, script).stream())
			.collect(Collectors.toCollection(TreeSet::new));
		// which it asks only if it may
		called.remove("INFO");
		Set<String> tried = names(TRIED, Script.CHECK);
		tried.add("TIME");
		tried.remove("INFO");
		assertThat(tried).isEqualTo(called);
		Set<String> allowed = names(ALLOWED, rights());
		assertThat(allowed).contains("EVAL", "EVALSHA");
		allowed.removeAll(Set.of("EVAL", "EVALSHA"));
		assertThat(allowed).isEqualTo(called);
	}

	private static Set<String> names(Pattern pattern, Script script) {
		return names(pattern, new String(script.text(), StandardCharsets.UTF_8));
	}

	private static Set<String> names(Pattern pattern, String text) {
		return pattern.matcher(text)
			.results()
			.map((found) -> found.group(1).toUpperCase(Locale.ROOT))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/** Returns the command of the page. */
	private static String rights() throws IOException {
		Path folder = Path.of("").toAbsolutePath();
		while (!Files.isDirectory(folder.resolve("docs"))) {
			folder = folder.getParent();
		}
		String page = Files.readString(folder.resolve("docs/configuration.md"));
		int from = page.indexOf("ACL SETUSER");
		return page.substring(from, page.indexOf("```", from));
	}

	@Test
	void rightsOfThePageAreEnough() throws IOException {
		acl(rights().strip().split("\\s+"));
		LettuceConnectionFactory limited = connections();
		try {
			RedisSessionStore store = new RedisSessionStore(limited, OPTIONS);
			store.verifyServer();
			assertThat(this.everything.getConnection().keyCommands().keys("*".getBytes(StandardCharsets.UTF_8)))
				.isEmpty();
			store.commit(Commit.first(this.key).turn(turn("one")));
			Session first = store.find(this.key).orElseThrow();
			store.commit(Commit.on(first)
				.turn(turn("two"))
				.header(HeaderChange.NONE.timeToLive(Duration.ofHours(2)))
				.records(List.of(RecordWrite.create("approval", "1", "x"))));
			store.put(this.key, RecordWrite.create("note", "1", "x"));
			assertThat(store.list("owner", Page.first(5))).hasSize(1);
			assertThat(store.oldestRecords("approval", null, 5).records()).hasSize(1);
			assertThat(store.pop(this.key)).isPresent();
			assertThat(store.deleteExpired(5)).isZero();
			store.erase(this.key);
			assertThat(store.find(this.key)).isEmpty();
		}
		finally {
			limited.destroy();
		}
	}

	/** The turn is stored by then, and its time to live is to be set. */
	@Test
	void writeThatEndsHalfwayIsNotSaidToBeUnwritten() throws IOException {
		acl(rights().strip().split("\\s+"));
		LettuceConnectionFactory limited = connections();
		try {
			RedisSessionStore store = new RedisSessionStore(limited, OPTIONS);
			store.commit(Commit.first(this.key).turn(turn("one")));
			Session first = store.find(this.key).orElseThrow();
			acl("ACL", "SETUSER", "sessionkit", "-pexpireat");
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> store.commit(Commit.on(first).turn(turn("two"))))
				.withMessageContaining("may not run all commands of the scripts")
				.matches((ex) -> !ex.isUnwritten());
			assertThat(new RedisSessionStore(this.everything, OPTIONS).messages(this.key)).hasSize(2);
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(store::verifyServer)
				.withMessageContaining("may not run PEXPIREAT (NOPERM)");
		}
		finally {
			limited.destroy();
		}
	}

	private LettuceConnectionFactory connections() {
		this.configuration.setUsername("sessionkit");
		this.configuration.setPassword("secret");
		LettuceConnectionFactory limited = new LettuceConnectionFactory(this.configuration);
		limited.start();
		return limited;
	}

	private void acl(String... command) {
		try (RedisConnection connection = this.everything.getConnection()) {
			connection.execute(command[0],
					Arrays.stream(command)
						.skip(1)
						.map((word) -> word.getBytes(StandardCharsets.UTF_8))
						.toArray(byte[][]::new));
		}
	}

	private static TurnWrite turn(String text) {
		Turn turn = Turn.builder(text, Instant.EPOCH).status(TurnStatus.COMPLETED, Instant.EPOCH).build();
		return new TurnWrite(turn, 0, List.of(new NewItem(new UserMessage(text), Instant.EPOCH, 1)));
	}

}
