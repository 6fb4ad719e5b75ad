package io.sessionkit.extension;

import javax.crypto.spec.SecretKeySpec;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.MessageCodecContract;

/**
 * A codec around a codec passes the contract.
 */
class SealedCodecTests extends MessageCodecContract {

	private final MessageCodec codec = new SealedCodec(JsonMessageCodec.create(),
			new SecretKeySpec(new byte[16], "AES"));

	@Override
	protected MessageCodec codec() {
		return this.codec;
	}

}
