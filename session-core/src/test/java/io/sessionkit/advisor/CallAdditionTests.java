package io.sessionkit.advisor;

import java.util.Map;

import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Hooks and listeners of one call.
 */
class CallAdditionTests {

	private static final class HookAndListener implements SessionHook, SessionListener {

	}

	@Test
	void objectThatIsAHookAndAListenerTakesPartAsWhatItWasAdded() {
		HookAndListener both = new HookAndListener();
		Map<String, CallAddition> added = Map.of("1", new CallAddition(1, SessionListener.class, both), "2",
				new CallAddition(2, SessionHook.class, both));
		assertThat(CallAddition.of(added, SessionHook.class)).containsExactly(both);
		assertThat(CallAddition.of(added, SessionListener.class)).containsExactly(both);
		added = Map.of("1", new CallAddition(1, SessionListener.class, both));
		assertThat(CallAddition.of(added, SessionHook.class)).isEmpty();
	}

}
