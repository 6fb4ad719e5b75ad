package io.sessionkit.advisor;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Session advisors of other libraries on a call that names a session. They are not
 * {@code MemoryAdvisor}s here, so only their class says what they are.
 */
class ForeignAdvisorTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final SessionAdvisor advisor = SessionAdvisor.of(this.conversations);

	private final ScriptedChatModel model = new ScriptedChatModel();

	@ParameterizedTest
	@ValueSource(strings = { "org.springframework.ai.session.advisor.SessionMemoryAdvisor",
			"org.springframework.ai.session.advisor.SessionTurnAdvisor",
			"org.springframework.ai.chat.client.advisor.session.SessionMemoryAdvisor",
			"org.springframework.ai.chat.client.advisor.session.SessionTurnAdvisor",
			"org.springaicommunity.session.SessionMemoryAdvisor" })
	void sessionAdvisorOfAnotherLibraryIsRefusedByItsClass(String name) throws Exception {
		for (ClientSetup setup : List.of(ClientSetup.plain(), ClientSetup.streaming())) {
			Passing other = other(name, Passing.class);
			ChatClient chat = setup.builder(this.model, this.advisor).defaultAdvisors(other).build();
			assertThatIllegalStateException()
				.isThrownBy(() -> setup.content(chat.prompt().user("go").advisors(SessionAdvisor.session("t1"))))
				.withMessageContaining(name)
				.withMessageContaining("would both store")
				.withMessageContaining("sessionkit.auto-register=false")
				.withMessageContaining("SessionAdvisor.none()");
			assertThat(other.calls).hasValue(0);
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.conversations.get(SessionKey.of("t1")).turns(Tail.ALL)).isEmpty();
	}

	@Test
	void subclassOfASessionAdvisorIsRefusedToo() throws Exception {
		Class<? extends Passing> theirs = type("org.springframework.ai.session.advisor.SessionMemoryAdvisor",
				Passing.class);
		Passing other = other("com.example.Own", theirs);
		ChatClient chat = ClientSetup.plain().builder(this.model, this.advisor).defaultAdvisors(other).build();
		assertThatIllegalStateException()
			.isThrownBy(() -> chat.prompt().user("go").advisors(SessionAdvisor.session("t1")).call().content())
			.withMessageContaining("com.example.Own");
	}

	/** The one that would store outside of ours does so before ours can refuse. */
	@Test
	void sessionAdvisorOutsideOfOursIsRefusedBeforeTheModelIsCalled() throws Exception {
		Passing other = other("org.springframework.ai.session.advisor.SessionTurnAdvisor", Passing.class);
		other.order = SessionParameters.TURN_ORDER - 50;
		ChatClient chat = ClientSetup.plain().builder(this.model, this.advisor).defaultAdvisors(other).build();
		assertThatIllegalStateException()
			.isThrownBy(() -> chat.prompt().user("go").advisors(SessionAdvisor.session("t1")).call().content())
			.withMessageContaining("SessionTurnAdvisor");
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "com.example.SessionMemoryAdvisor", "org.springframework.ai.session.advisor.AuditAdvisor" })
	void advisorsOfOtherNamesAndPackagesAreNot(String name) throws Exception {
		Passing other = other(name, Passing.class);
		ChatClient chat = ClientSetup.plain()
			.builder(this.model.says("a"), this.advisor)
			.defaultAdvisors(other)
			.build();
		chat.prompt().user("go").advisors(SessionAdvisor.session("t1")).call().content();
		assertThat(other.calls).hasValue(1);
		assertThat(this.conversations.get(SessionKey.of("t1")).turns(Tail.ALL)).hasSize(1);
	}

	@Test
	void callWithoutASessionHasWhateverAdvisors() throws Exception {
		Passing other = other("org.springframework.ai.session.advisor.SessionMemoryAdvisor", Passing.class);
		ChatClient chat = ClientSetup.plain()
			.builder(this.model.says("a"), this.advisor)
			.defaultAdvisors(other)
			.build();
		assertThat(chat.prompt().user("go").advisors(SessionAdvisor.none()).call().content()).isEqualTo("a");
		assertThat(other.calls).hasValue(1);
	}

	private static Passing other(String name, Class<? extends Passing> base) throws ReflectiveOperationException {
		return type(name, base).getConstructor().newInstance();
	}

	/** A class of this name that does what its base does. */
	private static <T extends Passing> Class<? extends T> type(String name, Class<T> base)
			throws ReflectiveOperationException {
		ClassWriter type = new ClassWriter(0);
		type.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, name.replace('.', '/'), null, Type.getInternalName(base), null);
		MethodVisitor constructor = type.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
		constructor.visitCode();
		constructor.visitVarInsn(Opcodes.ALOAD, 0);
		constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, Type.getInternalName(base), "<init>", "()V", false);
		constructor.visitInsn(Opcodes.RETURN);
		constructor.visitMaxs(1, 1);
		constructor.visitEnd();
		type.visitEnd();
		byte[] code = type.toByteArray();
		return new ClassLoader(base.getClassLoader()) {

			@Override
			protected Class<?> findClass(String wanted) {
				return defineClass(wanted, code, 0, code.length);
			}

			@Override
			protected Class<?> loadClass(String wanted, boolean resolve) throws ClassNotFoundException {
				if (!wanted.equals(name)) {
					return super.loadClass(wanted, resolve);
				}
				Class<?> loaded = findLoadedClass(wanted);
				return (loaded != null) ? loaded : findClass(wanted);
			}

		}.loadClass(name).asSubclass(base);
	}

	/**
	 * An advisor that hands on what it gets.
	 */
	public static class Passing implements CallAdvisor, StreamAdvisor {

		final AtomicInteger calls = new AtomicInteger();

		int order;

		@Override
		public String getName() {
			return "passing";
		}

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			this.calls.incrementAndGet();
			return chain.nextCall(request);
		}

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			this.calls.incrementAndGet();
			return chain.nextStream(request);
		}

	}

}
