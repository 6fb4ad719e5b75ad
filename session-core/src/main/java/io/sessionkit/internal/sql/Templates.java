package io.sessionkit.internal.sql;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.internal.row.HeaderRow;

/**
 * Creates statements from templates: fills in the table names, the expressions of the
 * dialect, and the phrases that many statements share.
 * <p>
 * Placeholders: <code>{session}</code>, <code>{turn}</code>, <code>{item}</code>,
 * <code>{record}</code>, <code>{schema}</code> for tables; <code>{now}</code>,
 * <code>{statementTime}</code>, <code>{noText}</code>; <code>{exact x}</code> and
 * <code>{bare x}</code> around texts whose trailing spaces count in comparisons;
 * <code>{live}</code> for a session <code>s</code> that has not expired;
 * <code>{pk}</code> for the session that is found by <code>:key</code>, if it has not
 * expired; <code>{header}</code> for the columns of {@link HeaderRow},
 * <code>{turnItems}</code> for those of {@link TurnItems}; <code>{kind}</code> for what
 * {@link OpenedCollector} is to take the header of a session <code>s</code> for, compared
 * with the view that is known, and <code>{known}</code> for the newest turn of that view
 * (both take <code>:stamp</code>, <code>:summaryRevision</code>,
 * <code>:summaryAt</code>); <code>{lock}</code>, <code>{new}</code>, <code>{limit}</code>
 * (takes <code>:limit</code>) and <code>{page}</code> (takes <code>:offset</code> too).
 *
 * @param dialect the database
 * @param prefix the start of the table names
 */
public record Templates(Dialect dialect, String prefix) {

	public static final String DEFAULT_PREFIX = "SESSIONKIT_";

	public static final String PREFIX_PATTERN = "([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*";

	private static final Pattern PREFIX = Pattern.compile(PREFIX_PATTERN);

	private static final Pattern EXACT = Pattern.compile("\\{exact ([^}]+)}");

	private static final Pattern BARE = Pattern.compile("\\{bare ([^}]+)}");

	/** A summary is a record, which can be written without the header. */
	private static final String OTHER_SUMMARY = """
			s.summary_id is not null and not exists (select 1 from {record} k
				where k.session_pk = s.pk and k.kind = 'summary' and k.id = {exact s.summary_id}
					and k.revision = :summaryRevision and k.written_at = :summaryAt
					and (k.expires_at is null or k.expires_at > {now}))""";

	/**
	 * A known view is of a session that still has its stamp. If the last write only
	 * appended a turn, <code>stamp_1</code> to <code>stamp_3</code> are the stamps before
	 * it, as far as the writes after each of them only appended a turn too.
	 */
	private static final String COMPARED = """
			case when {other} then {nothing} when s.stamp = :stamp then {all} when s.appended <> s.stamp then {nothing}
				when s.stamp_1 = :stamp then {but1} when s.stamp_2 = :stamp then {but2} when s.stamp_3 = :stamp then {but3}
				else {nothing} end"""
		.replace("{other}", OTHER_SUMMARY);

	private static final String KIND = compared("0", "3", "4", "5", "6");

	private static final String KNOWN = compared("0", "s.head", "s.head - 1", "s.head - 2", "s.head - 3");

	/**
	 * A select of its own, since PostgreSQL may read all rows of the other table where it
	 * has no statistics of the two for a join.
	 */
	private static final String PK = "(select s.pk from {session} s where s.key_hash = :key and {live})";

	public static String checkedPrefix(String prefix) {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException("The table prefix '" + prefix
					+ "' may have letters, digits and underscores only, after an optional schema and a dot, as in 'app."
					+ DEFAULT_PREFIX + "'.");
		}
		return prefix;
	}

	private static String compared(String nothing, String all, String but1, String but2, String but3) {
		return COMPARED.replace("{nothing}", nothing)
			.replace("{all}", all)
			.replace("{but1}", but1)
			.replace("{but2}", but2)
			.replace("{but3}", but3);
	}

	public Sql sql(String template) {
		String whole = template.replace("{kind}", KIND).replace("{known}", KNOWN).replace("{pk}", PK);
		String exact = EXACT.matcher(whole)
			.replaceAll((found) -> Matcher.quoteReplacement(this.dialect.exact(found.group(1))));
		String text = BARE.matcher(exact)
			.replaceAll((found) -> Matcher.quoteReplacement(this.dialect.bare(found.group(1))));
		return new Sql(text.replace("{live}", "(s.expires_at is null or s.expires_at > {now})")
			.replace("{header}", Columns.HEADER)
			.replace("{headerNumbers}", Columns.HEADER_NUMBERS)
			.replace("{headerTexts}", Columns.HEADER_TEXTS)
			.replace("{turnItems}", Columns.TURN_ITEMS)
			.replace("{session}", this.prefix + "SESSION")
			.replace("{turn}", this.prefix + "TURN")
			.replace("{item}", this.prefix + "ITEM")
			.replace("{record}", this.prefix + "RECORD")
			.replace("{schema}", this.prefix + "SCHEMA")
			.replace("{lock}", this.dialect.lock())
			.replace("{new}", this.dialect.ignoringDuplicates())
			.replace("{limit}", this.dialect.limit(":limit"))
			.replace("{page}", this.dialect.page(":limit", ":offset"))
			.replace("{noText}", this.dialect.noText())
			.replace("{statementTime}", this.dialect.statementTime())
			.replace("{now}", this.dialect.now()), this.dialect);
	}

}
