package io.sessionkit.codec;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Opcodes;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests content in a field that one of Spring AI's classes has in a newer version. The
 * field is added to the class, in a class loader of its own.
 */
class UnknownContentTests {

	private static final String FIELD = "parts";

	static Stream<Class<?>> types() {
		return Stream.of(AbstractMessage.class, UserMessage.class, AssistantMessage.class, SystemMessage.class,
				ToolResponseMessage.class, ToolCall.class, ToolResponse.class, Media.class);
	}

	@ParameterizedTest
	@MethodSource("types")
	void contentInAnUnknownFieldIsRefusedByTheNameOfTheField(Class<?> type) throws Exception {
		assertThat(outcome(type, Encoding.class, List.of("s3cret"))).startsWith("refused: ")
			.contains("'" + FIELD + "' of " + type.getName())
			.doesNotContain("s3cret");
	}

	/** A lenient codec may leave out a medium, as it does with media of other classes. */
	@ParameterizedTest
	@MethodSource("types")
	void replyIsNotReducedWithoutAWord(Class<?> type) throws Exception {
		String outcome = outcome(type, Reducing.class, List.of("s3cret"));
		if (type == Media.class) {
			assertThat(outcome).isEqualTo("left out: 1");
		}
		else {
			assertThat(outcome).startsWith("refused: ").contains("'" + FIELD + "'").doesNotContain("s3cret");
		}
	}

	@ParameterizedTest
	@MethodSource("types")
	void emptyUnknownFieldHidesNothing(Class<?> type) throws Exception {
		String known = JsonMessageCodec.create().encode(SessionKey.of("t"), Scenario.message(type.getName(), null));
		for (Object empty : new Object[] { List.of(), "", new byte[0], false }) {
			assertThat(outcome(type, Encoding.class, empty)).isEqualTo(known);
		}
	}

	@Test
	void allTypesAreLookedAt() {
		assertThat(UnknownContent.types()).containsExactlyInAnyOrderElementsOf(types().toList());
	}

	/** The Spring AI that this is built with has no field that is not known. */
	@Test
	void everyFieldOfTheSupportedVersionIsKnown() {
		types().forEach((type) -> {
			Message message = Scenario.message(type.getName(), null);
			UnknownContent.refuse(message, "message");
		});
		assertThat(types().flatMap((type) -> Stream.of(type.getDeclaredFields()))
			.filter((field) -> field.getName().equals(FIELD))).isEmpty();
	}

	@Test
	void nativeImageIsToldOfTheFields() {
		RuntimeHints hints = new RuntimeHints();
		new CodecRuntimeHints().registerHints(hints, getClass().getClassLoader());
		assertThat(types()).allSatisfy((type) -> assertThat(RuntimeHintsPredicates.reflection()
			.onType(type)
			.withMemberCategory(MemberCategory.ACCESS_DECLARED_FIELDS)).accepts(hints));
	}

	private static String outcome(Class<?> type, Class<? extends Scenario> scenario, Object content) throws Exception {
		Constructor<?> constructor = new Patched(type.getName()).loadClass(scenario.getName()).getDeclaredConstructor();
		constructor.setAccessible(true);
		@SuppressWarnings("unchecked")
		BiFunction<String, Object, String> loaded = (BiFunction<String, Object, String>) constructor.newInstance();
		return loaded.apply(type.getName(), content);
	}

	/**
	 * Runs where the field is.
	 */
	abstract static class Scenario implements BiFunction<String, Object, String> {

		static final SessionKey KEY = SessionKey.of("t");

		@Override
		public String apply(String type, Object content) {
			try {
				return run(message(type, content));
			}
			catch (UnstorableMessageException ex) {
				return "refused: " + ex.getMessage();
			}
		}

		abstract String run(Message message);

		/**
		 * A message that has an object of the type; if content is given, in its field.
		 */
		static Message message(String type, Object content) {
			ToolCall call = new ToolCall("1", "function", "find", "{}");
			ToolResponse response = new ToolResponse("1", "find", "found");
			Media media = Media.builder().mimeType(Media.Format.IMAGE_PNG).data("png").id("m").name("n").build();
			Message user = UserMessage.builder().text("hi").media(media).build();
			Message reply = AssistantMessage.builder().content("hi").toolCalls(List.of(call)).build();
			Message tools = ToolResponseMessage.builder().responses(List.of(response)).build();
			Message system = new SystemMessage("hi");
			Object holder = Stream.of(user, reply, tools, system, call, response, media)
				.filter((each) -> isA(each.getClass(), type))
				.findFirst()
				.orElseThrow();
			if (content != null) {
				set(holder, content);
			}
			return (holder instanceof Message message) ? message
					: (holder == call) ? reply : (holder == response) ? tools : user;
		}

		private static boolean isA(Class<?> type, String name) {
			return type.getName().equals(name) || type.getSuperclass().getName().equals(name);
		}

		private static void set(Object holder, Object content) {
			for (Class<?> type = holder.getClass(); type != null; type = type.getSuperclass()) {
				for (Field field : type.getDeclaredFields()) {
					if (field.getName().equals(FIELD)) {
						try {
							field.set(holder, content);
							return;
						}
						catch (IllegalAccessException ex) {
							throw new IllegalStateException(ex);
						}
					}
				}
			}
			throw new IllegalStateException("no field");
		}

	}

	static final class Encoding extends Scenario {

		@Override
		String run(Message message) {
			return JsonMessageCodec.create().encode(KEY, message);
		}

	}

	static final class Reducing extends Scenario {

		@Override
		String run(Message message) {
			JsonMessageCodec codec = JsonMessageCodec.create();
			codec.encode(KEY, codec.storable(message));
			return "left out: " + codec.leftOut();
		}

	}

	/**
	 * Loads one class with a field more, and all that knows messages again.
	 */
	private static final class Patched extends ClassLoader {

		private final String patched;

		Patched(String patched) {
			super(UnknownContentTests.class.getClassLoader());
			this.patched = patched;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			synchronized (getClassLoadingLock(name)) {
				if (!name.startsWith("org.springframework.ai.") && !name.startsWith("io.sessionkit.")) {
					return super.loadClass(name, resolve);
				}
				Class<?> loaded = findLoadedClass(name);
				return (loaded != null) ? loaded : findClass(name);
			}
		}

		@Override
		protected Class<?> findClass(String name) throws ClassNotFoundException {
			String path = ClassUtils.convertClassNameToResourcePath(name) + ".class";
			try (InputStream file = getParent().getResourceAsStream(path)) {
				if (file == null) {
					throw new ClassNotFoundException(name);
				}
				byte[] code = file.readAllBytes();
				byte[] defined = name.equals(this.patched) ? withField(code) : code;
				return defineClass(name, defined, 0, defined.length);
			}
			catch (IOException ex) {
				throw new ClassNotFoundException(name, ex);
			}
		}

		private static byte[] withField(byte[] code) {
			ClassWriter writer = new ClassWriter(0);
			new ClassReader(code).accept(new ClassVisitor(Opcodes.ASM9, writer) {

				@Override
				public void visitEnd() {
					Objects.requireNonNull(this.cv)
						.visitField(Opcodes.ACC_PUBLIC, FIELD, "Ljava/lang/Object;", null, null)
						.visitEnd();
					super.visitEnd();
				}

			}, 0);
			return writer.toByteArray();
		}

	}

}
