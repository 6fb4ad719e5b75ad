package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.CutOperation.Subject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Answers of Redis that break off. Each operation is run again and again, each time with
 * the connection cut some bytes later, from before the first byte of its first answer
 * until behind the last one of its last; with both drivers, on a server alone and on a
 * Cluster. Whatever the driver does about it, the caller gets what it gets from a
 * connection that holds, and the store has what it has then.
 * <p>
 * The connection is cut around the end of each answer, and in between at every 17th byte,
 * beginning with another one in each run; {@code -Dsessionkit.cuts=1} cuts at every byte.
 */
@Order(1)
class RedisCutAnswersTests {

	/** Counts may have a digit more or less. */
	private static final int SLACK = 24;

	/** From one cut to the next one within an answer. */
	private static final int NODES = 3;

	private static final int STRIDE = Integer.getInteger("sessionkit.cuts", 17);

	private static final Map<CutClient.Kind, CutClient> clients = new EnumMap<>(CutClient.Kind.class);

	private final String run = UUID.randomUUID().toString();

	private int subjects;

	static Stream<Arguments> operations() {
		return Stream.of(CutClient.Kind.values())
			.flatMap((kind) -> Stream.of(CutOperation.values()).map((operation) -> Arguments.of(kind, operation)));
	}

	@AfterAll
	static void stop() throws Exception {
		for (CutClient client : clients.values()) {
			client.close();
		}
		clients.clear();
	}

	@ParameterizedTest
	@MethodSource("operations")
	void aCutAfterAnyByteChangesNeitherResultNorStore(CutClient.Kind kind, CutOperation operation) {
		CutClient client = clients.computeIfAbsent(kind, CutClient::of);
		Subject shared = subject(client, operation);
		Outcome expected = run(client, operation, shared, Long.MAX_VALUE);
		SortedSet<Long> ends = client.cut().ends();
		// a server that does not know a script yet says so first, each node for itself
		for (int i = 0; i < NODES; i++) {
			Subject another = operation.writes() ? subject(client, operation) : shared;
			Outcome again = run(client, operation, another, Long.MAX_VALUE);
			if (again.bytes() < expected.bytes()) {
				expected = again;
				ends = client.cut().ends();
			}
		}
		long bytes = expected.bytes();
		List<String> faults = new ArrayList<>();
		for (long after : cuts(bytes, ends)) {
			Subject subject = operation.writes() ? subject(client, operation) : shared;
			Outcome outcome = run(client, operation, subject, after);
			if (!outcome.equals(expected) || outcome.unused() && after < bytes - SLACK) {
				faults.add("after " + after + " of " + bytes + " bytes: " + outcome.unlike(expected));
			}
		}
		assertThat(faults).as("%s, expected %s", operation, expected.result()).isEmpty();
	}

	private static SortedSet<Long> cuts(long bytes, SortedSet<Long> ends) {
		SortedSet<Long> cuts = new TreeSet<>();
		for (long after = ThreadLocalRandom.current().nextInt(STRIDE); after <= bytes; after += STRIDE) {
			cuts.add(after);
		}
		Stream.concat(Stream.of(0L, bytes), ends.stream())
			.flatMap((end) -> Stream.of(end - 1, end, end + 1))
			.filter((after) -> after >= 0 && after <= bytes)
			.forEach(cuts::add);
		return cuts;
	}

	/**
	 * Neither the driver nor the store gets a whole answer for a while. Then nobody
	 * knows, and says so; but nothing is half done, and nothing twice.
	 */
	@ParameterizedTest
	@MethodSource("operations")
	void whatIsCutAgainAndAgainIsDoneOnceOrNotAtAll(CutClient.Kind kind, CutOperation operation) {
		CutClient client = clients.computeIfAbsent(kind, CutClient::of);
		Subject subject = subject(client, operation);
		List<String> before = operation.writes() ? operation.attributes(client.uncut(), subject.key()) : List.of();
		Outcome expected = run(client, operation, subject, Long.MAX_VALUE);
		// Jedis waits longer and longer before it asks a Cluster again
		int most = (kind == CutClient.Kind.JEDIS_CLUSTER) ? 2 : 4;
		for (int cuts = 2; cuts <= most; cuts += 2) {
			for (long after = expected.bytes() - 1; after >= 0; after -= (most == 2) ? 1000 : 5 + 5 * STRIDE) {
				subject = operation.writes() ? subject(client, operation) : subject;
				Outcome outcome = run(client, operation, subject, after, cuts);
				if (outcome.result() instanceof StoreUnavailableException ex) {
					boolean unknown = ex.getMessage().contains("unknown");
					assertThat(outcome.attributes()).isIn(before, unknown ? expected.attributes() : before);
				}
				else {
					assertThat(outcome.result()).isEqualTo(expected.result());
					assertThat(outcome.attributes()).isEqualTo(expected.attributes());
				}
			}
		}
	}

	private Subject subject(CutClient client, CutOperation operation) {
		String owner = "%s-%06d".formatted(this.run, ++this.subjects);
		return operation.prepare(client.uncut(), SessionKey.of(owner, "t"));
	}

	/** An operation, a following one, and what the store has then. */
	private static Outcome run(CutClient client, CutOperation operation, Subject subject, long after) {
		return run(client, operation, subject, after, 1);
	}

	private static Outcome run(CutClient client, CutOperation operation, Subject subject, long after, int cuts) {
		client.store().find(subject.key());
		client.cut().after(after, cuts);
		Object result = result(() -> withoutVersion(operation.run(client.store(), subject)));
		long bytes = client.cut().passed();
		boolean unused = client.cut().off() > 0;
		Object next = result(() -> client.store().find(subject.key()).map((header) -> header.turns()));
		return new Outcome(result, next,
				operation.writes() ? operation.attributes(client.uncut(), subject.key()) : List.of(), unused, bytes);
	}

	/** The version of each session rises by random numbers. */
	private static Object withoutVersion(Object result) {
		return (result instanceof CommitResult commit)
				? new CommitResult(commit.outcome(), 0, commit.turn(), commit.firstItem()) : result;
	}

	private static Object result(Supplier<Object> work) {
		try {
			return work.get();
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private record Outcome(Object result, Object next, List<String> attributes, boolean unused, long bytes) {

		@Override
		public boolean equals(Object other) {
			return other instanceof Outcome that && this.result.equals(that.result) && this.next.equals(that.next)
					&& this.attributes.equals(that.attributes);
		}

		@Override
		public int hashCode() {
			return Objects.hash(this.result, this.next, this.attributes);
		}

		String unlike(Outcome expected) {
			return (this.result.equals(expected.result()) ? "" : "result " + this.result + " ")
					+ (this.next.equals(expected.next()) ? "" : "then " + this.next + " ")
					+ (this.attributes.equals(expected.attributes()) ? "" : "state " + this.attributes)
					+ (this.unused ? " not cut" : "");
		}

	}

}
