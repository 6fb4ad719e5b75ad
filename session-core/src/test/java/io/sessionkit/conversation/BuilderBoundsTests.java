package io.sessionkit.conversation;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Retention;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

class BuilderBoundsTests {

	private final Conversations.Builder builder = Conversations
		.builder(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	@Test
	void aTimeThatIsTooLongToBeMeasuredIsRefused() {
		Duration tooLong = Duration.ofDays(366);
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.lease(tooLong))
			.withMessageContaining("PT8784H")
			.withMessageContaining("Use ");
		assertThatIllegalArgumentException().isThrownBy(() -> advisor().concurrencyTimeout(tooLong))
			.withMessageContaining("PT8784H")
			.withMessageContaining("Use ");
		assertThatNoException().isThrownBy(() -> this.builder.lease(Duration.ofDays(365)));
		assertThatNoException().isThrownBy(() -> advisor().concurrencyTimeout(Duration.ofDays(365)));
	}

	@Test
	void turnsThatWouldBeDeletedWithoutASummaryAreRefused() {
		Summarize.Builder rule = Summarize.by(new ScriptedChatModel()).keepTurns(10);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.builder.retention(Retention.keepLastTurns(13))
				.summarize(rule.triggerTokens(8000).build())
				.build())
			.withMessageContaining("13 turns")
			.withMessageContaining("Keep 14 turns or more");
		this.builder.retention(Retention.keepLastTurns(14)).build().close();
	}

	@Test
	void turnsThatWouldBeLeftOutWithoutASummaryAreRefused() {
		this.builder.summarize(Summarize.by(new ScriptedChatModel()).triggerTokens(8000).build());
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.trim(Trim.keepLastTurns(7)).build())
			.withMessageContaining("A request has 7 turns")
			.withMessageContaining("9 turns")
			.withMessageContaining("neither sent nor summarized until then. Send 8 turns or more");
		this.builder.trim(Trim.keepLastTurns(8)).build().close();
	}

	@Test
	void turnsMayBeDeletedAndLeftOutIfSummariesAreMadeOnRequestOnly() {
		this.builder.retention(Retention.keepLastTurns(1))
			.trim(Trim.keepLastTurns(1))
			.summarize(Summarize.by(new ScriptedChatModel()).keepTurns(10).build())
			.build()
			.close();
	}

	@Test
	void aSessionThatWouldNotOutliveALeaseIsRefused() {
		Conversation conversation = this.builder.lease(Duration.ofSeconds(30)).build().get("t");
		Duration lease = Duration.ofSeconds(30);
		assertThatIllegalArgumentException().isThrownBy(() -> conversation.create(HeaderChange.NONE.timeToLive(lease)))
			.withMessageContaining("the lease, which is PT30S");
		assertThat(conversation.create(HeaderChange.NONE.timeToLive(lease.plusSeconds(1)))).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> conversation.timeToLive(Duration.ofSeconds(1)))
			.withMessageContaining("PT1S");
		conversation.timeToLive(Duration.ZERO);
	}

	@ParameterizedTest
	@ValueSource(strings = { "*", "cancel,refund", " " })
	void nameThatNoToolCanHaveIsRefused(String name) {
		Conversations conversations = this.builder.build();
		assertThatIllegalArgumentException().isThrownBy(() -> Approvals.builder(conversations).tools(Set.of(name)))
			.withMessageContaining("'" + name + "'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.builder.toolTimeouts(Map.of(name, Duration.ofSeconds(1))))
			.withMessageContaining("'" + name + "'");
	}

	@Test
	void decidersMayBeThoseOfAllToolsButNotOfAName() {
		Approvals.Builder approvals = Approvals.builder(this.builder.build());
		Set<String> leads = Set.of("ROLE_LEAD");
		assertThatNoException().isThrownBy(() -> approvals.deciders(Map.of("*", leads)));
		assertThatIllegalArgumentException().isThrownBy(() -> approvals.deciders(Map.of("cancel*", leads)))
			.withMessageContaining("'cancel*'");
	}

	private SessionAdvisor.Builder advisor() {
		return SessionAdvisor.builder(this.builder.build());
	}

}
