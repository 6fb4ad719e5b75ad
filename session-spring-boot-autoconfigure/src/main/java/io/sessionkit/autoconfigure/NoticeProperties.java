package io.sessionkit.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Notices of tool calls that wait for approval, published as application events of type
 * ApprovalNotice. Each is delivered at least once.
 *
 * @param enabled Whether each pause is stored with a notice, and notices are delivered.
 * @param interval Interval at which this process looks for notices of other processes,
 * and for those whose listener threw an exception. Notices of this process are delivered
 * at once.
 */
public record NoticeProperties(@DefaultValue("false") boolean enabled, @DefaultValue("10s") Duration interval) {

	public NoticeProperties {
		SessionKitProperties.refuseBelowASecond("approval.notices.interval", interval);
	}

}
