package io.sessionkit.internal.ledger;

import java.util.function.BiFunction;

import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.Interrupts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Texts that are always available: if those of the application fail, the default is used.
 */
public final class SafeTexts {

	private static final Log logger = LogFactory.getLog(SafeTexts.class);

	private static final ApprovalTexts DEFAULTS = new ApprovalTexts() {
	};

	private final ApprovalTexts texts;

	public SafeTexts(ApprovalTexts texts) {
		this.texts = texts;
	}

	/** Returns whether these are the texts of the application. */
	public boolean are(Object texts) {
		return this.texts.equals(texts);
	}

	/**
	 * Returns the text for the model about a call that does not run, or that may have
	 * run.
	 */
	public String notRun(ToolApproval approval) {
		String why = whyNot(approval);
		// it may have run, and then with the arguments that were approved
		return (approval.claimedAt() != null) ? result(approval, why) : why;
	}

	private String whyNot(ToolApproval approval) {
		if (approval.status() == ApprovalStatus.REJECTED || approval.status() == ApprovalStatus.DENIED) {
			ToolApproval.Decided decision = approval.decision();
			if (decision != null && decision.reason() != null) {
				return decision.reason();
			}
		}
		// whatever was decided since its claim
		return text(approval, (approval.claimedAt() != null) ? ApprovalTexts::uncertain : ofStatus(approval.status()));
	}

	private static BiFunction<ApprovalTexts, ToolApproval, String> ofStatus(ApprovalStatus status) {
		return switch (status) {
			case REJECTED -> ApprovalTexts::rejected;
			case DENIED -> ApprovalTexts::denied;
			case EXPIRED -> ApprovalTexts::expired;
			case CLAIMED, UNCERTAIN -> ApprovalTexts::uncertain;
			default -> ApprovalTexts::cancelled;
		};
	}

	/**
	 * Returns the text for the model about a call that ran.
	 */
	public String result(ToolApproval approval, String result) {
		return approval.isEdited() ? text(approval, (texts, call) -> texts.edited(call, result)) : result;
	}

	private String text(ToolApproval approval, BiFunction<ApprovalTexts, ToolApproval, String> text) {
		try {
			String own = text.apply(this.texts, approval);
			if (own != null) {
				return own;
			}
		}
		catch (Exception ex) {
			Interrupts.keep(ex);
			logger.warn("The text for a call of tool '" + approval.tool() + "' in session " + approval.key()
					+ " could not be made, the default is used: " + ex.getClass().getName());
		}
		return text.apply(DEFAULTS, approval);
	}

}
