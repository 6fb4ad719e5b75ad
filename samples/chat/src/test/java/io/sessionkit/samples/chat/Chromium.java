package io.sessionkit.samples.chat;

import java.io.File;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import java.util.stream.Stream;

import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * The Chromium of the distribution, without a window. Both paths are given, so nothing is
 * looked for or downloaded.
 */
final class Chromium {

	private static final File BROWSER = new File("/usr/bin/chromium");

	private static final File DRIVER = new File("/usr/bin/chromedriver");

	/** Without this it takes the machine for one that has no mouse. */
	private static final String MOUSE = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,"
			+ "primaryPointerType=4,availablePointerTypes=4";

	/** So that there are names of other sites. */
	private static final String FOREIGN = "--host-resolver-rules=MAP *.example 127.0.0.1";

	private Chromium() {
	}

	/**
	 * Returns a file that is required and missing; empty if the browser can be started.
	 */
	static Optional<File> missing() {
		return Stream.of(BROWSER, DRIVER).filter((file) -> !file.canExecute()).findFirst();
	}

	/**
	 * Starts a browser whose profile the driver makes and deletes.
	 */
	static ChromeDriver start() {
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(DRIVER)
			.usingAnyFreePort()
			.build();
		return new ChromeDriver(service, options());
	}

	/**
	 * Leaves a browser as it was at its start, with one window that is new: what was set
	 * for the others ends with them.
	 */
	static void forget(ChromeDriver browser) {
		browser.executeCdpCommand("Storage.clearDataForOrigin",
				Map.of("origin", origin(browser), "storageTypes", "all"));
		browser.executeCdpCommand("Network.clearBrowserCookies", Map.of());
		browser.executeCdpCommand("Browser.resetPermissions", Map.of());
		Set<String> used = browser.getWindowHandles();
		browser.switchTo().newWindow(WindowType.WINDOW);
		String fresh = browser.getWindowHandle();
		used.forEach((each) -> browser.switchTo().window(each).close());
		browser.switchTo().window(fresh);
		browser.manage().logs().get(LogType.BROWSER);
	}

	private static String origin(ChromeDriver browser) {
		return (String) browser.executeScript("return origin");
	}

	/**
	 * Has pages wait a quarter as long where they wait for seconds, so that they look for
	 * the changes of others more often. What a person has seconds to take back can be had
	 * back for longer: the machine may be busy.
	 */
	static void hurry(ChromeDriver driver) {
		driver.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source",
				"""
						const wait = window.setTimeout;
						window.setTimeout = (work, delay, ...more) => wait(work, delay < 1000 ? delay : delay === 6000 ? 2 * delay : delay / 4, ...more);"""));
	}

	private static ChromeOptions options() {
		ChromeOptions options = new ChromeOptions();
		options.setBinary(BROWSER);
		options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--force-prefers-reduced-motion", "--disable-background-networking", "--disable-component-update",
				"--disable-sync", MOUSE, FOREIGN);
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.SEVERE);
		options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
		return options;
	}

	/**
	 * A size of the page itself. A window of the browser has a smallest width that is
	 * wider than a phone.
	 */
	static void resize(ChromeDriver driver, int width, int height, boolean phone) {
		driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", phone));
		driver.executeCdpCommand("Emulation.setTouchEmulationEnabled", Map.of("enabled", phone));
	}

}
