package io.sessionkit.faults;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.CuttingProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections break at random bytes, of questions and of answers, while eight callers
 * talk.
 */
@Timeout(3600)
abstract class CutConnections {

	/** A turn takes some kilobytes, so that most connections see a few of them. */
	private static final int MOST_BYTES = 40_000;

	private final List<CuttingProxy> proxies = new ArrayList<>();

	private final Random random = new Random();

	/**
	 * The store behind proxies.
	 */
	abstract SessionStore cut(Ways ways) throws IOException;

	/**
	 * The same without a proxy.
	 */
	abstract SessionStore clean(Ways ways);

	/** Returns the number of actions that each caller takes in the build. */
	int actions() {
		return 40;
	}

	final CuttingProxy proxy(Ways ways, String host, int port) throws IOException {
		CuttingProxy proxy = ways.closing(new CuttingProxy(host, port, this.random.nextLong(), MOST_BYTES));
		this.proxies.add(proxy);
		return proxy;
	}

	@Test
	void nothingIsLostOrDoubledWhereConnectionsBreak() throws Exception {
		long seed = Workload.seed(getClass().getSimpleName());
		this.random.setSeed(seed);
		Workload workload = new Workload(seed, Workload.actions(actions()));
		try (Ways ways = new Ways()) {
			SessionStore clean = clean(ways);
			workload.run(cut(ways), Workload.Fault.NONE);
			this.proxies.forEach(CuttingProxy::stopCutting);
			long cuts = this.proxies.stream().mapToLong(CuttingProxy::cuts).sum();
			System.out.println(cuts + " connections were cut");
			workload.audit(clean);
			assertThat(cuts).isPositive();
		}
	}

}
