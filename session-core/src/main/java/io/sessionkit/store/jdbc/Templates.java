package io.sessionkit.store.jdbc;

import java.util.regex.Pattern;

import io.sessionkit.store.row.HeaderRow;

/**
 * Makes statements out of templates: puts in the table names, what the dialect says, and
 * the phrases that many statements share.
 * <p>
 * Placeholders: <code>{session}</code>, <code>{turn}</code>, <code>{item}</code>,
 * <code>{record}</code>, <code>{schema}</code> for tables; <code>{now}</code>;
 * <code>{live}</code> for a session <code>s</code> that has not expired;
 * <code>{header}</code> for the columns of {@link HeaderRow}; <code>{lock}</code>,
 * <code>{new}</code>, <code>{limit}</code> (takes <code>:limit</code>) and
 * <code>{page}</code> (and <code>:offset</code>).
 *
 * @param dialect the database
 * @param prefix what the table names start with
 */
record Templates(Dialect dialect, String prefix) {

	static final String DEFAULT_PREFIX = "SESSIONKIT_";

	private static final Pattern PREFIX = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	static String checkedPrefix(String prefix) {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException("The table prefix '" + prefix
					+ "' may have letters, digits and underscores only, after an optional schema and a dot, as in 'app."
					+ DEFAULT_PREFIX + "'.");
		}
		return prefix;
	}

	Sql sql(String template) {
		return new Sql(template.replace("{live}", "(s.expires_at is null or s.expires_at > {now})")
			.replace("{header}", Columns.HEADER)
			.replace("{session}", this.prefix + "SESSION")
			.replace("{turn}", this.prefix + "TURN")
			.replace("{item}", this.prefix + "ITEM")
			.replace("{record}", this.prefix + "RECORD")
			.replace("{schema}", this.prefix + "SCHEMA")
			.replace("{lock}", this.dialect.lock())
			.replace("{new}", this.dialect.ignoringDuplicates())
			.replace("{limit}", this.dialect.limit(":limit"))
			.replace("{page}", this.dialect.page(":limit", ":offset"))
			.replace("{now}", this.dialect.now()));
	}

}
