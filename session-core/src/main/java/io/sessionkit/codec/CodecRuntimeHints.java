package io.sessionkit.codec;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Lets a native image make and read the providers' records, and look for fields that
 * Spring AI's messages did not have. Nothing else of the codec is reflective.
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
