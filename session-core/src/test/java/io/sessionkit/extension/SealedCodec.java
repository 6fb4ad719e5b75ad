package io.sessionkit.extension;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Encrypts what another codec writes, and binds it to its session.
 */
final class SealedCodec implements MessageCodec {

	private static final int NONCE = 12;

	private static final int TAG_BITS = 128;

	private final MessageCodec codec;

	private final SecretKey secret;

	private final SecureRandom random = new SecureRandom();

	SealedCodec(MessageCodec codec, SecretKey secret) {
		this.codec = codec;
		this.secret = secret;
	}

	@Override
	public String encode(SessionKey key, Message message) {
		return sealed(key, this.codec.encode(key, message));
	}

	@Override
	public Message decode(SessionKey key, String payload) {
		return this.codec.decode(key, opened(key, payload));
	}

	@Override
	public String encodeValues(SessionKey key, Map<String, ? extends @Nullable Object> values) {
		return sealed(key, this.codec.encodeValues(key, values));
	}

	@Override
	public Map<String, @Nullable Object> decodeValues(SessionKey key, String payload) {
		return this.codec.decodeValues(key, opened(key, payload));
	}

	@Override
	public Message storable(Message reply) {
		return this.codec.storable(reply);
	}

	@Override
	public boolean surelyStores(Message message) {
		return this.codec.surelyStores(message);
	}

	private String sealed(SessionKey key, String payload) {
		byte[] nonce = new byte[NONCE];
		this.random.nextBytes(nonce);
		try {
			byte[] text = cipher(Cipher.ENCRYPT_MODE, key, nonce).doFinal(payload.getBytes(StandardCharsets.UTF_8));
			return Base64.getEncoder()
				.encodeToString(ByteBuffer.allocate(NONCE + text.length).put(nonce).put(text).array());
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("This platform does not encrypt with AES-GCM.", ex);
		}
	}

	private String opened(SessionKey key, String payload) {
		try {
			byte[] sealed = Base64.getDecoder().decode(payload);
			if (sealed.length < NONCE + TAG_BITS / 8) {
				throw new IllegalArgumentException("too short");
			}
			Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, Arrays.copyOf(sealed, NONCE));
			return new String(cipher.doFinal(sealed, NONCE, sealed.length - NONCE), StandardCharsets.UTF_8);
		}
		catch (GeneralSecurityException | IllegalArgumentException ex) {
			throw new UnreadablePayloadException("A payload of session " + key + " is not sealed for it.", null);
		}
	}

	private Cipher cipher(int mode, SessionKey key, byte[] nonce) throws GeneralSecurityException {
		Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
		cipher.init(mode, this.secret, new GCMParameterSpec(TAG_BITS, nonce));
		cipher.updateAAD((key.owner() + "\n" + key.id()).getBytes(StandardCharsets.UTF_8));
		return cipher;
	}

}
