package io.sessionkit.internal.door;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class InnerPartsTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	@Test
	void partIsThatOfTheObject() {
		Turns turns = InnerParts.of(this.conversations, Turns.class);
		assertThat(InnerParts.find(this.conversations, Turns.class)).containsSame(turns);
		assertThat(InnerParts.of(Conversations.of(this.conversations.store()), Turns.class)).isNotSameAs(turns);
	}

	@Test
	void partThatAClassHasNotOpenedIsAnError() {
		assertThatIllegalArgumentException().isThrownBy(() -> InnerParts.of(this.conversations, GatedTurns.class))
			.withMessageContaining(Conversations.class.getName())
			.withMessageContaining(GatedTurns.class.getName());
	}

}
