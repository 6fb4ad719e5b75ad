package io.sessionkit.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The code that a careful person would write for one line of conversation on Redis: a
 * list of messages and a version, one script that reads the newest messages, and one that
 * appends with a version check. It stores roles and texts only.
 */
final class ByHandRedisThreads implements Threads {

	private static final int PRELOADED_AT_ONCE = 500;

	private static final String OPEN = """
			return {redis.call('GET', KEYS[1]) or '0', redis.call('LRANGE', KEYS[2], -tonumber(ARGV[1]), -1)}
			""";

	private static final String APPEND = """
			if (redis.call('GET', KEYS[1]) or '0') ~= ARGV[1] then return 0 end
			redis.call('INCR', KEYS[1])
			redis.call('RPUSH', KEYS[2], unpack(ARGV, 2))
			return 1
			""";

	private final RedisCommands<String, String> redis;

	private final ChatClient chat;

	private final String open;

	private final String append;

	ByHandRedisThreads(LettuceConnectionFactory connections, ChatModel model) {
		RedisClient client = (RedisClient) connections.getRequiredNativeClient();
		this.redis = client.connect(StringCodec.UTF8, RedisURI.create(connections.getHostName(), connections.getPort()))
			.sync();
		this.open = this.redis.scriptLoad(OPEN);
		this.append = this.redis.scriptLoad(APPEND);
		this.chat = ChatClient.builder(model).build();
	}

	@Override
	public void turn(String thread, Message question) {
		List<?> opened = Objects.requireNonNull(this.redis.evalsha(this.open, ScriptOutputType.MULTI, keys(thread),
				String.valueOf(Contenders.WINDOW_MESSAGES)));
		List<Message> request = new ArrayList<>();
		((List<?>) opened.get(1)).forEach((message) -> request.add(message(String.valueOf(message))));
		request.add(question);
		String reply = this.chat.prompt().messages(request).call().content();
		append(thread, String.valueOf(opened.get(0)), List.of(question, new AssistantMessage(reply)));
	}

	private void append(String thread, String version, List<Message> messages) {
		List<String> arguments = new ArrayList<>(List.of(version));
		messages.forEach((message) -> arguments.add(ByHandThreads.role(message) + '\n' + message.getText()));
		Long written = this.redis.evalsha(this.append, ScriptOutputType.INTEGER, keys(thread),
				arguments.toArray(String[]::new));
		if (written != 1) {
			throw new IllegalStateException("Somebody else wrote to thread " + thread + ".");
		}
	}

	@Override
	public void preload(String thread, int messages) {
		int version = 0;
		for (int turn = 0; turn < messages / 2; turn += PRELOADED_AT_ONCE) {
			List<Message> next = new ArrayList<>();
			for (int i = turn; i < Math.min(turn + PRELOADED_AT_ONCE, messages / 2); i++) {
				next.addAll(Dialogue.turn(i));
			}
			append(thread, String.valueOf(version++), next);
		}
	}

	private static String[] keys(String thread) {
		return new String[] { "{" + thread + "}:version", "{" + thread + "}:messages" };
	}

	private static Message message(String stored) {
		int line = stored.indexOf('\n');
		String body = stored.substring(line + 1);
		return stored.substring(0, line).equals("USER") ? new UserMessage(body) : new AssistantMessage(body);
	}

}
