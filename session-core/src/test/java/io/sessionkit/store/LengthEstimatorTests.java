package io.sessionkit.store;

import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests how far the estimate by length is from a vocabulary.
 */
class LengthEstimatorTests {

	private static final JTokkitTokenCountEstimator VOCABULARY = new JTokkitTokenCountEstimator();

	private final LengthEstimator estimator = new LengthEstimator();

	enum Sample {

		ENGLISH("Could you please look up my last order and tell me when it will arrive? I have been waiting for it"
				+ " since Tuesday, and nobody at the shop could say where the parcel is."),

		GERMAN("Könnten Sie bitte nachsehen, wann meine letzte Bestellung ankommt? Ich warte seit Dienstag darauf, und"
				+ " niemand im Geschäft konnte mir sagen, wo das Paket geblieben ist."),

		FRENCH("Pourriez-vous vérifier quand ma dernière commande arrivera ? Je l'attends depuis mardi et personne au"
				+ " magasin n'a su me dire où se trouve le colis."),

		POLISH("Czy mogą Państwo sprawdzić, kiedy dotrze moje ostatnie zamówienie? Czekam na nie od wtorku i nikt w"
				+ " sklepie nie potrafił powiedzieć, gdzie jest paczka."),

		RUSSIAN("Не могли бы вы посмотреть, когда придёт мой последний заказ? Я жду его со вторника, и никто в магазине"
				+ " не смог сказать, где посылка."),

		GREEK("Μπορείτε να δείτε πότε θα φτάσει η τελευταία μου παραγγελία; Την περιμένω από την Τρίτη."),

		ARABIC("هل يمكنك أن تخبرني متى سيصل طلبي الأخير؟ أنا أنتظره منذ يوم الثلاثاء ولا أحد يعرف أين الطرد."),

		HINDI("क्या आप बता सकते हैं कि मेरा पिछला ऑर्डर कब आएगा? मैं मंगलवार से इंतज़ार कर रहा हूँ।"),

		CHINESE("请帮我查一下我的上一个订单什么时候到？我从星期二就开始等了，店里没有人知道包裹在哪里。"),

		JAPANESE("前回の注文がいつ届くか調べていただけますか。火曜日から待っていますが、荷物がどこにあるか誰も知りません。"),

		KOREAN("지난번 주문이 언제 도착하는지 확인해 주시겠어요? 화요일부터 기다리고 있는데 아무도 모릅니다."),

		CODE("""
				public Optional<SessionView> open(SessionKey key, Window window) {
					for (int i = 0; i < attempts; i++) {
						if (header == null || rows.isUnchanged()) {
							return Optional.of(view(key, rows));
						}
					}
					throw new IllegalStateException("The session was written all the time.");
				}
				"""),

		JSON("""
				{"orderNumber": "4711", "status": "SHIPPED", "items": [{"sku": "AB-1029", "quantity": 2, "price": 19.95},
				{"sku": "XY-77", "quantity": 1, "price": 7.5}], "total": 47.4, "paid": true, "note": null}"""),

		NUMBERS("4711 0815 1234567890 3.14159 2026-11-23T08:15:30Z 192.168.0.1 +49 30 123456 99.95 17:45 1,000,000"),

		EMOJI("Great 👍 see you there 🎉🎉 🙂 ❤️ bye 👋🏽");

		private final String text;

		Sample(String text) {
			this.text = text;
		}

	}

	@ParameterizedTest
	@EnumSource
	void estimateIsNearTheCountByAVocabulary(Sample sample) {
		double ratio = (double) this.estimator.applyAsInt(sample.text) / VOCABULARY.estimate(sample.text);
		System.out.printf("%s: %.2f%n", sample, ratio);
		assertThat(ratio).as(sample.name()).isBetween(0.7, 1.4);
	}

	@Test
	void idsAndEncodedBytesAreNotFarOff() {
		StringBuilder ids = new StringBuilder();
		for (int i = 0; i < 20; i++) {
			ids.append(UUID.nameUUIDFromBytes(new byte[] { (byte) i })).append('\n');
		}
		double ratio = (double) this.estimator.applyAsInt(ids.toString()) / VOCABULARY.estimate(ids.toString());
		System.out.printf("ids: %.2f%n", ratio);
		assertThat(ratio).isBetween(0.6, 1.4);
	}

	@Test
	void emptyTextHasNoTokensAndAnyOtherHasSome() {
		assertThat(this.estimator.applyAsInt("")).isZero();
		assertThat(this.estimator.applyAsInt("a")).isEqualTo(1);
	}

}
