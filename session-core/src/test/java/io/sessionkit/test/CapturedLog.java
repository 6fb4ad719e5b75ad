package io.sessionkit.test;

import java.util.List;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * What a class logs during each test. All tests of the JVM log to the same place, so the
 * test class is isolated if others may have the class log too.
 */
public final class CapturedLog implements BeforeEachCallback, AfterEachCallback {

	private final Logger logger;

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private CapturedLog(Logger logger) {
		this.logger = logger;
	}

	public static CapturedLog of(Class<?> logging) {
		return new CapturedLog((Logger) LoggerFactory.getLogger(logging));
	}

	@Override
	public void beforeEach(ExtensionContext test) {
		this.log.start();
		this.logger.addAppender(this.log);
	}

	@Override
	public void afterEach(ExtensionContext test) {
		this.logger.detachAppender(this.log);
		this.log.stop();
	}

	/**
	 * @return the events so far, which may be cleared
	 */
	public List<ILoggingEvent> events() {
		return this.log.list;
	}

}
