package io.sessionkit.store;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class HeaderChangeTests {

	@Test
	void tagsAndStateAreCopied() {
		Set<String> tags = new HashSet<>(Set.of("tag"));
		Map<String, Object> state = new HashMap<>(Map.of("name", "value"));
		HeaderChange change = new HeaderChange(null, tags, null, state, null, null);
		tags.add("later");
		state.put("later", "value");
		assertThat(change.tags()).containsExactly("tag");
		assertThat(change.state()).containsOnlyKeys("name");
	}

	@Test
	void whatIsLeftAsItIsStaysNull() {
		assertThat(HeaderChange.NONE.tags()).isNull();
		assertThat(HeaderChange.NONE.title("title").state()).isNull();
	}

}
