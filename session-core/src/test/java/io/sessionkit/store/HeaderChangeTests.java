package io.sessionkit.store;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class HeaderChangeTests {

	@Test
	void tagsAndAttributesAreCopied() {
		Set<String> tags = new HashSet<>(Set.of("tag"));
		Map<String, Object> attributes = new HashMap<>(Map.of("name", "value"));
		HeaderChange change = new HeaderChange(null, tags, null, attributes, null, null, null);
		tags.add("later");
		attributes.put("later", "value");
		assertThat(change.tags()).containsExactly("tag");
		assertThat(change.attributes()).containsOnlyKeys("name");
	}

	@Test
	void whatIsLeftAsItIsStaysNull() {
		assertThat(HeaderChange.NONE.tags()).isNull();
		assertThat(HeaderChange.NONE.title("title").attributes()).isNull();
	}

}
