package io.sessionkit.test;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

class OneStoreTests {

	private static final int STORES = TestStores.values().length;

	@ParameterizedClass
	@EnumSource
	static class OfAClass {

		@Parameter
		TestStores kind;

		@Test
		void once() {
			assertThat(this.kind).isNotNull();
		}

		@ParameterizedTest
		@ValueSource(ints = { 1, 2 })
		void twice(int number) {
			assertThat(this.kind).as("%s", number).isNotNull();
		}

	}

	static class OfAMethod {

		@ParameterizedTest
		@EnumSource
		void onEach(TestStores kind) {
			assertThat(kind).isNotNull();
		}

		@Test
		void onNone() {
			assertThat(STORES).isPositive();
		}

	}

	@Test
	void testsOnOtherStoresAreSkippedAndDoNotPass() {
		assertThat(run(OfAMethod.class, Map.of(OneStore.PROPERTY, "H2")))
			.returns(2L, TestExecutionSummary::getTestsSucceededCount)
			.returns(STORES - 1L, TestExecutionSummary::getTestsSkippedCount);
		assertThat(run(OfAClass.class, Map.of(OneStore.PROPERTY, "H2")))
			.returns(3L, TestExecutionSummary::getTestsSucceededCount)
			.satisfies((summary) -> assertThat(summary.getTestsSkippedCount()).isGreaterThanOrEqualTo(STORES - 1L));
	}

	@Test
	void withoutTheNameOfAStoreNothingIsSkipped() {
		assertThat(run(OfAMethod.class, Map.of())).returns(STORES + 1L, TestExecutionSummary::getTestsSucceededCount);
		assertThat(run(OfAClass.class, Map.of())).returns(3L * STORES, TestExecutionSummary::getTestsSucceededCount);
	}

	@Test
	void nameOfNoStoreFails() {
		assertThat(run(OfAMethod.class, Map.of(OneStore.PROPERTY, "h2")))
			.returns(0L, TestExecutionSummary::getTestsSucceededCount)
			.satisfies((summary) -> assertThat(summary.getTotalFailureCount()).isPositive());
	}

	/**
	 * Runs tests beside those of this build, whose properties and listeners are not
	 * theirs.
	 */
	private static TestExecutionSummary run(Class<?> tests, Map<String, String> parameters) {
		SummaryGeneratingListener summary = new SummaryGeneratingListener();
		LauncherConfig config = LauncherConfig.builder()
			.enableTestExecutionListenerAutoRegistration(false)
			.enableLauncherSessionListenerAutoRegistration(false)
			.build();
		LauncherFactory.create(config)
			.execute(LauncherDiscoveryRequestBuilder.request()
				.selectors(selectClass(tests))
				.enableImplicitConfigurationParameters(false)
				.configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
				.configurationParameter("junit.jupiter.extensions.autodetection.include", "io.sessionkit.test.*")
				.configurationParameters(parameters)
				.build(), summary);
		return summary.getSummary();
	}

}
