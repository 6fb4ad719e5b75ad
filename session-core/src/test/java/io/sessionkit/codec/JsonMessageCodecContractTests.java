package io.sessionkit.codec;

/**
 * The codec that ships, as anybody's.
 */
class JsonMessageCodecContractTests extends MessageCodecContract {

	@Override
	protected MessageCodec codec() {
		return JsonMessageCodec.create();
	}

}
