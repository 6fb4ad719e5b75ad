package io.sessionkit.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Knows which databases an interrupt would close. H2 writes its file through a channel,
 * which an interrupt of the writing thread closes, and the database with it, for
 * everybody.
 */
public final class H2Files {

	/**
	 * In no file of this process, or in one that is not written through such a channel.
	 */
	private static final Pattern SAFE = Pattern.compile("jdbc:h2:(mem|tcp|ssl|async|retry):.*");

	private H2Files() {
	}

	/**
	 * Returns whether an interrupt would close the database at the other end.
	 */
	public static boolean closeOnInterrupt(Connection connection) throws SQLException {
		String url = connection.getMetaData().getURL();
		String lower = (url != null) ? url.toLowerCase(Locale.ROOT) : "";
		return lower.startsWith("jdbc:h2:") && !SAFE.matcher(lower).matches();
	}

}
