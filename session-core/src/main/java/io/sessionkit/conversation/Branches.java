package io.sessionkit.conversation;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.conversation.TreeChanges.Plan;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.tree.BranchRecord;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.MessageType;

/**
 * Makes, lists and deletes the branches of a session, and changes the active one. Nothing
 * is copied: a branch is a record with the number of a turn.
 */
final class Branches {

	private final TreeChanges changes;

	Branches(TreeChanges changes) {
		this.changes = changes;
	}

	Branch make(String name) {
		checkName(name);
		PathQuery query = PathQuery.to(Point.HEAD).records(BranchRecord.KIND);
		return this.changes.make("branched", query, this::notFound, (path) -> made(path, name, path.session().head()));
	}

	Branch make(@Nullable String name, long fromTurn) {
		if (name != null) {
			checkName(name);
		}
		PathQuery query = PathQuery.to(Point.HEAD).turns(new Tail(fromTurn + 1, 1)).records(BranchRecord.KIND);
		return this.changes.make("branched", query, this::notFound, (path) -> {
			Turn turn = TreeChanges.onPath(path, fromTurn);
			return made(path, (name != null) ? name : freeName(path, fromTurn), turn.parent());
		});
	}

	/** Makes a branch that begins with the first question that contains a text. */
	Branch makeFromContent(String name, String text) {
		if (text.isBlank()) {
			throw new IllegalArgumentException("A text to branch at must not be blank.");
		}
		long turn = firstQuestionWith(text);
		return make(name, turn);
	}

	private long firstQuestionWith(String text) {
		String wanted = folded(text);
		return this.changes.store()
			.items(this.changes.key(), Tail.ALL)
			.stream()
			.filter((item) -> item.role() == MessageType.USER && contains(item, wanted))
			.findFirst()
			.map(SessionItem::turn)
			.orElseThrow(() -> new ChangeRefusedException(
					"No question on the active branch of session " + this.changes.key() + " contains the text.",
					Reason.UNKNOWN_TURN));
	}

	private static boolean contains(SessionItem item, String wanted) {
		String text = item.message().getText();
		return text != null && folded(text).contains(wanted);
	}

	private static String folded(String text) {
		// at the end of a word a sigma becomes another letter
		return Normalizer.normalize(text, Normalizer.Form.NFKC)
			.toUpperCase(Locale.ROOT)
			.toLowerCase(Locale.ROOT)
			.replace('\u03c2', '\u03c3');
	}

	private Plan<Branch> made(PathView path, String name, long head) {
		Session session = path.session();
		Map<String, BranchRecord> there = read(path);
		if (name.equals(Session.MAIN) || name.equals(session.branch()) || there.containsKey(name)) {
			throw new ChangeRefusedException(
					"Session " + session.key() + " has a branch '" + name + "' already. Choose another name.",
					Reason.BRANCH_EXISTS);
		}
		BranchRecord branch = new BranchRecord(name, head, head, this.changes.store().options().now(), 0);
		HeaderChange move = HeaderChange.NONE.head(name, head);
		// those from before the first turn are kept by no turn
		HeaderChange change = (head == 0 && session.head() == 0) ? move.attributes(session.attributes()) : move;
		return new Plan<>(change, List.of(branch.write(session.key(), codec()), left(session, there)),
				branch(branch, true));
	}

	/** Returns the write that keeps the head of the branch that is left. */
	private RecordWrite left(Session session, Map<String, BranchRecord> there) {
		return active(session, there).write(session.key(), codec());
	}

	private static BranchRecord active(Session session, Map<String, BranchRecord> there) {
		BranchRecord record = there.get(session.branch());
		return ((record != null) ? record : new BranchRecord(session.branch(), 0, 0, session.createdAt(), 0))
			.head(session.head());
	}

	private String freeName(PathView path, long turn) {
		Map<String, BranchRecord> there = read(path);
		String name = "branch_from_turn_" + turn;
		String free = name;
		for (int i = 2; there.containsKey(free) || free.equals(path.session().branch()); i++) {
			free = name + "_" + i;
		}
		return free;
	}

	Branch switchTo(String name) {
		PathQuery query = PathQuery.to(Point.HEAD).records(BranchRecord.KIND);
		return this.changes.make("switched to another branch", query, this::notFound, (path) -> switched(path, name));
	}

	private Plan<Branch> switched(PathView path, String name) {
		Session session = path.session();
		Map<String, BranchRecord> there = read(path);
		if (name.equals(session.branch())) {
			return Plan.nothing(branch(active(session, there), true));
		}
		BranchRecord to = known(path, there, name);
		return Plan.move(name, to.head(), branch(to, true), left(session, there));
	}

	private static BranchRecord known(PathView path, Map<String, BranchRecord> there, String name) {
		BranchRecord branch = there.get(name);
		if (branch == null) {
			Set<String> names = new HashSet<>(there.keySet());
			names.add(path.session().branch());
			throw new ChangeRefusedException("Session " + path.session().key() + " has no branch " + Names.quoted(name)
					+ ". It has " + names.stream().sorted().toList() + ".", Reason.UNKNOWN_BRANCH);
		}
		return branch;
	}

