package io.sessionkit.store;

/**
 * Passes on to another store what it is asked, as one that counts or guards the calls. A
 * {@link SessionStore} around another one implements this, so that SessionKit knows both
 * for one store: a tool that calls a model on the session of its own turn is recognized
 * whichever of the two it uses. Without it, they count as two stores.
 * <p>
 * A layer passes on every method of {@link SessionStore}, those with a default too: a
 * default is right for a store that takes no part in transactions and has no index,
 * whatever the store beneath does. {@code StoreLayerContract} names what is missing.
 */
public interface StoreLayer {

	/**
	 * Returns the store that is asked.
	 * @return the store, which may be a layer too; always the same one
	 */
	SessionStore layered();

	/**
	 * Returns the store beneath all layers.
	 * @param store a store or a layer
	 * @return the store itself if it is no layer
	 */
	static SessionStore beneath(SessionStore store) {
		return (store instanceof StoreLayer layer) ? beneath(layer.layered()) : store;
	}

}
