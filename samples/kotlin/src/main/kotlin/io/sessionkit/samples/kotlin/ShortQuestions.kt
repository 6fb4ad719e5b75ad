package io.sessionkit.samples.kotlin

import io.sessionkit.hook.HookContext
import io.sessionkit.hook.HookResult
import io.sessionkit.hook.SessionHook
import org.springframework.ai.chat.messages.Message
import org.springframework.stereotype.Component

// tag::hook
@Component
class ShortQuestions : SessionHook {

	override fun beforeTurn(context: HookContext, input: List<Message>): HookResult<List<Message>> =
		if (input.sumOf { it.text?.length ?: 0 } > 4000) HookResult.refuse("The question is too long.")
		else HookResult.keep()

}
// end::hook