	List<Branch> list() {
		PathQuery query = PathQuery.to(Point.HEAD).records(BranchRecord.KIND);
		PathView path = this.changes.store().path(this.changes.key(), query).orElse(null);
		if (path == null) {
			return List.of();
		}
		Map<String, BranchRecord> there = read(path);
		there.put(path.session().branch(), active(path.session(), there));
		return there.values()
			.stream()
			.sorted(Comparator.comparing(BranchRecord::createdAt)
				.thenComparing((branch) -> !branch.name().equals(Session.MAIN))
				.thenComparing(BranchRecord::name))
			.map((branch) -> branch(branch, branch.name().equals(path.session().branch())))
			.toList();
	}

	private static Branch branch(BranchRecord branch, boolean active) {
		return new Branch(branch.name(), branch.head(), branch.createdAt(), active);
	}

	/** Reads all turns of the session, without their messages. */
	Map<String, Branch.Size> sizes() {
		Map<String, Branch.Size> sizes = new LinkedHashMap<>();
		List<Branch> branches = list();
		Map<Long, Turn> turns = new HashMap<>();
		if (!branches.isEmpty()) {
			this.changes.store().turns(this.changes.key(), Tail.ALL).forEach((turn) -> turns.put(turn.number(), turn));
		}
		branches.forEach((branch) -> sizes.put(branch.name(), size(branch.head(), turns)));
		return Collections.unmodifiableMap(sizes);
	}

	private static Branch.Size size(long head, Map<Long, Turn> all) {
		long turns = 0;
		long items = 0;
		for (Turn turn = all.get(head); turn != null; turn = all.get(turn.parent())) {
			turns += (turn.items() > 0) ? 1 : 0;
			items += turn.items();
		}
		return new Branch.Size(turns, items);
	}

	/**
	 * Deletes a branch, and the items of its turns that lead to no other end.
	 */
	int delete(String name, boolean force) {
		if (name.isBlank() || name.equals(Session.MAIN)) {
			throw new IllegalArgumentException("The branch " + Names.quoted(name)
					+ " cannot be deleted. Name another one than '" + Session.MAIN + "'.");
		}
		PathView path = branches();
		Session session = path.session();
		if (name.equals(session.branch())) {
			if (!force) {
				throw new ChangeRefusedException(
						"Branch '" + name + "' of session " + this.changes.key()
								+ " is the active one. Switch to another one first, or delete it with force.",
						Reason.BRANCH_ACTIVE);
			}
			deletion().checkBranch(name, ends(path, name));
			switchTo(Session.MAIN);
		}
		else {
			this.changes.isEnded(session, "shortened");
		}
		return deletion().ofBranch(name, () -> without(name));
	}

	private Deletion deletion() {
		return new Deletion(this.changes.key(), this.changes.store());
	}

	private PathView branches() {
		PathQuery query = PathQuery.to(Point.HEAD).records(BranchRecord.KIND, LeftTurns.KIND, KeptTexts.KIND);
		return this.changes.store().path(this.changes.key(), query).orElseGet(this::notFound);
	}

	/** Returns what is left without a branch. */
	private Deletion.Ends without(String name) {
		PathView path = branches();
		Session session = path.session();
		OpenTurn.check(session, "shortened");
		known(path, read(path), name);
		if (name.equals(session.branch())) {
			throw new SessionConflictException("Branch '" + name + "' of session " + session.key()
					+ " became the active one in the meantime. Nothing was deleted.", null);
		}
		return ends(path, name);
	}

	private Deletion.Ends ends(PathView path, String name) {
		Session session = path.session();
		Map<String, BranchRecord> there = read(path);
		there.put(session.branch(), active(session, there));
		Set<Long> shown = path.records(KeptTexts.KIND).stream().map(KeptTexts::turn).collect(Collectors.toSet());
		Deletion.Ends ends = new Deletion.Ends(new HashSet<>(), new HashSet<>(), shown, new ArrayList<>());
		there.values().forEach((branch) -> assign(branch.name().equals(name), branch.head(), branch.delete(), ends));
		LeftTurns.read(path.records(LeftTurns.KIND), codec())
			.forEach((left) -> assign(left.branch().equals(name), left.tip(), left.delete(), ends));
		return ends;
	}

	private static void assign(boolean isGone, long end, RecordWrite deletion, Deletion.Ends ends) {
		(isGone ? ends.gone() : ends.stay()).add(end);
		if (isGone) {
			ends.records().add(deletion);
		}
	}

	private Map<String, BranchRecord> read(PathView path) {
		Map<String, BranchRecord> branches = new TreeMap<>();
		path.records(BranchRecord.KIND).forEach((record) -> {
			BranchRecord branch = BranchRecord.read(record, codec());
			branches.put(branch.name(), branch);
		});
		return branches;
	}

	static void checkName(String name) {
		String flaw = Names.flaw(name);
		if (name.isBlank() || name.length() > RecordWrite.MAX_NAME_LENGTH || flaw != null) {
			throw new IllegalArgumentException("The name of a branch must have 1 to " + RecordWrite.MAX_NAME_LENGTH
					+ " characters, not all blank" + ((flaw != null) ? ", and " + flaw : "") + ".");
		}
	}

	private MessageCodec codec() {
		return this.changes.codec();
	}

	private <T> T notFound() {
		throw this.changes.notFound();
	}

}
