package io.sessionkit.samples.chat;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Answers to the page of this application and to programs, but not to the pages of other
 * sites that are open in the same browser. Such a page could approve tool calls: with a
 * form, with a frame under its own buttons, or with a host name of its own that suddenly
 * leads to this machine, so that the browser takes both for one site. This is no login:
 * see "Before production" in the README.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 1) // after Spring's ForwardedHeaderFilter
final class SameOriginFilter extends OncePerRequestFilter {

	private static final String CONTENT_POLICY = """
			default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
			base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
			require-trusted-types-for 'script'; trusted-types 'none'""";

	private static final Map<String, String> HEADERS = Map.of("Content-Security-Policy", CONTENT_POLICY,
			"X-Frame-Options", "DENY", "X-Content-Type-Options", "nosniff", "Cross-Origin-Resource-Policy",
			"same-origin");

	private final List<String> hosts;

	private final JsonMapper json;

	/**
	 * @param hosts the names of this application, without scheme and port
	 */
	SameOriginFilter(@Value("${chat.hosts}") List<String> hosts, JsonMapper json) {
		this.hosts = hosts.stream().map((host) -> host.toLowerCase(Locale.ROOT)).toList();
		this.json = json;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		HEADERS.forEach(response::setHeader);
		ProblemDetail refusal = refusal(request);
		if (refusal == null) {
			chain.doFilter(request, response);
			return;
		}
		response.setStatus(refusal.getStatus());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		this.json.writeValue(response.getOutputStream(), refusal);
	}

	private @Nullable ProblemDetail refusal(HttpServletRequest request) {
		String host = request.getHeader(HttpHeaders.HOST);
		String self = request.getScheme() + "://" + host;
		if (!isOwn(host)) {
			return ProblemDetail.forStatusAndDetail(HttpStatus.FORBIDDEN,
					"This application does not answer to the host '" + host
							+ "'. If it is a name of this application, add it to 'chat.hosts', which is " + this.hosts
							+ ".");
		}
		if (isForeign(request, self) && !opensThePage(request)) {
			return ProblemDetail.forStatusAndDetail(HttpStatus.FORBIDDEN, "Only pages of " + self + " may ask for this."
					+ " If this is one, and a proxy is in between, set 'server.forward-headers-strategy'.");
		}
		if (request.getMethod().equals("POST") && !isJson(request.getContentType())) {
			return ProblemDetail.forStatusAndDetail(HttpStatus.UNSUPPORTED_MEDIA_TYPE,
					"A POST needs the header 'Content-Type: application/json', also without a body: no form can send it.");
		}
		return null;
	}

	/**
	 * Checks the header itself, since the server name of the request may come from a
	 * proxy.
	 */
	private boolean isOwn(@Nullable String host) {
		return host != null && this.hosts.contains(host.toLowerCase(Locale.ROOT).replaceFirst(":\\d+$", ""));
	}

	/**
	 * Looks at two headers. A browser sends one of them with every write that a page can
	 * make it send; a program sends neither.
	 */
	private static boolean isForeign(HttpServletRequest request, String self) {
		String origin = request.getHeader(HttpHeaders.ORIGIN);
		String site = request.getHeader("Sec-Fetch-Site");
		return (origin != null && !origin.equalsIgnoreCase(self))
				|| (site != null && !site.equals("same-origin") && !site.equals("none"));
	}

	/** Allows a link from another site to the page. */
	private static boolean opensThePage(HttpServletRequest request) {
		return request.getMethod().equals("GET") && "navigate".equals(request.getHeader("Sec-Fetch-Mode"))
				&& "document".equals(request.getHeader("Sec-Fetch-Dest"));
	}

	private static boolean isJson(@Nullable String contentType) {
		return contentType != null
				&& contentType.split(";", 2)[0].strip().equalsIgnoreCase(MediaType.APPLICATION_JSON_VALUE);
	}

}
