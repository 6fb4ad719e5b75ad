package io.sessionkit.samples.chat;

import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

class VisitorTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	@Test
	void whereThereAreNoUsersWhoeverItIsDecides() {
		assertThat(Visitor.of(this.request)).isEqualTo(new Visitor(null, true));
	}

	/** A resource server with bearer tokens has no token against forged requests. */
	@Test
	void userWithoutTheRoleDecidesForNobodyElseAlsoWithoutACsrfToken() {
		this.request.setRemoteUser("bob");
		assertThat(Visitor.of(this.request).decidesFor()).containsExactly("bob");
		this.request.addUserRole(Users.APPROVER);
		assertThat(Visitor.of(this.request).decidesFor()).containsExactlyElementsOf(Users.NAMES);
	}

}
