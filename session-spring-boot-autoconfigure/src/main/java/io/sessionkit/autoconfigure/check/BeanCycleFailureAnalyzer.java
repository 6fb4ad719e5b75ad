package io.sessionkit.autoconfigure.check;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * Reports a bean that needs a bean of SessionKit which is built with it, such as a hook
 * that needs the sessions. What Spring Boot says of such a cycle does not help here:
 * references that may be circular do not break it.
 */
@Order(0)
final class BeanCycleFailureAnalyzer extends AbstractFailureAnalyzer<BeanCurrentlyInCreationException> {

	/** The bean that creates the tables, for which all that uses a database waits. */
	private static final String TABLES = "sessionKitSchemaInitializer";

	private static final String PARTS = "SessionKit builds its beans with all hooks, listeners, policies and the like."
			+ " Let such a bean take an ObjectProvider of what it needs, as ObjectProvider<Conversations> or"
			+ " ObjectProvider<ChatClient.Builder>, and ask that when it is called.";

	private static final String DATABASE = "A bean such as JdbcTemplate is built when the tables of the sessions are"
			+ " there. Let the DataSource that they are in, and all that it needs, take none of them: build what it"
			+ " needs with a JdbcTemplate of its own, as new JdbcTemplate(other).";

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeanCurrentlyInCreationException cause) {
		List<String> cycle = cycle(rootFailure);
		if (cycle.stream().noneMatch((bean) -> bean.startsWith("sessionKit"))) {
			return null;
		}
		return new FailureAnalysis("These beans need each other, each one the next: " + String.join(", ", cycle) + ".",
				(cycle.contains(TABLES) ? DATABASE : PARTS)
						+ " 'spring.main.allow-circular-references' does not help here.",
				rootFailure);
	}

	/** Returns the names of the beans from the one that is needed again to itself. */
	private static List<String> cycle(Throwable failure) {
		List<String> beans = new ArrayList<>();
		for (Throwable each = failure; each != null; each = each.getCause()) {
			String bean = (each instanceof BeanCreationException ex) ? ex.getBeanName() : null;
			if (bean != null && (beans.isEmpty() || !beans.get(beans.size() - 1).equals(bean))) {
				beans.add(bean);
			}
		}
		return beans.isEmpty() ? beans : beans.subList(beans.indexOf(beans.get(beans.size() - 1)), beans.size());
	}

}
