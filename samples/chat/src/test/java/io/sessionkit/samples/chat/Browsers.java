package io.sessionkit.samples.chat;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.chrome.ChromeDriver;

/**
 * Lends a browser to each class that asks for one. A class gets it as if it was new, and
 * has it alone; the next class gets the same one, since a start costs as much as many
 * tests.
 */
class Browsers implements ParameterResolver {

	private static final Namespace NAMESPACE = Namespace.create(Browsers.class);

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == ChromeDriver.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		Idle idle = context.getRoot().getStore(NAMESPACE).computeIfAbsent(Idle.class, (key) -> new Idle(), Idle.class);
		Loan loan = new Loan(idle.lend(), idle);
		context.getStore(NAMESPACE).put(parameter.getIndex(), loan);
		return loan.browser();
	}

	/** Ends with its class. */
	private record Loan(ChromeDriver browser, Idle idle) implements AutoCloseable {

		@Override
		public void close() {
			this.idle.giveBack(this.browser);
		}

	}

	/** Browsers that no class has now. They end with the tests. */
	private static final class Idle implements AutoCloseable {

		private final Queue<ChromeDriver> browsers = new ConcurrentLinkedQueue<>();

		private ChromeDriver lend() {
			ChromeDriver browser = this.browsers.poll();
			return (browser != null) ? browser : Chromium.start();
		}

		private void giveBack(ChromeDriver browser) {
			try {
				Chromium.forget(browser);
				this.browsers.add(browser);
			}
			catch (WebDriverException ex) {
				browser.quit();
			}
		}

		@Override
		public void close() {
			List.copyOf(this.browsers).forEach(ChromeDriver::quit);
		}

	}

}
