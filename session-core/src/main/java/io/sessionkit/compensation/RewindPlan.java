package io.sessionkit.compensation;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.Sha256;

/**
 * A list of all that a rewind would do. It is made from the history; making it changes
 * and runs nothing. A rewind does what its plan says or refuses.
 *
 * @param place where the session stands
 * @param turns the turns that leave the history, newest first
 * @param irreversible the effects that stay, newest first
 * @param compensations the calls that take effects back, in the order in which they run:
 * the newest effect first
 * @param accepted whether the rewind may leave the {@link #irreversible} effects as they
 * are
 */
public record RewindPlan(Place place, List<Turn> turns, List<Irreversible> irreversible,
		List<Compensation> compensations, boolean accepted) {

	public RewindPlan {
		turns = List.copyOf(turns);
		irreversible = List.copyOf(irreversible);
		compensations = List.copyOf(compensations);
	}

	/**
	 * The place at which a session stands.
	 *
	 * @param key the session
	 * @param incarnation the id that distinguishes it from others under this key
	 * @param branch the active branch
	 * @param head the number of the newest turn; 0 if there is none
	 */
	public record Place(SessionKey key, String incarnation, String branch, long head) {
	}

	/**
	 * Returns the session.
	 * @return its key
	 */
	public SessionKey key() {
		return this.place.key();
	}

	/**
	 * Returns this plan for a rewind that leaves the {@link #irreversible} effects as
	 * they are. Without it a rewind of turns with such effects does nothing.
	 * @return a copy that accepts them
	 */
	public RewindPlan acceptingIrreversible() {
		return new RewindPlan(this.place, this.turns, this.irreversible, this.compensations, true);
	}

	/**
	 * Returns a digest of what would be done: the place, the turns, the effects that
	 * stay, and the tools of the compensating calls with the arguments with which they
	 * run. A page that shows a plan can keep the digest, and compare it with that of a
	 * plan that is made when the person confirms.
	 * @return 64 hexadecimal digits, which do not depend on how far the rewind has come;
	 * a call that is denied, rejected or approved with other arguments meanwhile changes
	 * them
	 */
	public String digest() {
		Sha256 digest = new Sha256().add(this.place.incarnation()).add(0).add(this.place.branch()).add(0);
		digest.add(this.place.head() + " " + this.turns.size());
		this.turns.forEach((each) -> digest.add(0).add(each.id()));
		digest.add(1);
		this.irreversible.forEach((each) -> digest.add(0).add(each.effect().id()));
		digest.add(1);
		this.compensations.forEach((each) -> digest.add(0).add(each.call().id() + each.call().effectiveDigest()));
		return digest.hex();
	}

	/**
	 * Returns the plan without the calls, which may be secret.
	 * @return session and numbers
	 */
	@Override
	public String toString() {
		return "RewindPlan[session " + key() + ", " + this.turns.size() + " turns, " + this.compensations.size()
				+ " compensations, " + this.irreversible.size() + " irreversible]";
	}

}
