package io.sessionkit.samples.kotlin

import io.sessionkit.approval.RequiresApproval
import org.springframework.ai.tool.annotation.Tool
import org.springframework.stereotype.Component

// tag::tool
@Component
class RefundTools {

	@Tool(description = "Pays money back")
	@RequiresApproval(condition = "#amount > 100")
	fun refund(order: String, amount: Int) = "refunded $amount for $order"

}
// end::tool
