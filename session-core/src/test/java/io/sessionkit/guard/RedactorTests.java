package io.sessionkit.guard;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.guard.Redactor.Action;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.TurnPart;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Order(2)
class RedactorTests {

	private static final int TEXTS = Integer.getInteger("sessionkit.texts", 5_000);

	private static final int LONG = Integer.getInteger("sessionkit.characters", 200_000);

	/** The number of times that each character may be looked at. */
	private static final int STEPS = 150;

	private final Redactor redactor = Redactor.standard();

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "ada@example.org | [email]",
			"<ada@example.org>, | <[email]>,", "mail ada.love+x@mail.example.co.uk. | mail [email].",
			"o'neil@example.org | [email]", "mailto:ada@example.org | mailto:[email]",
			"a@x.org b@y.org | [email] [email]", "j\u00FCrgen@b\u00FCcher.de | [email]", "a@b@x.org | a@[email]",
			"ada@x.org.5 | [email].5", "4111111111111111 | [card]", "4111 1111 1111 1111 | [card]",
			"4111-1111-1111-1111. | [card].", "no 12 4111 1111 1111 1111 | no 12 [card]",
			"4111\u00A01111\u00A01111\u00A01111 | [card]", "378282246310005 | [card]", "4111.1111.1111.1111 | [card]",
			"4111_1111_1111_1111 | [card]", "4111/1111/1111/1111. | [card].",
			"card_4111_1111_1111_1111.txt | card_[card].txt", "4111 1111.1111-1111 | [card]",
			"3782.822463.10005 | [card]", "3056/930902/5904 | [card]", "1.4111.1111.1111.1111 | 1.[card]",
			"6304.0000.0000.0000.000 | [card]", "4222_2222_2222_2 | [card]",
			"see /4111/1111/1111/1111/x | see /[card]/x", "4222222222222 | [card]", "6304000000000000000 | [card]",
			"\u0664\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661 | [card]",
			"10.0.0.1 | [ip]", "10.0.0.1:8080/24 | [ip]:8080/24", "at 255.255.255.255. | at [ip].",
			"\u5730\u574010.0.0.1\u3002 | \u5730\u5740[ip]\u3002", "::1 | [ip]", "2001:db8::1 | [ip]",
			"[2001:db8::1]:80 | [[ip]]:80", "fe80::1%eth0 | [ip]%eth0",
			"2001:0db8:85a3:0000:0000:8a2e:0370:7334 | [ip]", "::ffff:10.0.0.1 | [ip]", "ip:fe80::1: up | ip:[ip]: up",
			"IPv6:2001:db8::1 | IPv6:[ip]", "root@10.0.0.1 | root@[ip]", "2001:db8::1. | [ip]." })
	void matchIsReplaced(String text, String expected) {
		assertThat(text(this.redactor, text)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ada@example", "@example.org", "ada@", "ada @example.org", "a@b.c", "4111111111111112",
			"4111  1111  1111  1111", "41111111111111111111111", "411111111111", "0.4111111111111111",
			"4111__1111__1111__1111", "4111._1111", "256.1.1.1", "IMG_41111111_11111111.jpg", "2024.01.15.10.30.45",
			"2024/01/15/10/30/45.7", "41.11.11.11.11.11.11.11", "192.168.100.300/192.168.100.301", "4.111111111111111",
			"52.520008/13.404954", "4111.111111111111", "4111.1111.1111.1112", "41111.111.1111.1111",
			"0.4111.1111.1111.1111", "1.2.3", "1.2.3.4.5", "v1.2.3.4", "1.2.3.4b", "12:30:45", "00:1a:2b:3c:4d:5e",
			"std::string", " :: ", ":::1", "a:b:c:d:e:f:0:1:2", "12345::1", "1::2::3", "", "[email] [card] [ip]",
			"plain" })
	void otherTextStays(String text) {
		assertThat(text(this.redactor, text)).isEqualTo(text);
	}

	@ParameterizedTest
	@CsvSource({ "ada@example.org,a**@example.org", "a@x.org,*@x.org", "4111 1111 1111 1111,**** **** **** 1111",
			"192.168.10.20,***.***.10.20", "192.168.1.20,***.**8.1.20", "10.0.0.1,**.*.*.*", "A-12,*-**" })
	void maskLeavesTheEnd(String text, String expected) {
		Redactor redactor = all(Action.MASK).pattern("order", Pattern.compile("A-\\d+"), Action.MASK).build();
		assertThat(text(redactor, text)).isEqualTo(expected);
		assertThat(text(redactor, expected)).isEqualTo(expected);
	}

	@Test
	void blockRefusesAndNamesTheDetectorOnly() {
		assertThat(beforeTurn(all(Action.BLOCK).build(), new UserMessage("from 10.0.0.1")))
			.isEqualTo(HookResult.refuse("The detector 'ip' has found something that is blocked."));
	}

	@Test
	void overlappingMatchesGoToTheFirstThenTheLongestThenTheOneConfiguredFirst() {
		Redactor redactor = Redactor.builder()
			.pattern("b", Pattern.compile("bcd|d|yy"), Action.REDACT)
			.pattern("a", Pattern.compile("abc|xx+"), Action.REDACT)
			.pattern("c", Pattern.compile("abc|xx|yy"), Action.REDACT)
			.build();
		assertThat(text(redactor, "abcd")).as("what is left of the other is searched anew").isEqualTo("[a][b]");
		assertThat(text(redactor, "xxx")).isEqualTo("[a]");
		assertThat(text(redactor, "yyyy")).isEqualTo("[b][b]");
		assertThat(text(
				Redactor.builder().emails(Action.REDACT).pattern("x", Pattern.compile("^ad"), Action.REDACT).build(),
				"ada@example.org"))
			.isEqualTo("[email]");
	}

	@Test
	void customPatternFindsAWholeUrl() {
		Redactor redactor = Redactor.builder().pattern("url", Pattern.compile("https?://\\S+"), Action.REDACT).build();
		assertThat(text(redactor, "see https://a.com/path?token=s3cret now")).isEqualTo("see [url] now");
	}

	@Test
	void customPatternThatMatchesNothingOrItsPlaceholderEnds() {
		Redactor redactor = Redactor.builder()
			.pattern("x", Pattern.compile("\\w*"), Action.REDACT)
			.pattern("star", Pattern.compile("[*!]+"), Action.MASK)
			.build();
		assertThat(text(redactor, "a b!")).isEqualTo("[x] [x]!");
	}

	@Test
	void mediaAndMetadataAreKept() {
		Media image = Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(new byte[] { 1, 2 }).id("i").build();
		UserMessage user = UserMessage.builder().text("ada@example.org").media(image).metadata(Map.of("k", 1)).build();
		UserMessage redacted = (UserMessage) replaced(beforeTurn(this.redactor, user));
		assertThat(redacted.getText()).isEqualTo("[email]");
		assertThat(redacted.getMedia()).containsExactly(image);
		assertThat(redacted.getMetadata()).containsEntry("k", 1);
		AssistantMessage reply = AssistantMessage.builder()
			.content("ada@example.org")
			.media(List.of(image))
			.properties(Map.of("k", 1))
			.toolCalls(List.of(call("{\"to\":\"ada@example.org\"}")))
			.build();
		AssistantMessage checked = replace(this.redactor.afterModel(context(List.of()), reply));
		assertThat(checked.getText()).isEqualTo("[email]");
		assertThat(checked.getMedia()).containsExactly(image);
		assertThat(checked.getMetadata()).containsEntry("k", 1);
		assertThat(checked.getToolCalls()).as("the tool gets what the model wrote").isEqualTo(reply.getToolCalls());
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "find", "ada@example.org")))
			.metadata(Map.of("k", 1))
			.build();
		List<Message> kept = replace(
				this.redactor.beforeSave(context(List.of()), completed(user, reply, results, reply)));
		assertThat(kept.get(2).getMetadata()).containsEntry("k", 1);
		assertThat(((AssistantMessage) kept.get(1)).getMedia()).containsExactly(image);
	}

	@Test
	void metadataWithoutAValueIsKept() {
		Map<String, Object> metadata = new HashMap<>();
		metadata.put("k", null);
		UserMessage user = UserMessage.builder().text("ada@example.org").metadata(metadata).build();
		Message redacted = replaced(beforeTurn(this.redactor, user));
		assertThat(redacted.getText()).isEqualTo("[email]");
		assertThat(redacted.getMetadata()).containsEntry("k", null);
		AssistantMessage reply = AssistantMessage.builder().content("ada@example.org").properties(metadata).build();
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "find", "ada@example.org")))
			.metadata(metadata)
			.build();
		List<Message> kept = replace(this.redactor.beforeSave(context(List.of()), completed(user, results, reply)));
		assertThat(kept).allSatisfy((message) -> assertThat(message.getMetadata()).containsEntry("k", null));
	}

	@Test
	void nullTextsPass() {
		AssistantMessage nothing = AssistantMessage.builder().content(null).build();
		AssistantMessage calls = AssistantMessage.builder().content(null).toolCalls(List.of(call(null))).build();
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "find", null)))
			.build();
		for (Action action : Action.values()) {
			Redactor any = all(action).build();
			assertThat(any.afterModel(context(List.of()), nothing)).isEqualTo(HookResult.keep());
			assertThat(any.afterModel(context(List.of()), calls)).isEqualTo(HookResult.keep());
			assertThat(any.beforeSave(context(List.of()), completed(calls, results, nothing)))
				.isEqualTo(HookResult.keep());
			assertThat(any.beforeModel(context(List.of()), new ModelRequest(List.of(calls, results, nothing), 0)))
				.isEqualTo(HookResult.keep());
		}
	}

	@Test
	void listsThatCannotBeChangedAreNotChanged() {
		List<Message> input = List.of(new UserMessage("ada@example.org"), new UserMessage("plain"));
		List<Message> replaced = replace(this.redactor.beforeTurn(context(List.of()), input));
		assertThat(replaced).extracting(Message::getText).containsExactly("[email]", "plain");
		assertThat(input.get(0).getText()).isEqualTo("ada@example.org");
		assertThat(this.redactor.beforeTurn(context(List.of()), List.of(new UserMessage("plain"))))
			.isEqualTo(HookResult.keep());
	}

	@Test
	void systemTextIsTheApplicationsOwn() {
		List<Message> request = List.of(new SystemMessage("answer as help@example.org"), new UserMessage("q"));
		for (Action action : Action.values()) {
			assertThat(all(action).build().beforeModel(context(List.of()), new ModelRequest(request, 1)))
				.isEqualTo(HookResult.keep());
		}
	}

	@Test
	void whatBlocksIsRedactedInTheHistoryAndRefusedInResultsOfTheTurn() {
		List<Message> history = List.of(new UserMessage("I am ada@example.org"),
				AssistantMessage.builder().toolCalls(List.of(call("{\"to\":\"ada@example.org\"}"))).build(),
				result("ada@example.org"), new AssistantMessage("hello ada@example.org"));
		Redactor block = all(Action.BLOCK).build();
		List<Message> request = new ArrayList<>(history);
		int turn = history.size();
		request.add(new UserMessage("q"));
		List<Message> sent = replace(block.beforeModel(context(history), new ModelRequest(request, turn)));
		assertThat(sent.toString()).doesNotContain("ada@").contains("[email]");
		request.add(AssistantMessage.builder().toolCalls(List.of(call("{}"))).build());
		request.add(result("plain"));
		assertThat(block.beforeModel(context(history), new ModelRequest(request, turn)))
			.isInstanceOf(HookResult.Replace.class);
		request.set(request.size() - 1, result("ada@example.org"));
		assertThat(block.beforeModel(context(history), new ModelRequest(request, turn)))
			.isInstanceOf(HookResult.Refuse.class);
		request.remove(0);
		assertThat(block.beforeModel(context(history), new ModelRequest(request, turn - 1)))
			.as("another hook has changed the history")
			.isInstanceOf(HookResult.Refuse.class);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "{\"to\":\"ada@example.org\",\"n\":1} | {\"to\":\"[email]\",\"n\":1}",
					"{ \"card\" : 4111111111111111 } | { \"card\" : \"[card]\" }",
					"{\"card\":-4111111111111111} | {\"card\":\"-[card]\"}",
					"[\"ada\\u0040example.org\"] | [\"[email]\"]",
					"[\"10\\u002e0.0.1\\n\\\"\\/\"] | [\"[ip]\\n\\\"/\"]",
					"[\"\\uD83D\\uDE00 a@x.org\"] | [\"\\ud83d\\ude00 [email]\"]",
					"[\"\\uD83D a@x.org\"] | [\"\\ud83d [email]\"]",
					"{\"a@x.org\":[true,null,{}]} | {\"[email]\":[true,null,{}]}",
					"{\"in\":\"{\\\"to\\\":\\\"a\\\\u0040x.org\\\"}\"} | {\"in\":\"{\\\"to\\\":\\\"[email]\\\"}\"}",
					"4111111111111111 | \"[card]\"", "\"a@x.org\" | \"[email]\"", "{\"a\":\"a@x.org | {\"a\":\"[email]",
					"to a@x.org | to [email]", "{4111 1111 1111 1111} | {[card]}",
					"{\"a\":1.5e3,\"b\":[]} | {\"a\":1.5e3,\"b\":[]}", "[\"a@x.org\",] | [\"[email]\",]",
					"[\"\\x\", \"a@x.org\"] | [\"\\x\", \"[email]\"]" })
	void argumentsAndResultsStayJson(String data, String expected) {
		AssistantMessage reply = AssistantMessage.builder().toolCalls(List.of(call(data))).build();
		List<Message> kept = list(this.redactor.beforeSave(context(List.of()), completed(reply, result(data))),
				List.of(reply, result(data)));
		assertThat(((AssistantMessage) kept.get(0)).getToolCalls().get(0).arguments()).isEqualTo(expected);
		assertThat(((ToolResponseMessage) kept.get(1)).getResponses().get(0).responseData()).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"to\":\"ada\\u0040example.org\"}", "{\"card\":4111111111111111}", "[\"\\t10.0.0.1\"]",
			"to ada@example.org", "{\"cards\":[7,4111111111111111]}", "\"ada\\u0040example.org\"",
			"{\"card\":-4111111111111111}", "4111111111111111", "{\"to\":\"ada\\u0040example.org\"" })
	void argumentsThatBlockAreRefusedBeforeTheToolRuns(String arguments) {
		AssistantMessage reply = AssistantMessage.builder().toolCalls(List.of(call(arguments))).build();
		assertThat(all(Action.BLOCK).build().afterModel(context(List.of()), reply))
			.isInstanceOf(HookResult.Refuse.class);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "[4111111111111111.null] | [[card].null]", "[4111111111111111.true,1] | [[card].true,1]",
					"{\"n\":4111111111111111.false} | {\"n\":[card].false}", "4111111111111111.null | [card].null",
					"[4111111111111111e-null] | [[card]e-null]", "[-4111111111111111.null] | [-[card].null]" })
	void numberThatRunsIntoALiteralIsNoJsonAndIsSearched(String text, String expected) {
		assertThat(text(this.redactor, text)).isEqualTo(expected);
		assertThat(data(this.redactor, text)).isEqualTo(expected);
		assertThat(beforeTurn(all(Action.BLOCK).build(), new UserMessage(text))).isInstanceOf(HookResult.Refuse.class);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "42,4111111111111111,12/27 | 42,[card],12/27", "pay 1,4111111111111111 | pay 1,[card]",
					"pay 1.4111111111111111 | pay 1.[card]", "10.0.4111111111111111 | 10.0.[card]",
					"id 10.4111111111111111 | id 10.[card]" })
	void cardBehindADigitAndACommaOrAPointIsFound(String text, String expected) {
		assertThat(text(this.redactor, text)).isEqualTo(expected);
		assertThat(beforeTurn(all(Action.BLOCK).build(), new UserMessage(text))).isInstanceOf(HookResult.Refuse.class);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "{\"e\":\"alice\\u0040example.com\"}~{\"e\":1} | {\"e\":\"[email]\"}~{\"e\":1}",
					"json:~{\"e\":\"alice\\u0040example.com\"}~end | json:~{\"e\":\"[email]\"}~end",
					"Result: {\"c\":\"4111\\u00a01111\\u00a01111\\u00a01111\"} | Result: {\"c\":\"[card]\"}",
					"{\"e\":\"alice\\u0040example.com\",\"f\":\"x | {\"e\":\"[email]\",\"f\":\"x",
					"log {\\\"e\\\":\\\"alice\\\\u0040example.com\\\"} | log {\\\"e\\\":\\\"[email]\\\"}",
					"at al\\u0069ce@example.com | at [email]", "at alice\\u005cu0040example.com | at [email]",
					"at \\u0031\\u0030.0.0.1\\n | at [ip]\\n", "no \\u0041-77 in it | no [order] in it",
					"[email] bob\\u0040x.org [card] | [email] [email] [card]", "at alice\\x40example.com | at [email]",
					"at alice\\u{40}example.com | at [email]", "at alice\\100example.com | at [email]",
					"at alice\\U00000040example.com | at [email]", "at \\u{1D41A}lice@example.com | at [email]",
					"{\"e\":\"alice\\\\x40example.com\"} | {\"e\":\"[email]\"}",
					"4111\\x201111\\x201111\\x201111 | [card]", "10\\x2e0.0.1 | [ip]",
					"DOMAIN\\ada@x.org \\x \\u12 \\ | DOMAIN\\[email] \\x \\u12 \\" })
	void escapeInATextThatIsNoJsonHidesNothing(String lines, String expectedLines) {
		Redactor redactor = orders(Action.REDACT);
		String text = lines.replace('~', '\n');
		String expected = expectedLines.replace('~', '\n');
		assertThat(text(redactor, text)).isEqualTo(expected);
		assertThat(data(redactor, text)).isEqualTo(expected);
		assertThat(text(redactor, expected)).isEqualTo(expected);
		assertThat(beforeTurn(orders(Action.BLOCK), new UserMessage(text))).isInstanceOf(HookResult.Refuse.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\\tb \\u0041 100% %41 \u200B \uFF21 \\", "\\\\\\\\", "\uD83D\uDC69\u200D\uD83D\uDCBB",
			"\u0661\u0662", "[em\u200Bail]" })
	void textIsReadButNotRewritten(String text) {
		assertThat(text(this.redactor, text)).isEqualTo(text);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "alice\\u0040example.com! | a****@example.com!", "alice%40example.com | a****@example.com",
					"al\u200Bice\uFF20example.com | a****@example.com",
					"\uD835\uDC1Alice@example.com | \uD835\uDC1A****@example.com",
					"4111\\u00a01111\\u00a01111\\u00a01111 | ****\u00A0****\u00A0****\u00A01111",
					"\\u0041-1234567 | *-***4567" })
	void maskOfWhatIsOnlyReadIsMadeOfWhatIsRead(String text, String expected) {
		Redactor redactor = orders(Action.MASK);
		assertThat(text(redactor, text)).isEqualTo(expected);
		assertThat(text(redactor, expected)).isEqualTo(expected);
	}

	@Test
	void maskThatWouldLeaveWhatIsEscapedIsAPlaceholder() {
		Redactor redactor = Redactor.builder().pattern("quoted", Pattern.compile("\"\\w+@\\w+\""), Action.MASK).build();
		assertThat(text(redactor, "say \\\"ada@home\\\"")).isEqualTo("say [quoted]");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "\uD835\uDC1Alice@example.com | [email]",
			"alice@\uD835\uDC1Axample.com | [email]", "alice\uFF20example.com | [email]",
			"al\u200Bice@exam\u00ADple.com, | [email],", "alice\u2060@\uFEFFexample\u200B.com | [email]",
			"al\u034Fice@example\uFE0F.com | [email]", "al\u3164ice@example.com | [email]",
			"a alice%40example.com | a [email]", "alice%2Bx%40mail%2eexample.com | [email]",
			"a%40b@example.com | [email]", "alice@mail_1.example.com | [email]", "alice@_x.a_b-c.example.com | [email]",
			"_alice@example.org_ | [email]_", "alice\uFF20example\uFF0Ecom | [email]", "\uFF11\uFF10.0.0.1 | [ip]",
			"10.\u200B0.0.1 | [ip]", "\u06611.0.0.1 | [ip]", "41\u200B11111111111111 | [card]",
			"4111\u00001111\u00001111\u00001111 | [card]", "\uFF14111111111111111 | [card]",
			"4111111111111111\u200B5 | [card]\u200B5", "A\u200B-7\u00AD7 | [order]" })
	void charactersThatLookTheSameOrAreNotSeenHideNothing(String text, String expected) {
		Redactor redactor = orders(Action.REDACT);
		assertThat(text(redactor, text)).isEqualTo(expected);
		assertThat(data(redactor, "{\"x\":\"" + text.replace("\u0000", "\\u0000") + "\"}"))
			.isEqualTo("{\"x\":\"" + expected + "\"}");
		assertThat(beforeTurn(orders(Action.BLOCK), new UserMessage(text))).isInstanceOf(HookResult.Refuse.class);
	}

	@Test
	void maskDoesNotMaskWhatItLeft() {
		Redactor digits = Redactor.builder().pattern("digits", Pattern.compile("\\b\\d{4,}\\b"), Action.MASK).build();
		assertThat(text(digits, "12345678")).isEqualTo("****5678");
		assertThat(text(digits, "****5678")).isEqualTo("****5678");
		assertThat(text(digits, "12345678 12345678, 1234")).isEqualTo("****5678 ****5678, ****");
		assertThat(data(digits, "{\"a\":12345678}")).isEqualTo("{\"a\":\"****5678\"}");
		Redactor any = all(Action.MASK).pattern("digits", Pattern.compile("\\d{4}|\\d\\.\\d"), Action.MASK).build();
		assertThat(text(any, "4111 1111 1111 1111")).isEqualTo("**** **** **** 1111");
		assertThat(text(any, "192.168.110.120")).isEqualTo("***.***.**0.120");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "**1234** | ********", "**** 4111 1111 1111 1111 | **** **** **** **** 1111",
			"****56789 | *********", "**** 1.2.3.4 | **** *.*.*.*", "****a@b.co | *****@b.co" })
	void starsInFrontProtectNoMoreThanAMaskLeaves(String text, String expected) {
		Redactor redactor = all(Action.MASK).pattern("digits", Pattern.compile("\\b\\d{4,}\\b"), Action.MASK).build();
		assertThat(text(redactor, text)).isEqualTo(expected);
		Redactor redacts = Redactor.builder().pattern("pin", Pattern.compile("\\d{4}"), Action.REDACT).build();
		assertThat(text(redacts, "****1234")).isEqualTo("****[pin]");
	}

	@ParameterizedTest
	@EnumSource(Action.class)
	void patternSeesTheStringsOfJsonAndNotWhatIsAroundThem(Action action) {
		Redactor redactor = Redactor.builder().pattern("name", Pattern.compile("\"[a-z]+\":"), action).build();
		assertThat(text(redactor, "{\"abc\":1}")).isEqualTo("{\"abc\":1}");
		assertThat(data(redactor, "{\"abc\":1}")).isEqualTo("{\"abc\":1}");
		assertThat(beforeTurn(redactor, new UserMessage("{\"abc\":1} is it"))).isNotEqualTo(HookResult.keep());
	}

	@ParameterizedTest
	@ValueSource(strings = { " 4111\n", "4111", "[1, 4111]", "{\"a\":{\"b\":4111}}", "\"4111\"", "\"\\u0034111\"" })
	void blockFindsAValueOfJsonThatAPatternDescribesAsAWhole(String data) {
		Pattern whole = Pattern.compile("^\\d{4}$(?!\\s)");
		AssistantMessage reply = AssistantMessage.builder().toolCalls(List.of(call(data))).build();
		assertThat(Redactor.builder().pattern("pin", whole, Action.BLOCK).build().afterModel(context(List.of()), reply))
			.isInstanceOf(HookResult.Refuse.class);
		assertThat(data(Redactor.builder().pattern("pin", whole, Action.REDACT).build(), data)).contains("\"[pin]\"");
	}

	@Test
	void escapeInAReplyThatIsJsonHidesNothing() {
		assertThat(text(this.redactor, "{\"to\":\"ada\\u0040example.org\",\"n\":4111111111111111}"))
			.isEqualTo("{\"to\":\"[email]\",\"n\":\"[card]\"}");
	}

	@ParameterizedTest
	@EnumSource(value = Action.class, names = { "REDACT", "MASK" })
	void redactedTwiceIsRedactedOnce(Action action) {
		List<String> parts = List.of("a", "ada", "@", ".", "x.org", "4111", "1111", " ", "-", "_", "/", "10.0.0.1", ":",
				"::1", "1", "[email]", "[", "]", "{", "}", "\"", ",", "\\u0040", "\\", "fe80", "*", "\n", "A-77", "b",
				"\\u00a0", "u0061", "\\x40", "\\u{40}", "x5c", "100", "{", "%40", "\uFF20", "\u200B", "\uD835\uDC1A",
				"12345678", "\\n");
		Redactor redactor = all(action).pattern("order", Pattern.compile("A-\\d+|b|\\]\\s*1"), action)
			.pattern("digits", Pattern.compile("\\b\\d{4,}|\\d[*\"]"), action)
			.build();
		long seed = Long.getLong("sessionkit.seed", new Random().nextLong());
		Random random = new Random(seed);
		for (int i = 0; i < TEXTS; i++) {
			StringBuilder text = new StringBuilder();
			for (int length = random.nextInt(25); length >= 0; length--) {
				text.append(parts.get(random.nextInt(parts.size())));
			}
			String once = text(redactor, text.toString());
			assertThat(text(redactor, once)).as("text %s, seed %s", text, seed).isEqualTo(once);
			String data = data(redactor, text.toString());
			assertThat(data(redactor, data)).as("data %s, seed %s", text, seed).isEqualTo(data);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "a@", "1", "4", "1.", "1.1.1.1.", "0 ", "1-", "a", "a.", "@", "a:", ":", "::", "f:1.",
			"a@a.", "a@a-", ".", "a@x.org ", "4111 1111 1111 1111 ", "4111.", "4111_1111/", "1/", "10.0.0.1 ", "a@a_",
			"a@_.", "\uD835\uDC1A@", "0.", "0.4" })
	void detectorsLookAtEachCharacterOfALongTextAFewTimes(String part) {
		// the bound is for each character, so a tenth of the length shows the same
		String text = part.repeat(LONG / 10 / part.length());
		for (Detector detector : List.of(new EmailDetector(), new CardDetector(), IpDetector.V4, IpDetector.V6)) {
			Counted counted = new Counted(text);
			int from = 0;
			Detector.@Nullable Span match = detector.find(counted, 0, text.length());
			while (match != null) {
				assertThat(match.start()).isGreaterThanOrEqualTo(from);
				from = match.end();
				match = detector.find(counted, from, text.length());
			}
			assertThat(counted.steps).as("looked at").isPositive();
		}
	}

	@Test
	void longTextsOfEachKindAreRedacted() {
		for (String part : List.of("a@a@a@", "1", "1.1.1.1.", "{\"a\":[", "[[", "a@x.org ", "\"\\\"", "\\", "\\u005c",
				"\\x5c", "\\u{", "\\u{0", "\\u{5c}", "\\134", "\\uuuu", "\\N{U+", "a\\u0040x.org ", "a\\x40x.org ",
				"a%40x.org ", "\u200B", "*", "* ", "****5678", "[email]\\n", "%", "%40")) {
			String text = part.repeat(LONG / part.length());
			assertThat(data(this.redactor, text)).doesNotContain("x.org");
		}
	}

	@Test
	void namesThatCannotBeAreRefused() {
		Redactor.Builder builder = Redactor.builder().emails(Action.MASK);
		Pattern any = Pattern.compile("x");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.pattern("email", any, Action.MASK))
			.withMessageContaining("once");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.emails(Action.REDACT));
		for (String name : Arrays.asList("", " ", "a]", "1a")) {
			assertThatIllegalArgumentException().isThrownBy(() -> builder.pattern(name, any, Action.MASK))
				.withMessageContaining("must be a letter");
		}
		assertThatIllegalStateException().isThrownBy(() -> Redactor.builder().build())
			.withMessageContaining("looks for nothing");
	}

	private static Redactor.Builder all(Action action) {
		return Redactor.builder().emails(action).cards(action).ipAddresses(action);
	}

	private static Redactor orders(Action action) {
		return all(action).pattern("order", Pattern.compile("A-\\d+"), action).build();
	}

	private static ToolCall call(@Nullable String arguments) {
		return new ToolCall("c1", "function", "find", arguments);
	}

	private static ToolResponseMessage result(String data) {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "find", data))).build();
	}

	private static TurnPart completed(Message... messages) {
		return TurnPart.of(TurnStatus.COMPLETED, List.of(messages));
	}

	private static HookContext context(List<Message> history) {
		return HookContext.of(SessionKey.of("t1"), "turn").history(history);
	}

	private static String text(Redactor redactor, String text) {
		List<Message> input = List.of(new UserMessage(text));
		return String.valueOf(list(redactor.beforeTurn(context(List.of()), input), input).get(0).getText());
	}

	private static String data(Redactor redactor, String data) {
		List<Message> turn = List.of(result(data));
		Function<Message, String> first = (
				message) -> ((ToolResponseMessage) message).getResponses().get(0).responseData();
		return first
			.apply(list(redactor.beforeSave(context(List.of()), TurnPart.of(TurnStatus.COMPLETED, turn)), turn).get(0));
	}

	private static HookResult<List<Message>> beforeTurn(Redactor redactor, Message message) {
		return redactor.beforeTurn(context(List.of()), List.of(message));
	}

	@Test
	void aPatternThatNeedsTooMuchStackNamesItsDetectorAndLetsNothingThrough() {
		Redactor redactor = all(Action.MASK).pattern("letters", Pattern.compile("\\b(?:a|b)*c"), Action.REDACT).build();
		Redactor possessive = all(Action.MASK).pattern("letters", Pattern.compile("\\b(?:a|b)*+c"), Action.REDACT)
			.build();
		List<Message> input = List.of(new UserMessage("ab".repeat(20_000)));

		assertThatIllegalStateException().isThrownBy(() -> redactor.beforeTurn(context(input), input))
			.withMessageContaining("'letters'")
			.withMessageContaining("(?:a|b)*+")
			.withMessageNotContaining("abab");
		assertThat(possessive.beforeTurn(context(input), input)).isInstanceOf(HookResult.Keep.class);
	}

	private static Message replaced(HookResult<List<Message>> result) {
		return replace(result).get(0);
	}

	private static <T> T replace(HookResult<T> result) {
		assertThat(result).isInstanceOf(HookResult.Replace.class);
		return ((HookResult.Replace<T>) result).value();
	}

	private static List<Message> list(HookResult<List<Message>> result, List<Message> before) {
		return (result instanceof HookResult.Replace<List<Message>> replace) ? replace.value() : before;
	}

	/**
	 * A text that counts how often somebody looks at it.
	 */
	static final class Counted implements CharSequence {

		private final String text;

		private long steps;

		Counted(String text) {
			this.text = text;
		}

		@Override
		public char charAt(int index) {
			if (++this.steps > (long) STEPS * this.text.length()) {
				throw new AssertionError("Each character was looked at more than " + STEPS + " times.");
			}
			return this.text.charAt(index);
		}

		@Override
		public int length() {
			return this.text.length();
		}

		@Override
		public CharSequence subSequence(int start, int end) {
			return this.text.subSequence(start, end);
		}

	}

}
