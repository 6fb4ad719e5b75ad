package io.sessionkit.autoconfigure.store;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds what {@code docs/configuration.md} says of the choice of the store to what the
 * stores need.
 */
class StoreNeedsTests {

	private static final Pattern PROPERTY = Pattern.compile("`(spring)?((?:\\.[a-z0-9-]+)+)`");

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "MEMORY")
	void everyOtherStoreSaysWhatItNeeds(StoreType type) {
		assertThat(StoreNeeds.of(type)).hasValueSatisfying((needs) -> assertThat(needs.addresses()).isNotEmpty());
	}

	/** The report and the retention know a store by the package of its class. */
	@ParameterizedTest
	@EnumSource
	void everyTypeHasAStoreInThePackageOfItsName(StoreType type) {
		assertThat(SessionStoreAutoConfiguration.class.getDeclaredClasses())
			.filteredOn((each) -> each.getAnnotation(ConditionalOnStoreType.class).value() == type)
			.singleElement()
			.satisfies((configuration) -> assertThat(configuration.getDeclaredMethods())
				.filteredOn((method) -> method.getName().equals("sessionKitStore"))
				.singleElement()
				.satisfies((method) -> assertThat(method.getReturnType().getPackageName())
					.isEqualTo(SessionStore.class.getPackageName() + "." + type.value())));
	}

	@Test
	void storeInMemoryIsKnownWhateverIsAroundIt() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		assertThat(StoreType.of(store)).contains(StoreType.MEMORY);
		StoreLayer layer = () -> store;
		assertThat(StoreType.of(layer)).contains(StoreType.MEMORY);
		assertThat(StoreType.of(new ObservedStore(store))).isEmpty();
	}

	@Test
	void documentNamesTheBeansByWhichAStoreIsChosen() throws Exception {
		assertThat(StoreNeeds.ALL).allSatisfy((needs) -> assertThat(whichStore()).contains("`" + needs.bean() + "`"));
	}

	/** A name that begins with a dot continues the name before it. */
	@Test
	void documentNamesTheAddressesBesideWhichMemoryIsNotChosen() throws Exception {
		List<String> addresses = StoreNeeds.ALL.stream().flatMap((needs) -> needs.addresses().stream()).toList();
		String text = whichStore();
		assertThat(addresses).allSatisfy((address) -> assertThat(names(text)).anyMatch(address::endsWith));
		assertThat(names(text)).allSatisfy((name) -> assertThat(addresses).anyMatch((each) -> each.endsWith(name)));
	}

	private static List<String> names(String text) {
		return PROPERTY.matcher(text).results().map((found) -> name(found.group(1), found.group(2))).toList();
	}

	private static String name(String beginning, String rest) {
		return ((beginning != null) ? beginning : "") + rest;
	}

	private static String whichStore() throws Exception {
		String document = Files.readString(Path.of("..", "docs", "configuration.md"));
		Matcher section = Pattern.compile("(?s)\n## Which store\n(.*?)\n\n").matcher(document + "\n");
		return Stream.of(section).filter(Matcher::find).map((found) -> found.group(1)).findFirst().orElseThrow();
	}

}
