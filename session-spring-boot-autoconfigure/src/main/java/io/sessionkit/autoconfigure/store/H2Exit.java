package io.sessionkit.autoconfigure.store;

import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;

/**
 * Knows by its URL whether H2 closes a file as soon as this process is told to end. H2
 * tells this in no table, and its connections have the URL without the settings, so the
 * URL is that of the pool.
 */
final class H2Exit {

	private static final Pattern IN_FILE = Pattern.compile("jdbc:h2:(?!(mem|tcp|ssl):).*");

	/** With all forms in which H2 takes the value. */
	private static final Pattern STAYS_OPEN = Pattern.compile(".*;db_close_on_exit=(false|f|no|n|0)(;.*)?");

	/** H2 refuses such a URL with a setting that lets the file stay open. */
	private static final Pattern SHARED = Pattern.compile(".*;auto_server=(true|t|yes|y|1)(;.*)?");

	private H2Exit() {
	}

	/**
	 * Returns whether the DataSource is a file that H2 closes so; false if it has no URL
	 * to be read.
	 */
	static boolean closesFile(DataSource dataSource) {
		String url = url(dataSource).toLowerCase(Locale.ROOT);
		return IN_FILE.matcher(url).matches() && !STAYS_OPEN.matcher(url).matches();
	}

	/** Returns whether several processes share the file. */
	static boolean isShared(DataSource dataSource) {
		return SHARED.matcher(url(dataSource).toLowerCase(Locale.ROOT)).matches();
	}

	private static String url(DataSource dataSource) {
		BeanWrapper pool = PropertyAccessorFactory.forBeanPropertyAccess(JdbcStoreCheck.target(dataSource));
		// HikariCP and Vibur have the first name, the others and drivers the second
		return Stream.of("jdbcUrl", "url")
			.filter(pool::isReadableProperty)
			.map((name) -> text(pool.getPropertyValue(name)))
			.findFirst()
			.orElse("");
	}

	private static String text(@Nullable Object value) {
		return (value != null) ? value.toString() : "";
	}

}
