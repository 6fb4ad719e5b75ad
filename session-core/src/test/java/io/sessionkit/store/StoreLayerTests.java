package io.sessionkit.store;

/**
 * A layer that overrides nothing passes on every method.
 */
class StoreLayerTests extends StoreLayerContract {

	@Override
	protected SessionStore layer(SessionStore store) {
		return (StoreLayer) () -> store;
	}

}
