package io.sessionkit.codec;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Lets a native image create and read the providers' records, and check Spring AI's
 * messages for new fields. Nothing else in the codec uses reflection.
 */
final class CodecRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		ProviderState.classNames()
			.forEach((name) -> hints.reflection()
				.registerTypeIfPresent(classLoader, name, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
						MemberCategory.INVOKE_PUBLIC_METHODS));
		UnknownContent.types()
			.forEach((type) -> hints.reflection().registerType(type, MemberCategory.ACCESS_DECLARED_FIELDS));
	}

}
