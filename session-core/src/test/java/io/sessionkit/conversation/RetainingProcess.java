package io.sessionkit.conversation;

import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Retention;
import io.sessionkit.store.Commit;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;

import org.springframework.ai.chat.client.ChatClient;

/**
 * The program that {@link OtherProcess} runs: makes turns until one of them is stored and
 * the oldest are about to be deleted, says so, and stands still there until it is killed.
 */
final class RetainingProcess {

	static final SessionKey KEY = SessionKey.of("killed", "retaining");

	static final Retention RETENTION = Retention.keepLastTurns(2).batch(4);

	private RetainingProcess() {
	}

	public static void main(String[] words) {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		out.println(OtherProcess.MARK + "ready");
		ask(standingStill(new SharedStore(List.of(words)).open(), out), 1, 8);
	}

	static void ask(SessionStore store, int from, int to) {
		ScriptedChatModel model = new ScriptedChatModel();
		Conversations conversations = Conversations.builder(store).retention(RETENTION).build();
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		for (int i = from; i <= to; i++) {
			model.says("a" + i);
			chat.prompt().user("q" + i).advisors(SessionAdvisor.session(KEY)).call().content();
		}
	}

	private static SessionStore standingStill(SessionStore store, PrintStream out) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, args) -> {
					if (args != null && args[0] instanceof Commit commit && commit.oldest() != null) {
						out.println(OtherProcess.MARK + "deleting");
						while (true) {
							LockSupport.park();
						}
					}
					try {
						return method.invoke(store, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
