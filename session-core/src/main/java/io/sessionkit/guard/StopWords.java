package io.sessionkit.guard;

import java.lang.Character.UnicodeScript;
import java.text.Normalizer;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.Invisible;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * A guard that refuses input, replies and arguments of tool calls if they contain one of
 * some words or phrases. Replies may be replaced instead: {@link #answerWith}. Texts are
 * compared without regard to case, to the Unicode form, and to invisible and control
 * characters. White space in a phrase stands for any run of white space. Backslash
 * escapes, those of JSON and the numbers that programming languages write, are undone in
 * JSON and in any other text.
 * <p>
 * Only whole words are found: a letter, digit, mark or underscore next to the word means
 * that it is another word. If the word begins or ends in a script without spaces between
 * words, such as Chinese, Japanese or Thai, letters next to it on that side are ignored.
 * <p>
 * If the guard checks replies, streams wait; see {@link SessionHook#checksReplies}.
 * Results of tools are checked only if they are part of the input or are the reply.
 * Immutable.
 */
public final class StopWords implements SessionHook {

	/** The default reason of a refusal. */
	private static final String REASON = "This message contains words that are not allowed here.";

	private static final Set<UnicodeScript> WITHOUT_SPACES = EnumSet.of(UnicodeScript.HAN, UnicodeScript.HIRAGANA,
			UnicodeScript.KATAKANA, UnicodeScript.THAI, UnicodeScript.LAO, UnicodeScript.KHMER, UnicodeScript.MYANMAR);

	private static final String WORD_CHARACTERS = "[\\p{L}\\p{N}\\p{M}_]";

	/** Separates words in scripts that need it, and is invisible in others. */
	private static final int ZERO_WIDTH_SPACE = 0x200B;

	private static final Pattern GAPS = Pattern.compile("\\x{200b}+");

	/** Begins at the first of a run, so that each run is read once. */
	private static final Pattern GAPS_BEFORE_MARKS = Pattern.compile("(?<!\\x{200b})\\x{200b}++(?=\\p{M})");

	private static final Pattern MARKS = Pattern.compile("\\p{M}+");

	private final Pattern words;

	private final String reason;

	/** The text that replaces a reply; null to refuse the reply. */
	private final @Nullable String answer;

	private final boolean input;

	private final boolean replies;

	private StopWords(Pattern words, String reason, @Nullable String answer, boolean input, boolean replies) {
		this.words = words;
		this.reason = reason;
		this.answer = answer;
		this.input = input;
		this.replies = replies;
	}

	/**
	 * Creates a guard on input and replies.
	 * @param words the words and phrases
	 * @return the guard
	 * @throws IllegalArgumentException if there are no words or one is blank
	 */
	public static StopWords of(String... words) {
		return of(List.of(words));
	}

	/**
	 * Creates a guard on input and replies.
	 * @param words the words and phrases
	 * @return the guard
	 * @throws IllegalArgumentException if there are no words or one is blank
	 */
	public static StopWords of(List<String> words) {
		Set<String> folded = folded(words);
		if (folded.isEmpty()) {
			throw new IllegalArgumentException("There are no stop words. Name at least one.");
		}
		String any = folded.stream().map(StopWords::pattern).collect(Collectors.joining("|"));
		return new StopWords(Pattern.compile(any), REASON, null, true, true);
	}

	private static Set<String> folded(List<String> words) {
		Set<String> folded = new LinkedHashSet<>();
		for (String word : words) {
			String one = GAPS.matcher(fold(word)).replaceAll("").replaceAll(" +", " ").strip();
			if (one.isEmpty()) {
				throw new IllegalArgumentException("A stop word must not be blank. Leave it out.");
			}
			folded.add(one);
		}
		return folded;
	}

	/**
	 * Returns the same guard with another reason. The default reason says that the text
	 * has words that are not allowed.
	 * @param reason the reason, which may be shown to the user
	 * @return a new guard
	 * @throws IllegalArgumentException if it is blank or quotes one of the words
	 */
	public StopWords reason(String reason) {
		if (reason.isBlank()) {
			throw new IllegalArgumentException("The reason must not be blank. Say why in a few words.");
		}
		if (isWrittenIn(reason)) {
			throw new IllegalArgumentException(
					"The reason contains one of the stop words, and it is stored and shown. Choose other words.");
		}
		return new StopWords(this.words, reason, this.answer, this.input, this.replies);
	}

	/**
	 * Returns the same guard, which replaces replies instead of refusing them. If a reply
	 * of the model or one of its tool calls has one of the words, this text takes the
	 * place of the reply, for the caller, the store and later requests. Its tools do not
	 * run, and the turn is completed. Input is refused as before, and so is a reply that
	 * no model gave, since that cannot be replaced for the caller.
	 * @param text the text of the reply
	 * @return a new guard
	 * @throws IllegalArgumentException if it is blank or has one of the words
	 * @throws IllegalStateException if the guard checks input only
	 */
	public StopWords answerWith(String text) {
		if (text.isBlank()) {
			throw new IllegalArgumentException("The text of the reply must not be blank. Say what to reply instead.");
		}
		if (isWrittenIn(text)) {
			throw new IllegalArgumentException(
					"The text of the reply contains one of the stop words. Choose other words.");
		}
		if (!this.replies) {
			throw new IllegalStateException(
					"The guard checks no replies that answerWith(..) could replace. Leave onlyInput() out.");
		}
		return new StopWords(this.words, this.reason, text, this.input, true);
	}

	/**
	 * Returns the same guard, on input only. Streams do not wait for it.
	 * @return a new guard
	 * @throws IllegalStateException if the guard has a text that replaces replies
	 */
	public StopWords onlyInput() {
		if (this.answer != null) {
			throw new IllegalStateException("The guard has a text for replies that it would not check. Leave"
					+ " answerWith(..) or onlyInput() out.");
		}
		return new StopWords(this.words, this.reason, null, true, false);
	}

	/**
	 * Returns the same guard, on replies only.
	 * @return a new guard
	 */
	public StopWords onlyReplies() {
		return new StopWords(this.words, this.reason, this.answer, false, true);
	}

	@Override
	public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
		return (this.input && input.stream().anyMatch(this::isIn)) ? HookResult.refuse(this.reason) : HookResult.keep();
	}

	@Override
	public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
		if (!this.replies || !isIn(reply)) {
			return HookResult.keep();
		}
		return (this.answer != null) ? HookResult.replace(new AssistantMessage(this.answer))
				: HookResult.refuse(this.reason);
	}

	/**
	 * Checks a reply that no model gave, from a cache or directly from a tool.
	 */
	@Override
	public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
		Message reply = part.reply();
		return (this.replies && reply != null && isIn(reply)) ? HookResult.refuse(this.reason) : HookResult.keep();
	}

	@Override
	public boolean checksReplies() {
		return this.replies;
	}

	private boolean isIn(Message message) {
		return MessageTexts.of(message).stream().anyMatch(this::isWrittenIn);
	}

	private boolean isWrittenIn(String text) {
		return isIn(text) || (text.indexOf('\\') >= 0 && isEscapedIn(text));
	}

	private boolean isEscapedIn(String text) {
		JsonText json = JsonText.parse(text);
		return isIn(Reading.unescaped(text)) || (json != null && json.values().stream().anyMatch(this::isIn));
	}

	private boolean isIn(String text) {
		String folded = fold(text);
		return this.words.matcher(folded).find()
				|| (folded.indexOf(ZERO_WIDTH_SPACE) >= 0 && this.words.matcher(joined(folded)).find());
	}

	/**
	 * Returns a folded text without the zero width spaces in front of marks, since they
	 * keep the marks of a letter from being put in their order.
	 */
	static String joined(CharSequence folded) {
		return Normalizer.normalize(GAPS_BEFORE_MARKS.matcher(folded).replaceAll(""), Normalizer.Form.NFKD);
	}

	/**
	 * Returns a pattern for a word. A zero width space may stand inside of the word, and
	 * white space around a zero width space is a single gap.
	 */
	private static String pattern(String word) {
		String inside = word.codePoints()
			.mapToObj((character) -> (character == ' ') ? " [ \\x{200b}]*+"
					: String.format(Locale.ROOT, "\\x{%x}", character))
			.collect(Collectors.joining("\\x{200b}*+"));
		String before = isSpaced(word.codePointAt(0)) ? "(?<!" + WORD_CHARACTERS + ")" : "";
		String after = isSpaced(lastLetter(word)) ? "(?!" + WORD_CHARACTERS + ")" : "(?!\\p{M})";
		return before + inside + after;
	}

	/**
	 * Returns the last character of a word that is no mark, since a mark has the script
	 * of its letter only in some scripts.
	 */
	private static int lastLetter(String word) {
		int[] letters = MARKS.matcher(word).replaceAll("").codePoints().toArray();
		return (letters.length > 0) ? letters[letters.length - 1] : word.codePointBefore(word.length());
	}

	private static boolean isSpaced(int character) {
		return !WITHOUT_SPACES.contains(UnicodeScript.of(character));
	}

	/**
	 * Folds a text to upper case, which makes more letters equal than lower case does,
	 * and then back to lower case letter by letter, since the lower case of a whole text
	 * depends on the letters around each one. Letters are taken apart from their marks,
	 * and Hangul syllables into theirs, so that a gap within one can be passed over.
	 */
	static String fold(String text) {
		String upper = Normalizer.normalize(text, Normalizer.Form.NFKC).toUpperCase(Locale.ROOT);
		StringBuilder folded = new StringBuilder(upper.length());
		int before = 0;
		for (int character : visible(upper)) {
			if (character != ' ' || before != ' ') {
				folded.appendCodePoint(character);
			}
			before = character;
		}
		return Normalizer.normalize(folded, Normalizer.Form.NFKD);
	}

	/**
	 * Returns the folded characters of a text, without the invisible ones.
	 */
	private static int[] visible(String text) {
		return text.codePoints()
			.map(StopWords::fold)
			.filter((each) -> !Invisible.is(each) || each == ZERO_WIDTH_SPACE)
			.toArray();
	}

	/**
	 * Folds a character. A character that may stand for nothing or for a gap between
	 * words becomes a zero width space.
	 */
	private static int fold(int character) {
		if (isSpace(character)) {
			return ' ';
		}
		boolean gap = Invisible.isFiller(character) || Invisible.isControl(character);
		return gap ? ZERO_WIDTH_SPACE : Character.toLowerCase(Character.toUpperCase(character));
	}

	private static boolean isSpace(int character) {
		return Character.isWhitespace(character) || Character.isSpaceChar(character) || character == 0x85;
	}

}
